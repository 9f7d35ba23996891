-- The call that started each agent, by the best evidence there is, and the turn of that call.
-- grain: one agent of a session
with recursive

first_prompts as (
    select
        lines.session_id,
        lines.agent_id,
        blocks.preview as words,
        lines.occurred_at as prompted_at
    from lines
    join blocks using (entry_no)
    where (lines.is_agent_file or lines.is_inline_agent)
        and lines.type = 'user' and blocks.block_type = 'text'
    qualify row_number() over (
        partition by lines.session_id, lines.agent_id order by lines.entry_no, blocks.block_index
    ) = 1
),

ranked_prompts as (
    select
        session_id,
        agent_id,
        words,
        count(*) over (partition by session_id, words) as same_words,
        row_number() over (
            partition by session_id, words order by prompted_at nulls last, agent_id
        ) as rank
    from first_prompts
),

agent_calls as (
    select
        callers.session_id,
        calls.target as words,
        calls.tool_use_id,
        min((callers.occurred_at, calls.tool_use_id)) as called
    from blocks as calls
    join lines as callers on calls.entry_no = callers.entry_no
    where calls.tool_name in ('Task', 'Agent') and calls.tool_use_id is not null
    group by callers.session_id, calls.target, calls.tool_use_id
),

ranked_calls as (
    select
        session_id,
        words,
        tool_use_id,
        count(*) over (partition by session_id, words) as same_words,
        row_number() over (partition by session_id, words order by called) as rank
    from agent_calls
),

claims as (
    select session_id, agent_id, tool_use_id, 'meta' as link_rule, 1 as rank
    from sidecars
    where tool_use_id is not null

    union all

    select lines.session_id, lines.spawned_agent_id, blocks.tool_use_id, 'result', 2
    from lines
    join blocks using (entry_no)
    where lines.type = 'user' and lines.spawned_agent_id is not null
        and blocks.block_type = 'tool_result' and blocks.tool_use_id is not null

    union all

    -- All agents of a workflow lie in a folder of its run, which the call's result names.
    select distinct agents.session_id, agents.agent_id, blocks.tool_use_id, 'result', 2
    from lines as agents
    join lines as results
        on agents.session_id = results.session_id
        and agents.workflow_run_id = results.spawned_run_id
    join blocks on results.entry_no = blocks.entry_no
    where agents.is_agent_file
        and blocks.block_type = 'tool_result' and blocks.tool_use_id is not null

    union all

    select
        session_id,
        spawned_agent_id,
        linked_tool_use_id,
        case when type = 'progress' then 'progress' else 'notification' end,
        case when type = 'progress' then 4 else 3 end
    from lines
    where spawned_agent_id is not null and linked_tool_use_id is not null

    union all

    -- Where nothing names the agent, a call with its very prompt does: the only one, or, where as
    -- many agents as calls have the same prompt, the one in the same place of their order.
    select prompts.session_id, prompts.agent_id, calls.tool_use_id, 'prompt', 5
    from ranked_prompts as prompts
    join ranked_calls as calls
        on prompts.session_id = calls.session_id and prompts.words = calls.words
    where calls.same_words = 1
        or (calls.same_words = prompts.same_words and calls.rank = prompts.rank)
),

best as (
    select session_id, agent_id, tool_use_id, link_rule
    from claims
    qualify row_number() over (
        partition by session_id, agent_id order by rank, tool_use_id
    ) = 1
),

calls as (
    select
        lines.session_id,
        blocks.tool_use_id,
        lines.agent_id as caller_agent_id,
        blocks.agent_type,
        blocks.description,
        own_turns.turn_id
    from blocks
    join lines using (entry_no)
    left join own_turns using (entry_no)
    where ends_with(blocks.block_type, 'tool_use')
        and blocks.tool_use_id in (select tool_use_id from best)
    qualify row_number() over (
        partition by lines.session_id, blocks.tool_use_id
        order by
            lines.is_agent_file,
            own_turns.turn_id is null,
            lines.occurred_at nulls last,
            lines.line_no,
            lines.agent_id
    ) = 1
),

linked as (
    select
        best.session_id,
        best.agent_id,
        best.tool_use_id,
        best.link_rule,
        calls.caller_agent_id,
        calls.agent_type,
        calls.description,
        calls.turn_id
    from best
    left join calls using (session_id, tool_use_id)
),

-- A nested agent belongs to the turn of the agent that started it.
climbed as (
    select session_id, agent_id, caller_agent_id, turn_id, 0 as depth from linked

    union all

    select
        climbed.session_id,
        climbed.agent_id,
        linked.caller_agent_id,
        linked.turn_id,
        climbed.depth + 1
    from climbed
    join linked
        on climbed.session_id = linked.session_id
        and climbed.caller_agent_id = linked.agent_id
    where climbed.turn_id is null and climbed.depth < 16
)

select
    linked.session_id,
    linked.agent_id,
    linked.tool_use_id,
    linked.link_rule,
    linked.caller_agent_id as parent_agent_id,
    linked.agent_type,
    linked.description,
    max(climbed.turn_id) as turn_id
from linked
left join climbed using (session_id, agent_id)
group by all
