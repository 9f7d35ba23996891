-- Subagents, once over all files: the fullest transcript of each.
-- grain: one subagent transcript
select *
from raw.agents
qualify row_number() over (
    partition by session_id, agent_id
    order by line_count desc, generation desc, started_at, file_id
) = 1
