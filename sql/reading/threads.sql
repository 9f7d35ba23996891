-- The threads of a session: its main files as they were last read, and every agent's transcript.
-- A fork is read as one conversation, with what it copied, so nothing here is taken out for being
-- another session's. Of agents that its calls started, the transcript may lie with the original.
-- grain: one file of a thread
-- thread_no        0 for the main thread, then the agents as they began
-- agent_id         the agent; null for the main thread
-- session_id       session whose file it is
-- file_id          the file
-- generation       the generation that is read
-- file_no          order of the files of a thread
-- tool_use_id      the call that started the agent; null if none is known
-- parent_agent_id  the agent that made that call
-- agent_type       type of agent
-- description      what it was asked for, in short
-- model            model of its first response
-- ending           how it ended
-- is_warmup        it was made to warm the cache
-- started_at       its first instant
-- duration_ms      from its first to its last line
-- tool_call_count  calls it made
with recursive

mains as (
    select files.session_id, files.file_id, files.generation, min(entries.occurred_at) as began_at
    from source_files as files
    join raw.entries as entries using (session_id, file_id, generation)
    where files.session_id = $session and files.kind = 'main'
    group by files.session_id, files.file_id, files.generation
),

reached as (
    select session_id, agent_id from agents where session_id = $session

    union

    select agents.session_id, agents.agent_id
    from agents
    join raw.tool_calls as calls using (tool_use_id)
    where calls.session_id = $session

    union

    select agents.session_id, agents.agent_id
    from reached
    join agents
        on reached.session_id = agents.session_id and reached.agent_id = agents.parent_agent_id
),

helpers as (
    select agents.*
    from agents
    semi join reached using (session_id, agent_id)
    qualify row_number() over (
        partition by agents.agent_id
        order by agents.session_id <> $session, agents.line_count desc, agents.session_id
    ) = 1
)

select
    0 as thread_no,
    null::varchar as agent_id,
    session_id,
    file_id,
    generation,
    row_number() over (order by began_at nulls last, file_id) as file_no,
    null::varchar as tool_use_id,
    null::varchar as parent_agent_id,
    null::varchar as agent_type,
    null::varchar as description,
    null::varchar as model,
    null::varchar as ending,
    false as is_warmup,
    began_at as started_at,
    null::bigint as duration_ms,
    null::bigint as tool_call_count
from mains

union all

select
    row_number() over (order by started_at nulls last, agent_id) as thread_no,
    agent_id,
    session_id,
    file_id,
    generation,
    1 as file_no,
    tool_use_id,
    parent_agent_id,
    agent_type,
    description,
    model,
    ending,
    is_warmup,
    started_at,
    duration_ms,
    tool_call_count
from helpers
order by thread_no, file_no
