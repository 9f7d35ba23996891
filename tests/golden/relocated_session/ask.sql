-- session: where it began, where it went, where it is
select project, cwd, cwds, relocated_to, git_branch, turns, responses, output_tokens from sessions;

-- spend: all of it where the session began, whatever folder the log lies in
select project, responses, output_tokens from daily_spend;

-- usage: the branch is that of the moment
select message_id, project, git_branch, turn_id from usage order by occurred_at;

-- entries: a move is no event of the talk
select line_no, type, cwd, prompt_kind from entries order by line_no;

-- drift: nothing unknown
select kind, name from format_drift;
