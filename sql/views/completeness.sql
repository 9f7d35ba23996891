-- What the numbers leave out, or cannot know: one line a reason and version, with how much it is.
-- grain: one reason in one version of Claude Code
-- reason         what is missing or uncertain
-- meaning        what that does to the numbers
-- version        version that wrote it; null where none is logged
-- things         how many responses, tokens, calls, agents, lines or files
-- of_things      of how many of that version
-- share          the one divided by the other; null where it is not known of how many
-- sessions       in how many sessions
-- output_tokens  output tokens counted for them, a lower bound where they are not final
with

-- What is no JSON has no version: it is that of the line before it.
rejected_lines as (
    select rejects.session_id, lines.version
    from rejects
    asof left join (
        select file_id, generation, line_no, version from raw.entries where version is not null
    ) as lines
        on rejects.file_id = lines.file_id
        and rejects.generation = lines.generation
        and rejects.line_no >= lines.line_no
),

-- Both are read several times below, and cost more than all the rest.
responses as materialized (
    select version, session_id, occurred_at, output_tokens, output_is_final, flags from usage
),

spent as materialized (
    select
        version,
        sum(
            input_tokens + output_tokens + cache_read_tokens
            + cache_write_5m_tokens + cache_write_1h_tokens
        ) as tokens,
        sum(unpriced_tokens)::bigint as unpriced_tokens,
        count(distinct session_id) filter (where unpriced_tokens > 0) as unpriced_sessions,
        sum(output_tokens) filter (where unpriced_tokens > 0) as unpriced_output_tokens
    from token_spend
    group by version
),

echoes as (
    select echoed_message_id, min(version) as version, min(session_id) as session_id
    from raw.entries
    where echoed_message_id is not null
        and echoed_message_id not in (
            select message_id from raw.usage where message_id is not null
        )
    group by echoed_message_id
),

response_totals as (select version, count(*) as responses from responses group by version),

line_totals as (select version, count(*) as lines from raw.entries group by version),

not_final as (
    select
        'output_not_final' as reason,
        'responses of which only a placeholder count was logged: output is a lower bound'
            as meaning,
        version,
        count(*) as things,
        count(distinct session_id) as sessions,
        sum(output_tokens) as output_tokens
    from responses
    where not output_is_final
    group by version
),

uncertain as (
    select
        flag as reason,
        case flag
            when 'impossible_count' then
                'responses with a count below 0, over a billion or no whole number: taken for none'
            when 'missing_count' then
                'responses without an input or output count: tokens and cost are a lower bound'
            when 'ttl_assumed_5m' then
                'responses that wrote to the cache and do not say for how long: priced as 5 minutes'
            when 'partial_iterations' then
                'responses whose inferences cannot be, or do not add up: priced by their own counts'
            when 'fallback_credit' then
                'responses for which a credit was redeemed: they cost less than is shown'
            else flag
        end as meaning,
        version,
        count(*) as things,
        count(distinct session_id) as sessions,
        sum(output_tokens) as output_tokens
    from (
        select unnest(string_split(flags, ', ')) as flag, * from responses where flags is not null
    )
    group by flag, version
),

only_echoed as (
    select
        'only_in_progress' as reason,
        'responses of agents whose own log is not there: in no number' as meaning,
        version,
        count(*) as things,
        count(distinct session_id) as sessions,
        null::hugeint as output_tokens
    from echoes
    group by version
),

timeless as (
    select
        'without_time' as reason,
        'responses without a readable instant: in totals, on no day' as meaning,
        version,
        count(*) as things,
        count(distinct session_id) as sessions,
        sum(output_tokens) as output_tokens
    from responses
    where occurred_at is null
    group by version
),

unpriced as (
    select
        'unpriced_tokens' as reason,
        'tokens of models, speeds or places that have no price: in no cost' as meaning,
        version,
        unpriced_tokens as things,
        unpriced_sessions as sessions,
        unpriced_output_tokens as output_tokens
    from spent
    where unpriced_tokens > 0
),

rejected as (
    select
        'rejected_line' as reason,
        'lines that are no JSON object: kept in rejects, in no number' as meaning,
        version,
        count(*) as things,
        count(distinct session_id) as sessions,
        null::hugeint as output_tokens
    from rejected_lines
    group by version
),

unanswered as (
    select
        'unanswered_call' as reason,
        'calls without an answer: interrupted, or still running' as meaning,
        null::varchar as version,
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
        null::varchar as version,
        count(*) as things,
        count(distinct session_id) as sessions,
        null::hugeint as output_tokens
    from work_agents
    where tool_use_id is null
),

waiting as (
    select
        'waiting_tail' as reason,
        'files whose last line has no end yet: it counts when it has' as meaning,
        null::varchar as version,
        count(*) as things,
        count(distinct session_id) as sessions,
        null::hugeint as output_tokens
    from source_files
    where octet_length(pending) > 0
),

reasons as (
    select *, 'response' as unit from not_final
    union all
    select *, 'response' from uncertain
    union all
    select *, 'echo' from only_echoed
    union all
    select *, 'response' from timeless
    union all
    select *, 'token' from unpriced
    union all
    select *, 'line' from rejected
    union all
    select *, 'other' from unanswered
    union all
    select *, 'other' from unlinked
    union all
    select *, 'other' from waiting
),

measured as (
    select
        reasons.*,
        case reasons.unit
            when 'response' then response_totals.responses
            -- What is known only by its echo is not among the responses, and so is added.
            when 'echo' then coalesce(response_totals.responses, 0) + reasons.things
            when 'token' then spent.tokens
            when 'line' then coalesce(line_totals.lines, 0) + reasons.things
        end::bigint as of_things
    from reasons
    left join response_totals on reasons.version is not distinct from response_totals.version
    left join spent on reasons.version is not distinct from spent.version
    left join line_totals on reasons.version is not distinct from line_totals.version
    where reasons.things > 0
)

select
    reason,
    meaning,
    version,
    things,
    of_things,
    round(things / of_things, 6) as share,
    sessions,
    try_cast(output_tokens as bigint) as output_tokens
from measured
