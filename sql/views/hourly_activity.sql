-- When the work is done: what was asked and used in each hour, in the time zone of the connection.
-- grain: one hour of a day in which something was asked or answered
-- day                    the day; null without a time
-- hour                   hour of the day, 0 to 23
-- weekday                day of the week, 1 for Monday to 7 for Sunday
-- turns                  turns that began in it
-- sessions               sessions that have responses in it
-- responses              API responses, each once, at the model that served it
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
with

asked as (
    select
        started_at::date as day,
        extract('hour' from started_at) as hour,
        count(*) as turns
    from turn_times
    group by all
),

used as (
    select
        day,
        extract('hour' from occurred_at) as hour,
        count(distinct session_id) as sessions,
        count(*) filter (where is_response) as responses,
        sum(columns('^(input|output|cache_.*)_tokens$'))::bigint,
        sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
        sum(unpriced_tokens)::bigint as unpriced_tokens
    from token_spend
    group by all
),

hours as (
    select day, hour from asked
    union
    select day, hour from used
)

select
    hours.day,
    hours.hour,
    isodow(hours.day) as weekday,
    coalesce(asked.turns, 0) as turns,
    coalesce(used.sessions, 0) as sessions,
    coalesce(used.responses, 0) as responses,
    coalesce(used.input_tokens, 0) as input_tokens,
    coalesce(used.output_tokens, 0) as output_tokens,
    coalesce(used.cache_read_tokens, 0) as cache_read_tokens,
    coalesce(used.cache_write_5m_tokens, 0) as cache_write_5m_tokens,
    coalesce(used.cache_write_1h_tokens, 0) as cache_write_1h_tokens,
    used.cost_usd,
    coalesce(used.unpriced_tokens, 0) as unpriced_tokens
from hours
left join asked
    on hours.day is not distinct from asked.day
    and hours.hour is not distinct from asked.hour
left join used
    on hours.day is not distinct from used.day
    and hours.hour is not distinct from used.hour
