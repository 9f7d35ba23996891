-- session: where it began, where it went, where it is
select project, cwd, cwds, relocated_to, git_branch, turns, responses, output_tokens from sessions;

-- spend: all of it where the session began, whatever folder the log lies in
select project, responses, output_tokens from daily_spend;

-- usage: the branch is that of the moment
select message_id, project, git_branch, turn_id from usage order by occurred_at;

-- files: two, of one session
select path, session_id, line_count from source_files order by path;

-- messages: each once
select key, role, turn_id from messages order by started_at;

-- entries: each once, state records too
select type, count(*) as entries from entries group by all order by all;

-- turns
select turn_id, prompt, api_calls, output_tokens from turns order by started_at;
