-- Tokens and cost per week, project and model, in the time zone of the connection.
-- grain: one week, project and model
-- week                   its Monday; null without a time
-- project                working directory in which the session began; null when never logged
-- model                  model that did it, as logged
-- responses              API responses, each once, at the model that served it
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
select
    date_trunc('week', day)::date as week,
    project,
    model,
    count(*) filter (where is_response) as responses,
    sum(columns('^(input|output|cache_.*)_tokens$'))::bigint,
    sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
    sum(unpriced_tokens)::bigint as unpriced_tokens
from token_spend
group by all
