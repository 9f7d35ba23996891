-- The turn of every entry: its own in the main thread, that of the starting call in an agent.
-- grain: one entry of a main or agent file
select
    lines.file_id,
    lines.generation,
    lines.line_no,
    lines.object_index,
    case when lines.is_agent_file then links.turn_id else lines.own_turn_id end as turn_id
from lines
left join agent_links as links
    on lines.is_agent_file
    and lines.session_id = links.session_id
    and lines.agent_id = links.agent_id
