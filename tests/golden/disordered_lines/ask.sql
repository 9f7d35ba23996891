-- messages: in the order of the lines, whatever times and parents say
select line_no, key, started_at, turn_id from messages order by line_no;

-- entries: parents and session as logged, the session as the file says
select uuid, parent_uuid, session_id, logged_session_id from entries order by line_no;

-- turns: none lasts less than nothing
select turn_id, api_calls, output_tokens, duration_ms >= 0 as is_forward from turns order by turn_id;

-- session: from the first instant to the last
select session_id, started_at, ended_at, turns, output_tokens from sessions;

-- drift: nothing unknown
select kind, name from format_drift;
