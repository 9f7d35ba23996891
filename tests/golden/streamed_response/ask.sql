-- usage: once a response; the largest output count is the true one, a placeholder is told as such
select message_id, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens, line_count, output_is_final, occurred_at
from usage order by line_no;

-- messages: the blocks of all lines together
select role, message_id, thinking_blocks, text_blocks, tool_use_blocks, text_preview, line_count, stop_reason, is_final, started_at, ended_at
from messages where role = 'assistant' order by line_no;

-- turns: two API calls, whatever the number of lines
select turn_id, api_calls, tool_calls, input_tokens, output_tokens, context_tokens from turns;
