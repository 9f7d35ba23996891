-- usage: a response's instant is that of its first line, also where only a later one has its counts
select message_id, occurred_at, input_tokens, output_tokens, turn_id from usage order by line_no;

-- messages and usage tell the same response by the same key
select messages.message_id, messages.line_count, usage.key is not null as has_usage from messages left join usage using (key) where messages.role = 'assistant' order by messages.line_no;

-- turns
select turn_id, api_calls, input_tokens, output_tokens from turns order by started_at;
