-- Tokens and cost by how Claude Code was started: in a terminal, an editor, by a program, in CI.
-- grain: one way of starting it
-- entrypoint             cli, sdk-cli (claude -p), sdk-ts, sdk-py, claude-vscode, …, as the response's
--   first line has it; null before versions that log it
-- sessions               sessions that have responses of their own
-- responses              API responses, each once, at the model that served it
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
select
    entrypoint,
    count(distinct session_id) as sessions,
    count(*) filter (where is_response) as responses,
    sum(columns('^(input|output|cache_.*)_tokens$'))::bigint,
    sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
    sum(unpriced_tokens)::bigint as unpriced_tokens
from token_spend
group by entrypoint
