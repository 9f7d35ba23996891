-- usage: once
select message_id, occurred_at, input_tokens, output_tokens, line_count, turn_id from usage order by line_no;

-- messages: no block twice
select message_id, text_blocks, tool_use_blocks, text_chars, text_preview, line_count, started_at, ended_at from messages where role = 'assistant' order by line_no;

-- calls: once, answered once
select tool_use_id, called_at, answered_at, duration_ms, result_chars from tool_calls;

-- turns
select turn_id, api_calls, tool_calls, output_tokens from turns;

-- spend
select responses, input_tokens, output_tokens from daily_spend;
