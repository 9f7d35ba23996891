-- session: the last of each kind is true
select title, title_source, reported_cost_usd, pr_url, worktree, continued_in, turns, responses, output_tokens, ended_at from sessions;

-- links and worktrees: each once, in the order in which they came up
select pr_links, worktrees from session_marks;

-- spend: what came before a link led to it, what came after the last to the last
select pr_url, sessions, responses, output_tokens from pr_spend order by pr_url;

-- entries: every line is kept, also one that was there before, byte for byte
select type, count(*) as entries, count(uuid) as with_uuid, count(prompt_kind) as prompts from entries group by type order by type;

-- messages and turns: two and two
select (select count(*) from messages) as messages, (select count(*) from turns) as turns, (select count(*) from usage) as responses;

-- turns: end with the last message, not with what is written after it
select turn_id, started_at, ended_at, duration_ms from turns order by started_at;

-- drift: nothing unknown
select kind, name from format_drift;
