-- Tokens and cost per agent, and of the main thread beside them.
-- grain: one agent of a session, or its main thread
-- session_id             the session
-- agent_id               the agent; null for the main thread
-- agent_type             type of agent; null for the main thread
-- description            what it was asked for, in short
-- is_warmup              made only to warm the cache
-- project                working directory in which the session began; null when never logged
-- responses              API responses, each once, at the model that served it
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
with

spend as (
    select
        session_id,
        agent_id,
        bool_or(is_warmup) as is_warmup,
        min(project) as project,
        count(*) filter (where is_response) as responses,
        sum(columns('^(input|output|cache_.*)_tokens$'))::bigint,
        sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
        sum(unpriced_tokens)::bigint as unpriced_tokens
    from token_spend
    group by session_id, agent_id
)

select
    spend.session_id,
    spend.agent_id,
    agents.agent_type,
    agents.description,
    spend.* exclude (session_id, agent_id)
from spend
left join agents
    on spend.session_id = agents.session_id
    and spend.agent_id = agents.agent_id
