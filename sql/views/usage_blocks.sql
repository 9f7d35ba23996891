-- Windows of five hours, as limits of subscriptions are counted: a window begins with the full hour
-- of the first response after the last one ended. Hours are those of UTC.
-- grain: one window, and one line for responses without a time
-- started_at             its first instant; null for responses without a time
-- ended_at               five hours later
-- last_at                its last response
-- is_active              it has not ended yet
-- sessions               sessions that have responses in it
-- responses              API responses, each once, at the model that served it
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
with recursive

hours as (
    select distinct time_bucket(interval 1 hour, occurred_at) as hour
    from usage
    where occurred_at is not null
),

windows as (
    select min(hour) as started_at from hours

    union all

    select (select min(hours.hour) from hours where hours.hour >= windows.started_at + interval 5 hours)
    from windows
    where windows.started_at is not null
),

placed as (
    select windows.started_at, pieces.*
    from token_spend as pieces
    asof left join (select started_at from windows where started_at is not null) as windows
        on pieces.occurred_at >= windows.started_at
)

select
    started_at,
    started_at + interval 5 hours as ended_at,
    max(occurred_at) as last_at,
    coalesce(now() < started_at + interval 5 hours, false) as is_active,
    count(distinct session_id) as sessions,
    count(*) filter (where is_response) as responses,
    sum(columns('^(input|output|cache_.*)_tokens$'))::bigint,
    sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
    sum(unpriced_tokens)::bigint as unpriced_tokens
from placed
group by started_at
