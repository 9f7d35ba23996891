-- Things that the views count more than once.
-- severity: error
-- grain: one key of one view
select 'usage' as view_name, key, count(*) as copies
from usage
group by key
having count(*) > 1

union all

select 'messages', role || ' ' || key, count(*)
from messages
group by role, key
having count(*) > 1

union all

select 'tool_calls', tool_use_id, count(*)
from tool_calls
group by tool_use_id
having count(*) > 1

union all

select 'agents', session_id || ' ' || agent_id, count(*)
from agents
group by session_id, agent_id
having count(*) > 1

union all

select 'compactions', key, count(*)
from compactions
group by key
having count(*) > 1

union all

select 'turns', turn_id, count(*)
from turns
group by turn_id
having count(*) > 1
