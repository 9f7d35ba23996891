-- prompts: what each line is, and by which rule
select uuid, prompt_kind, prompt_rule from entries order by line_no;

-- turns: those that a person or a program asked for
select turn_id, prompt_kind, prompt from turns order by started_at;

-- drift: nothing unknown
select kind, name from format_drift;
