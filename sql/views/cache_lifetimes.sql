-- Five minutes or an hour: what each lifetime of the cache cost to write, what the shorter one lost
-- and what the longer one kept.
-- grain: one day, project and model
-- day                     day in the reader's time zone; null without a time
-- project                 working directory in which the session began; null when never logged
-- model                   model that answered
-- write_5m_tokens         tokens written for five minutes
-- as_1h_extra_usd         what writing these for an hour would have cost more; null if nothing has a
--   price
-- expired_tokens          tokens that had to be sent again more than five minutes, and up to an hour,
--   after the request before: an hour would have kept them
-- expired_extra_usd       what that cost more than reading them
-- write_1h_tokens         tokens written for an hour
-- as_5m_saved_usd         what writing these for five minutes would have saved; null if nothing has a
--   price
-- kept_tokens             tokens read more than five minutes after the request before
-- kept_saved_usd          what writing these again for five minutes would have cost more than reading
--   them
-- unpriced_tokens         tokens, written or read late, that the dollars leave out
with

cached as (
    select
        spend.day,
        spend.project,
        spend.model,
        spend.cache_write_5m_tokens,
        spend.cache_write_1h_tokens,
        case
            when usage.since_last_ms > 300000
                then least(spend.cache_read_tokens, usage.last_context_tokens)
            else 0
        end as kept_tokens,
        (spend.price_share * 1000000)::hugeint as share_millionths,
        cards.cache_write_1h_pico_usd - cards.cache_write_5m_pico_usd as longer_pico_usd,
        cards.cache_write_5m_pico_usd - cards.cache_read_pico_usd as again_pico_usd
    from token_spend as spend
    join usage on spend.key = usage.key
    left join rate_cards as cards
        on spend.price_model = cards.model
        and spend.card_speed = cards.speed
        and spend.card_from = cards.valid_from
        and spend.card_prompt_min = cards.prompt_min
    where spend.is_response
),

sums as (
    select
        day,
        project,
        model,
        sum(cache_write_5m_tokens)::bigint as write_5m_tokens,
        sum(cache_write_1h_tokens)::bigint as write_1h_tokens,
        sum(kept_tokens)::bigint as kept_tokens,
        sum(cache_write_5m_tokens * longer_pico_usd * share_millionths // 1000000)
            ::decimal(26, 0) * 0.000000000001::decimal(12, 12) as as_1h_extra_usd,
        sum(cache_write_1h_tokens * longer_pico_usd * share_millionths // 1000000)
            ::decimal(26, 0) * 0.000000000001::decimal(12, 12) as as_5m_saved_usd,
        sum(kept_tokens * again_pico_usd * share_millionths // 1000000)
            ::decimal(26, 0) * 0.000000000001::decimal(12, 12) as kept_saved_usd,
        coalesce(
            sum(cache_write_5m_tokens + cache_write_1h_tokens + kept_tokens) filter (
                where longer_pico_usd is null or again_pico_usd is null
            ),
            0
        )::bigint as unpriced_tokens
    from cached
    group by day, project, model
),

expired as (
    select
        day,
        project,
        model,
        sum(missed_tokens)::bigint as tokens,
        sum(extra_usd)::decimal(38, 12) as extra_usd
    from cache_misses
    where cause = 'expired_5m'
    group by day, project, model
)

select
    sums.day,
    sums.project,
    sums.model,
    sums.write_5m_tokens,
    sums.as_1h_extra_usd,
    coalesce(expired.tokens, 0) as expired_tokens,
    case
        when expired.tokens is null
            then 0
        else expired.extra_usd
    end::decimal(38, 12) as expired_extra_usd,
    sums.write_1h_tokens,
    sums.as_5m_saved_usd,
    sums.kept_tokens,
    sums.kept_saved_usd,
    sums.unpriced_tokens
from sums
left join expired
    on sums.day is not distinct from expired.day
    and sums.project is not distinct from expired.project
    and sums.model is not distinct from expired.model
