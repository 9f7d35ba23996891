-- When and where each session began.
-- grain: one session
select
    session_id,
    min(occurred_at) as session_started_at,
    coalesce(
        arg_min(cwd, (generation, line_no, object_index))
            filter (where cwd is not null and not is_agent_file),
        arg_min(cwd, (occurred_at, agent_id, line_no)) filter (where cwd is not null)
    ) as project
from lines
group by session_id
