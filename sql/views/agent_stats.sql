-- Which agents do real work: how long, with how many calls, how they end and what they cost.
-- grain: one type of agent, without those that only warmed the cache
-- agent_type         type of agent; null where nothing tells it
-- agents             agents of this type
-- sessions           sessions that had one
-- finished           agents that came to an end
-- interrupted        agents that a person stopped
-- failed             agents that an API error ended
-- refused            agents whose last answer was a refusal
-- out_of_tokens      agents that were cut off
-- unfinished         agents whose log ends in the middle
-- median_ms          median time from first to last line
-- p95_ms             95 in 100 took no longer
-- total_ms           all of these times together
-- median_tool_calls  median number of calls
-- tool_calls         calls they made
-- responses          API responses that are their own
-- output_tokens      output tokens of these
-- cost_usd           list-price cost; null if nothing has a price
-- median_cost_usd    median cost of an agent
-- unpriced_tokens    tokens that cost_usd leaves out
with

spend as (
    select
        session_id,
        agent_id,
        count(*) filter (where is_response) as responses,
        sum(output_tokens) as output_tokens,
        sum(cost_pico_usd) as cost_pico_usd,
        sum(unpriced_tokens) as unpriced_tokens
    from token_spend
    where agent_id is not null
    group by session_id, agent_id
)

select
    agents.agent_type,
    count(*) as agents,
    count(distinct agents.session_id) as sessions,
    count(*) filter (where agents.ending = 'finished') as finished,
    count(*) filter (where agents.ending = 'interrupted') as interrupted,
    count(*) filter (where agents.ending = 'failed') as failed,
    count(*) filter (where agents.ending = 'refused') as refused,
    count(*) filter (where agents.ending = 'out_of_tokens') as out_of_tokens,
    count(*) filter (where agents.ending = 'unfinished') as unfinished,
    quantile_cont(agents.duration_ms, 0.5)::bigint as median_ms,
    quantile_disc(agents.duration_ms, 0.95)::bigint as p95_ms,
    sum(agents.duration_ms)::bigint as total_ms,
    quantile_cont(agents.tool_call_count, 0.5)::bigint as median_tool_calls,
    sum(agents.tool_call_count)::bigint as tool_calls,
    coalesce(sum(spend.responses), 0)::bigint as responses,
    coalesce(sum(spend.output_tokens), 0)::bigint as output_tokens,
    sum(spend.cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
    quantile_disc(spend.cost_pico_usd, 0.5)::decimal(26, 0) * 0.000000000001::decimal(12, 12)
        as median_cost_usd,
    coalesce(sum(spend.unpriced_tokens), 0)::bigint as unpriced_tokens
from work_agents as agents
left join spend
    on agents.session_id = spend.session_id
    and agents.agent_id = spend.agent_id
group by agents.agent_type
