-- What the cache saved and what filling it cost, at list price: a token read from the cache against
-- one sent as plain input, and a token written to it against the same.
-- grain: one day, project and model
-- day                    day in the reader's time zone; null without a time
-- project                working directory in which the session began; null when never logged
-- model                  model that did it, as logged
-- prompt_tokens          all input tokens: plain, read and written
-- cache_read_tokens      of these, read from the cache
-- cache_write_tokens     of these, written to the cache
-- read_share             share of the prompt that was read from the cache; null without a prompt
-- saved_usd              what reads saved; null if nothing has a price
-- write_extra_usd        what writes cost more than plain input
-- net_saved_usd          the difference: less than zero where the cache did not pay
-- unpriced_tokens        tokens that the dollars leave out
with

sums as (
    select
        day,
        project,
        model,
        sum(input_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)::bigint
            as prompt_tokens,
        sum(cache_read_tokens)::bigint as cache_read_tokens,
        sum(cache_write_5m_tokens + cache_write_1h_tokens)::bigint as cache_write_tokens,
        sum(cache_saved_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as saved_usd,
        sum(cache_extra_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12)
            as write_extra_usd,
        sum(unpriced_tokens)::bigint as unpriced_tokens
    from token_spend
    group by day, project, model
)

select
    day,
    project,
    model,
    prompt_tokens,
    cache_read_tokens,
    cache_write_tokens,
    round(cache_read_tokens / nullif(prompt_tokens, 0), 6) as read_share,
    saved_usd,
    write_extra_usd,
    (saved_usd - write_extra_usd)::decimal(38, 12) as net_saved_usd,
    unpriced_tokens
from sums
