-- Things that ended before they began, or took less than no time.
-- severity: error
-- grain: one duration of one thing
with

durations as (
    select 'turns' as view_name, turn_id as key, 'duration_ms' as what, duration_ms as took_ms
    from turns

    union all

    select 'turns', turn_id, 'first_answer_ms', first_answer_ms from turns

    union all

    select 'turns', turn_id, 'model_ms', model_ms from turns

    union all

    select 'turns', turn_id, 'tools_ms', tools_ms from turns

    union all

    select 'turns', turn_id, 'person_ms', person_ms from turns

    union all

    select 'turns', turn_id, 'idle_before_ms', idle_before_ms from turns

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
