-- calls: one failed, one never answered, answers in another order than the calls
select tool_use_id, tool_name, target, called_at, answered_at, duration_ms, is_error, error_preview, result_chars, result_meta
from tool_calls order by line_no;

-- turns: the first was interrupted
select turn_id, prompt_kind, api_calls, tool_calls, tool_errors, was_interrupted, duration_ms from turns order by started_at;

-- prompts: what each user line is
select uuid, prompt_kind, prompt_rule from entries where type = 'user' order by line_no;
