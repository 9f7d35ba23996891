-- turns: two prompts, the first with a logged duration
select turn_id, prompt_kind, prompt, started_at, ended_at, duration_ms, duration_source, api_calls, context_tokens, models
from turns order by started_at;

-- messages: a prompt of two text blocks is one message
select key, role, text_blocks, text_chars, text_preview, stop_reason, is_final, turn_id
from messages order by line_no;

-- usage: one row a response
select key, model, occurred_at, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens, output_is_final, turn_id
from usage order by line_no;

-- spend: by day, project and model; no price is known yet
select day, project, model, responses, input_tokens, output_tokens, cost_usd, unpriced_tokens
from daily_spend order by model;
