-- What the numbers leave out, or cannot know: one line a reason, with how much it is.
-- grain: one reason
-- reason         what is missing or uncertain
-- meaning        what that does to the numbers
-- things         how many responses, calls, agents, lines or files
-- sessions       in how many sessions
-- output_tokens  output tokens counted for them, a lower bound where they are not final
with

not_final as (
    select
        'output_not_final' as reason,
        'responses of which only a placeholder count was logged: output is a lower bound'
            as meaning,
        count(*) as things,
        count(distinct session_id) as sessions,
        sum(output_tokens) as output_tokens
    from usage
    where not output_is_final
),

only_echoed as (
    select
        'only_in_progress' as reason,
        'responses of agents whose own log is not there: in no number' as meaning,
        count(distinct echoed_message_id) as things,
        count(distinct session_id) as sessions,
        null::hugeint as output_tokens
    from raw.entries
    where echoed_message_id is not null
        and echoed_message_id not in (
            select message_id from raw.usage where message_id is not null
        )
),

timeless as (
    select
        'without_time' as reason,
        'responses without a readable instant: in totals, on no day' as meaning,
        count(*) as things,
        count(distinct session_id) as sessions,
        sum(output_tokens) as output_tokens
    from usage
    where occurred_at is null
),

unanswered as (
    select
        'unanswered_call' as reason,
        'calls without an answer: interrupted, or still running' as meaning,
        count(*) as things,
        count(distinct session_id) as sessions,
        null::hugeint as output_tokens
    from tool_calls
    where answered_at is null
),

unlinked as (
    select
        'unlinked_agent' as reason,
        'agents that did work for no call that is logged: in their session, in no turn' as meaning,
        count(*) as things,
        count(distinct session_id) as sessions,
        null::hugeint as output_tokens
    from work_agents
    where tool_use_id is null
),

rejected as (
    select
        'rejected_line' as reason,
        'lines that are no JSON object: kept in rejects, in no number' as meaning,
        count(*) as things,
        count(distinct session_id) as sessions,
        null::hugeint as output_tokens
    from rejects
),

waiting as (
    select
        'waiting_tail' as reason,
        'files whose last line has no end yet: it counts when it has' as meaning,
        count(*) as things,
        count(distinct session_id) as sessions,
        null::hugeint as output_tokens
    from source_files
    where octet_length(pending) > 0
),

reasons as (
    select * from not_final
    union all
    select * from only_echoed
    union all
    select * from timeless
    union all
    select * from unanswered
    union all
    select * from unlinked
    union all
    select * from rejected
    union all
    select * from waiting
)

select reason, meaning, things, sessions, try_cast(output_tokens as bigint) as output_tokens
from reasons
where things > 0
