-- kinds: all are kept, as often as they were written; none is a prompt
select type, count(*) as entries, count(prompt_kind) as prompts from entries where type not in ('user', 'assistant') group by type order by type;

-- messages: what was said, and nothing else
select key, role, agent_id from messages order by started_at;

-- turns: one
select turn_id, prompt, ended_at, compactions from turns;

-- session: what they tell
select title, title_source, pr_url, worktree, relocated_to, continued_in, reported_cost_usd, turns, responses, agents from sessions;

-- drift: nothing unknown
select kind, name from format_drift;
