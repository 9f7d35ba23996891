-- Tokens and cost per day, project and model. The day is that of a response's first line, in the
-- time zone of the connection.
-- grain: one day, project and model
-- day                    day of the response's first line, in the reader's time zone; null without a time
-- project                working directory in which the session began; null when never logged
-- model                  model that served the response, as logged
-- responses              API responses
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost; null while no price is known
-- unpriced_tokens        tokens that cost_usd leaves out
select
    occurred_at::date as day,
    project,
    model,
    count(*) as responses,
    try_cast(coalesce(sum(input_tokens), 0) as bigint) as input_tokens,
    try_cast(coalesce(sum(output_tokens), 0) as bigint) as output_tokens,
    try_cast(coalesce(sum(cache_read_tokens), 0) as bigint) as cache_read_tokens,
    try_cast(coalesce(sum(cache_write_5m_tokens), 0) as bigint) as cache_write_5m_tokens,
    try_cast(coalesce(sum(cache_write_1h_tokens), 0) as bigint) as cache_write_1h_tokens,
    null::decimal(38, 12) as cost_usd,
    try_cast(
        coalesce(sum(input_tokens), 0)
        + coalesce(sum(output_tokens), 0)
        + coalesce(sum(cache_read_tokens), 0)
        + coalesce(sum(cache_write_5m_tokens), 0)
        + coalesce(sum(cache_write_1h_tokens), 0)
        as bigint
    ) as unpriced_tokens
from usage
group by all
