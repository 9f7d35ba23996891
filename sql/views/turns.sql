-- Turns: from one prompt to the next, with all that happened in between, agents included.
-- grain: one human turn
-- turn_id              key of the prompt that began it
-- session_id           session it belongs to
-- prompt_kind          human, command, bash, queued or sdk
-- prompt               what was typed, without what an editor put in front, its first 10,000
--   characters; null for an image
-- started_at           instant of the prompt
-- ended_at             instant of the last message before the next prompt
-- duration_ms          logged duration where there is one, else from started_at to ended_at
-- duration_source      logged or measured
-- first_answer_ms      from the prompt to the first line of an answer; null without one
-- model_ms             time in the main thread that was spent waiting for the model
-- tools_ms             for results of tools and agents, permission to run them included
-- person_ms            for a person to answer Claude's questions or to look at its plans
-- idle_before_ms       from the end of the turn before in the log to this prompt; null for the first
-- api_calls            API responses, agents included
-- api_errors           requests of the main thread that failed and were made again, as logged
-- tool_calls           calls, agents included
-- tool_errors          calls that failed, denied and interrupted ones included
-- tool_denials         calls that a person or a rule did not let run
-- tool_retries         calls of the same tool right after one that failed
-- tools_unanswered     calls that have no answer
-- input_tokens         input tokens that missed the cache
-- output_tokens        output tokens, thinking included
-- cache_read_tokens    input tokens read from the cache
-- cache_write_tokens   tokens written to the cache
-- cache_read_share     share of all that was sent that was read from the cache; null if nothing was
-- thinking_share       share of the output that was thinking, of responses that tell; null if none does
-- cost_usd             list-price cost, agents included; null if nothing has a price
-- unpriced_tokens      tokens that cost_usd leaves out
-- context_start_tokens tokens sent with the main thread's first call; null without a call
-- context_tokens       tokens sent with the main thread's last call; null without a call
-- models               models that answered, in alphabetical order
-- agents               agents that its calls started
-- agents_cost_usd      what agents cost in it; null if nothing of theirs has a price
-- files_touched        different files that were edited or written, agents included
-- lines_added          lines that these edits brought, by their patches
-- lines_removed        lines that they took away
-- compactions          compactions inside the turn
-- was_interrupted      a person stopped it
-- is_warmup            of a session whose first prompt is Warmup: made to warm the cache
with

spend as (
    select
        turn_id,
        count(*) filter (where is_response) as api_calls,
        list_sort(list(distinct model) filter (where is_response and model is not null)) as models,
        sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens,
        sum(cache_read_tokens)::bigint as cache_read_tokens,
        sum(cache_write_5m_tokens + cache_write_1h_tokens)::bigint as cache_write_tokens,
        round(
            sum(thinking_tokens) / nullif(
                sum(output_tokens) filter (where thinking_tokens is not null), 0
            ),
            6
        ) as thinking_share,
        sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
        (sum(cost_pico_usd) filter (where agent_id is not null))::decimal(26, 0)
        * 0.000000000001::decimal(12, 12) as agents_cost_usd,
        sum(unpriced_tokens)::bigint as unpriced_tokens
    from token_spend
    where turn_id is not null
    group by turn_id
),

calls as (
    select
        turn_id,
        count(*) as tool_calls,
        count(*) filter (where is_error) as tool_errors,
        count(*) filter (where outcome = 'denied') as tool_denials,
        count(*) filter (where is_retry) as tool_retries,
        count(*) filter (where answered_at is null and is_error is null) as tools_unanswered,
        count(distinct target) filter (where lines_added is not null) as files_touched,
        sum(lines_added)::bigint as lines_added,
        sum(lines_removed)::bigint as lines_removed
    from tool_calls
    where turn_id is not null
    group by turn_id
),

helpers as (
    select turn_id, count(*) as agents from agents where turn_id is not null group by turn_id
),

folded as (
    select turn_id, count(*) as compactions
    from compactions
    where turn_id is not null
    group by turn_id
)

select
    times.turn_id,
    times.session_id,
    times.prompt_kind,
    times.prompt,
    times.started_at,
    times.ended_at,
    coalesce(
        times.logged_ms, date_diff('millisecond', times.started_at, times.ended_at)
    ) as duration_ms,
    case when times.logged_ms is not null then 'logged' else 'measured' end as duration_source,
    times.first_answer_ms,
    times.model_ms,
    times.tools_ms,
    times.person_ms,
    times.idle_before_ms,
    coalesce(spend.api_calls, 0) as api_calls,
    times.api_errors,
    coalesce(calls.tool_calls, 0) as tool_calls,
    coalesce(calls.tool_errors, 0) as tool_errors,
    coalesce(calls.tool_denials, 0) as tool_denials,
    coalesce(calls.tool_retries, 0) as tool_retries,
    coalesce(calls.tools_unanswered, 0) as tools_unanswered,
    coalesce(spend.input_tokens, 0) as input_tokens,
    coalesce(spend.output_tokens, 0) as output_tokens,
    coalesce(spend.cache_read_tokens, 0) as cache_read_tokens,
    coalesce(spend.cache_write_tokens, 0) as cache_write_tokens,
    round(
        spend.cache_read_tokens / nullif(
            spend.input_tokens + spend.cache_read_tokens + spend.cache_write_tokens, 0
        ),
        6
    ) as cache_read_share,
    spend.thinking_share,
    spend.cost_usd,
    coalesce(spend.unpriced_tokens, 0) as unpriced_tokens,
    times.context_start_tokens,
    times.context_tokens,
    coalesce(spend.models, []::varchar[]) as models,
    coalesce(helpers.agents, 0) as agents,
    spend.agents_cost_usd,
    coalesce(calls.files_touched, 0) as files_touched,
    coalesce(calls.lines_added, 0) as lines_added,
    coalesce(calls.lines_removed, 0) as lines_removed,
    coalesce(folded.compactions, 0) as compactions,
    times.was_interrupted,
    coalesce(marks.is_warmup, false) as is_warmup
from turn_times as times
left join session_marks as marks using (session_id)
left join spend using (turn_id)
left join calls using (turn_id)
left join helpers using (turn_id)
left join folded using (turn_id)
