-- entries: a value of another type is null in its column
select line_no, type, uuid, occurred_at, cwd, git_branch, is_meta, logged_session_id, stop_reason from entries order by line_no;

-- numbers
select input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, service_tier from entries where uuid = 'a1';

-- payload: and stays here as it was
select line_no, payload from entries order by line_no;

-- blocks
select line_no, block_index, form, block_type, text, tool_use_id, tool_name, input, payload from content_blocks order by line_no, block_index;

-- usage: what was readable counts
select message_id, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, output_is_final from usage;
