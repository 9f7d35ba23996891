-- prompts: what each line is, and by which rule
select uuid, prompt_kind, prompt_rule from entries order by line_no;

-- turns: human, command, bash, queued and sdk begin one
select turn_id, prompt_kind, prompt from turns order by started_at;
