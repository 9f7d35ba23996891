-- The turn of every entry: its own in the main thread, that of the starting call in an agent.
-- grain: one entry of a main or agent file
select entry_no, turn_id from own_turns

union all

select lines.entry_no, links.turn_id
from lines
left join agent_links as links
    on lines.session_id = links.session_id
    and lines.agent_id = links.agent_id
where lines.is_agent_file
