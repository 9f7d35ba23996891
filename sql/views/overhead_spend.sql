-- The work, and what was spent beside it: warm-ups, asides, suggestions, compactions, and what stands
-- in Claude Code's own books alone, such as titles.
-- grain: one day, project and kind
-- day                    day in the reader's time zone; of not_logged that of the session's last
--   response; null without a time
-- project                working directory in which the session began; null when never logged
-- kind                   main (thread), agents (that did work), warmup, aside, suggestion, compaction, or
--   not_logged: booked by Claude Code for calls that no log has, titles and classifiers among them
-- is_overhead            beside the work: all but main and agents
-- is_logged              it is in the logs, and so in every other view of spend; false for not_logged
-- responses              API responses, each once, at the model that served it
-- input_tokens           input tokens that missed the cache; of not_logged these counts are null
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
with

kinds as (
    select
        *,
        case
            when piece = 'compaction' or starts_with(agent_id, 'acompact-') then 'compaction'
            when is_warmup then 'warmup'
            when starts_with(agent_id, 'aside_question-') then 'aside'
            when starts_with(agent_id, 'aprompt_suggestion-') then 'suggestion'
            when agent_id is not null then 'agents'
            else 'main'
        end as kind
    from token_spend
),

logged as (
    select
        day,
        project,
        kind,
        count(*) filter (where is_response) as responses,
        sum(columns('^(input|output|cache_.*)_tokens$'))::bigint,
        sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
        sum(unpriced_tokens)::bigint as unpriced_tokens
    from kinds
    group by day, project, kind
),

booked as (
    select
        spend.last_day as day,
        spend.project,
        sum(books.difference_usd)::decimal(38, 12) as cost_usd
    from reconciliation as books
    join session_spend as spend using (session_id)
    where books.explanation = 'not_logged' and books.difference_usd > 0
    group by all
)

select
    day,
    project,
    kind,
    kind not in ('main', 'agents') as is_overhead,
    true as is_logged,
    * exclude (day, project, kind)
from logged

union all by name

select
    day,
    project,
    'not_logged' as kind,
    true as is_overhead,
    false as is_logged,
    0::bigint as responses,
    cost_usd,
    0::bigint as unpriced_tokens
from booked
