-- usage: the copied response counts once; both sessions begin at the same instant, so session_id tells the owner
select message_id, session_id, project, git_branch, output_tokens, turn_id from usage order by occurred_at;

-- calls: called in the first session, answered in the second
select tool_use_id, session_id, called_at, answered_at, duration_ms, result_chars, turn_id from tool_calls;

-- turns: the first goes on in the second file
select turn_id, session_id, started_at, ended_at, api_calls, tool_calls, output_tokens from turns order by started_at;

-- entries: each line once; the snapshot without uuid counts for each session
select session_id, type, uuid, logged_session_id from entries order by session_id, line_no;

-- physical rows
select session_id, count(*) as lines from raw.entries group by all order by all;
