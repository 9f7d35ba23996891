-- What a cold cache cost: requests that sent again what the request before them in the thread had
-- sent, as the cache no longer had it. Compactions, which leave nothing to read, are not among them,
-- nor are requests that used no cache at all; under 1,024 tokens nothing is cached.
-- grain: one API response whose request missed the cache
-- key              key of the response
-- session_id       session that owns it
-- agent_id         the subagent that asked; null in the main thread
-- is_warmup        of an agent that was made to warm the cache
-- turn_id          key of the prompt that began the turn
-- occurred_at      instant of its first line
-- day              its day in the reader's time zone; null without a time
-- project          working directory in which the session began; null when never logged
-- model            model that answered
-- cause            other_model (a cache is of one model), expired_1h or expired_5m (more than that since
--   the request before), or changed: something further up in the prompt, or the cache let go
-- since_last_ms    time since the first line of the response before it; null if the clock stepped back
-- context_tokens   tokens sent
-- missed_tokens    of these, sent before and not read from the cache
-- extra_usd        what sending them again cost more than reading them; null without a price
with

sent as (
    select
        *,
        coalesce(input_tokens, 0)
        + coalesce(cache_read_tokens, 0)
        + cache_write_5m_tokens
        + cache_write_1h_tokens as context_tokens,
        least(last_context_tokens, context_tokens) - coalesce(cache_read_tokens, 0)
            as missed_tokens
    from usage
    where last_context_tokens is not null
        and coalesce(cache_read_tokens, 0) + cache_write_5m_tokens + cache_write_1h_tokens > 0
),

missed as (
    select sent.*
    from sent
    anti join compaction_stats as compacted on sent.key = compacted.next_key
    where sent.missed_tokens >= 1024
),

-- Sent again, it was written for an hour, for five minutes, or not at all.
divided as (
    select
        *,
        least(missed_tokens, cache_write_1h_tokens) as again_1h_tokens,
        least(missed_tokens - again_1h_tokens, cache_write_5m_tokens) as again_5m_tokens,
        missed_tokens - again_1h_tokens - again_5m_tokens as again_plain_tokens
    from missed
)

select
    divided.key,
    divided.session_id,
    divided.agent_id,
    divided.is_warmup,
    divided.turn_id,
    divided.occurred_at,
    divided.occurred_at::date as day,
    divided.project,
    divided.model,
    case
        when divided.last_model <> divided.model then 'other_model'
        when divided.since_last_ms > 3600000 then 'expired_1h'
        when divided.since_last_ms > 300000 then 'expired_5m'
        else 'changed'
    end as cause,
    divided.since_last_ms,
    divided.context_tokens,
    divided.missed_tokens,
    (
        (
            divided.again_1h_tokens * (cards.cache_write_1h_pico_usd - cards.cache_read_pico_usd)
            + divided.again_5m_tokens * (cards.cache_write_5m_pico_usd - cards.cache_read_pico_usd)
            + divided.again_plain_tokens * (cards.input_pico_usd - cards.cache_read_pico_usd)
        )::hugeint * (spend.price_share * 1000000)::hugeint // 1000000
    )::decimal(26, 0) * 0.000000000001::decimal(12, 12) as extra_usd
from divided
left join token_spend as spend
    on divided.key = spend.key
    and spend.is_response
left join rate_cards as cards
    on spend.price_model = cards.model
    and spend.card_speed = cards.speed
    and spend.card_from = cards.valid_from
    and spend.card_prompt_min = cards.prompt_min
