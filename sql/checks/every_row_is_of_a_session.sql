-- Messages, responses, calls, agents, compactions and turns whose session is not among the sessions.
-- severity: error
-- grain: one such row
with

placed as (
    select 'messages' as view_name, key, session_id from messages

    union all

    select 'usage', key, session_id from usage

    union all

    select 'tool_calls', tool_use_id, session_id from tool_calls

    union all

    select 'agents', agent_id, session_id from agents

    union all

    select 'compactions', key, session_id from compactions

    union all

    select 'turns', turn_id, session_id from turns
)

select placed.*
from placed
anti join sessions on placed.session_id = sessions.session_id
