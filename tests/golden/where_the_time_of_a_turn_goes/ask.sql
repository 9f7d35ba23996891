-- the first answer came after 4 s; it thought 4 + 3 + 9 + 2 + 3 + 2 + 3 s, tools took 6 + 1 + 6 + 1 + 1 + 1 s, the question 60 s
select turn_id, duration_ms, duration_source, first_answer_ms, model_ms, tools_ms, person_ms, idle_before_ms from turns order by turn_id;

-- calls by outcome; the second Bash tries again what failed; the question counts as an answered call
select turn_id, tool_calls, tool_errors, tool_denials, tool_retries, tools_unanswered, api_errors, was_interrupted from turns order by turn_id;

-- what was changed, and what was sent
select turn_id, files_touched, lines_added, lines_removed, context_start_tokens, context_tokens, cache_read_share from turns order by turn_id;

-- each call
select tool_use_id, tool_name, mcp_server, duration_ms, outcome, is_retry, lines_added, lines_removed, version from tool_calls order by line_no, tool_use_id;

-- each response beside the one before it
select message_id, last_context_tokens, since_last_ms, entrypoint from usage order by line_no;
