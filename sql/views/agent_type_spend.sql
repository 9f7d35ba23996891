-- Tokens and cost of the main threads and of each type of agent, warm-ups apart.
-- grain: one type of agent, the main threads, or the warm-ups
-- thread                 main, agent, or warmup (made only to warm the cache)
-- agent_type             type of agent; null for main threads, and where nothing tells it
-- agents                 different agents that have responses; 0 for main threads
-- responses              API responses, each once, at the model that served it
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
select
    case
        when spend.agent_id is null then 'main'
        when spend.is_warmup then 'warmup'
        else 'agent'
    end as thread,
    agents.agent_type,
    count(distinct (spend.session_id, spend.agent_id)) filter (
        where spend.agent_id is not null
    ) as agents,
    count(*) filter (where spend.is_response) as responses,
    sum(columns('^(input|output|cache_.*)_tokens$'))::bigint,
    sum(spend.cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
    sum(spend.unpriced_tokens)::bigint as unpriced_tokens
from token_spend as spend
left join agents
    on spend.session_id = agents.session_id
    and spend.agent_id = agents.agent_id
group by all
