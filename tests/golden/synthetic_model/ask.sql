-- usage: nothing synthetic; a response without request id is keyed by its first instant
select key, model, input_tokens, output_tokens, line_count from usage order by line_no;

-- messages: they are all here
select key, role, model, text_preview, line_count, turn_id from messages order by line_no;

-- turns
select turn_id, api_calls, models, output_tokens from turns order by started_at;
