-- turns: a prompt typed while the program worked begins one, a notification does not
select turn_id, prompt_kind, prompt, started_at, api_calls, tool_calls, output_tokens from turns order by started_at;

-- prompts: by which rule
select uuid, type, prompt_kind, prompt_rule from entries where type in ('user', 'attachment') order by line_no;
