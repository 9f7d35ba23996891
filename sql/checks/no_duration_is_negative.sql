-- Things that ended before they began, or took less than no time.
-- severity: error
-- grain: one duration of one thing
with

of_turns as (
    unpivot (
        select
            'turns' as view_name,
            turn_id as key,
            duration_ms,
            first_answer_ms,
            model_ms,
            tools_ms,
            person_ms,
            idle_before_ms
        from turns
    )
    on columns('_ms$')
    into name what value took_ms
),

durations as (
    select view_name, key, what, took_ms from of_turns

    union all

    select 'tool_calls', tool_use_id, 'duration_ms', duration_ms from tool_calls

    union all

    select 'agents', session_id || ' ' || agent_id, 'duration_ms', duration_ms from agents

    union all

    select 'compactions', key, 'duration_ms', duration_ms from compactions

    union all

    select 'usage', key, 'since_last_ms', since_last_ms from usage

    union all

    select 'sessions', session_id, 'ended_at', date_diff('millisecond', started_at, ended_at)
    from sessions
)

select * from durations where took_ms < 0
