-- entries: each with its name; one of them was typed
select uuid, attachment_type, prompt_kind from entries where type = 'attachment' order by line_no;

-- turns
select turn_id, prompt_kind, prompt, api_calls, output_tokens from turns order by started_at;

-- messages: of them, only what a person typed is one
select key, role from messages order by line_no;

-- drift: nothing unknown
select kind, name from format_drift;
