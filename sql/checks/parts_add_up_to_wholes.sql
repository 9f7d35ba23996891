-- Wholes that are not the sum of what they are made of.
-- severity: error
-- grain: one whole
with

of_sessions as (
    select
        sum(responses)::bigint as responses,
        sum(turns)::bigint as turns,
        sum(agents)::bigint as agents,
        sum(output_tokens)::bigint as output_tokens
    from sessions
),

of_turns as (
    select
        count(*) as turns,
        sum(api_calls)::bigint as responses,
        sum(tool_calls)::bigint as calls,
        sum(tool_errors)::bigint as errors,
        sum(output_tokens)::bigint as output_tokens,
        sum(agents)::bigint as agents,
        sum(compactions)::bigint as compactions
    from turns
),

-- What came before the first prompt of its log, and what an unlinked agent did, has no turn.
spent as (
    select
        count(*) filter (where is_response) as responses,
        count(*) filter (where is_response and turn_id is not null) as in_turns,
        sum(output_tokens)::bigint as output_tokens,
        (sum(output_tokens) filter (where turn_id is not null))::bigint as output_in_turns
    from token_spend
),

called as (
    select
        count(*) as calls,
        count(*) filter (where turn_id is not null) as in_turns,
        count(*) filter (where is_error and turn_id is not null) as errors_in_turns
    from tool_calls
),

of_tools as (
    select
        sum(calls)::bigint as calls,
        sum(ok + failed + denied + interrupted + unanswered)::bigint as outcomes
    from tool_stats
),

of_versions as (select sum(calls)::bigint as calls from tool_version_stats),

worked as (
    select count(*) as agents, count(*) filter (where turn_id is not null) as in_turns
    from agents
),

of_types as (select sum(agents)::bigint as agents from agent_stats),

workers as (select count(*) as agents from work_agents),

folded as (
    select count(*) as compactions, count(*) filter (where turn_id is not null) as in_turns
    from compactions
),

of_boundaries as (select count(*) as compactions from compaction_stats),

of_requests as (select count(*) as responses from context_growth),

compared as (
    select
        'responses of sessions' as what, spent.responses as whole, of_sessions.responses as parts
    from spent, of_sessions

    union all

    select 'output tokens of sessions', spent.output_tokens, of_sessions.output_tokens
    from spent, of_sessions

    union all

    select 'turns of sessions', of_turns.turns, of_sessions.turns from of_turns, of_sessions

    union all

    select 'agents of sessions', workers.agents, of_sessions.agents from workers, of_sessions

    union all

    select 'responses of turns', spent.in_turns, of_turns.responses from spent, of_turns

    union all

    select 'output tokens of turns', spent.output_in_turns, of_turns.output_tokens
    from spent, of_turns

    union all

    select 'calls of turns', called.in_turns, of_turns.calls from called, of_turns

    union all

    select 'errors of turns', called.errors_in_turns, of_turns.errors from called, of_turns

    union all

    select 'agents of turns', worked.in_turns, of_turns.agents from worked, of_turns

    union all

    select 'compactions of turns', folded.in_turns, of_turns.compactions from folded, of_turns

    union all

    select 'calls of tools', called.calls, of_tools.calls from called, of_tools

    union all

    select 'outcomes of tools', called.calls, of_tools.outcomes from called, of_tools

    union all

    select 'calls of versions', called.calls, of_versions.calls from called, of_versions

    union all

    select 'agents of types', workers.agents, of_types.agents from workers, of_types

    union all

    select 'compactions, one by one', folded.compactions, of_boundaries.compactions
    from folded, of_boundaries

    union all

    select 'requests along sessions', spent.responses, of_requests.responses
    from spent, of_requests
)

select * from compared where coalesce(whole, 0) <> coalesce(parts, 0)
