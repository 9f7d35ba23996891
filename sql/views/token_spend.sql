-- What was billed, piece by piece, at list price: a response is one piece, or several where it took
-- advice, was compacted or fell back to another model.
-- grain: one billed piece of a response
-- key                    key of the response
-- message_id             response id given by the API
-- request_id             request id given by the API
-- piece_no               its place among the response's pieces, from 0
-- piece                  message, advisor, compaction, fallback, or what a newer kind is called
-- is_response            true on one piece of every response: the one that served it
-- model                  model that did it, as logged
-- price_model            the price book's name for it; null if it has none
-- occurred_at            instant of the response's first line
-- day                    its day in the reader's time zone; null without a time
-- project                working directory in which the session began
-- git_branch             git branch at the first line
-- session_id             session that owns the response
-- agent_id               the subagent that asked; null in the main thread
-- is_warmup              of an agent that was made to warm the cache
-- turn_id                key of the prompt that began the turn
-- version                version of Claude Code that wrote it
-- entrypoint             how Claude Code was started, as logged; null before versions that log it
-- source                 the machine whose logs it was read from
-- speed                  fast or standard, by what was logged or what the model's name says
-- service_tier           service tier, as logged
-- inference_geo          where inference ran, as logged
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- thinking_tokens        of these, thinking; null where it is not told, and on all but a response's
--   own piece
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- web_search_requests    web searches, those of Claude Code's own tool too
-- card_speed             speed of the card that prices it, as in rate_cards; null if none does
-- card_from              first day of that card
-- card_prompt_min        smallest prompt of that card
-- price_share            share of the card's token prices: batch, inference in the US, regional endpoint
-- cost_pico_usd          list-price cost in millionths of a millionth of a dollar; null if unpriced
-- cost_usd               list-price cost in dollars; null if unpriced
-- cache_saved_pico_usd   what reading from the cache saved against plain input; null if unpriced
-- cache_extra_pico_usd   what writing to the cache cost more than plain input; null if unpriced
-- cost_status            priced, not_billable, or why there is no price: unpriced_model,
--   unpriced_variant (speed, tier or place), unpriced_component
-- unpriced_tokens        its tokens, if it has no price
-- flags                  what is uncertain, as in usage, and priority_tier, without_time
with

-- Every name that is logged, with all that it can cost: one row fits a request, or none.
rates as (
    select
        names.name,
        speeds.speed,
        tiers.tier,
        places.place,
        cards.speed as card_speed,
        cards.valid_from,
        cards.prompt_min,
        cards.prompt_max,
        cards.valid_from::timestamp at time zone 'UTC' as begins_at,
        cards.valid_to::timestamp at time zone 'UTC' as ends_at,
        cards.input_pico_usd,
        cards.output_pico_usd,
        cards.cache_read_pico_usd,
        cards.cache_write_5m_pico_usd,
        cards.cache_write_1h_pico_usd,
        cards.web_search_pico_usd,
        case when tiers.tier = 'batch' then cards.batch_hundredths else 100 end
        * case when places.place = 'us' then cards.us_hundredths else 100 end
        * case
            when names.is_regional
                then cards.regional_hundredths
            else 100
        end as share_millionths
    from model_names as names
    join rate_cards as cards on names.model = cards.model
    join (values ('standard'), ('fast')) as speeds (speed)
        on cards.speed = coalesce(names.speed, speeds.speed)
    cross join (values ('standard'), ('batch')) as tiers (tier)
    cross join (values ('global'), ('us')) as places (place)
    where share_millionths is not null
),

responses as (
    select
        *,
        greatest(
            coalesce(web_search_requests, 0), coalesce(tool_search_requests, 0)
        ) as searches,
        coalesce(occurred_at, session_started_at, timestamptz '9999-01-01 00:00:00+00') as priced_at
    from usage
),

several as (
    select
        responses.*,
        unnest(
            from_json(
                pieces,
                '[{"piece": "VARCHAR", "model": "VARCHAR", "input_tokens": "BIGINT",
                "output_tokens": "BIGINT", "cache_read_tokens": "BIGINT",
                "cache_write_5m_tokens": "BIGINT", "cache_write_1h_tokens": "BIGINT",
                "is_response": "BOOLEAN", "is_charged": "BOOLEAN"}]'
            )
        ) as item,
        generate_subscripts(from_json(pieces, '["JSON"]'), 1) - 1 as piece_no
    from responses
    where pieces is not null
),

pieces as (
    select
        * exclude (pieces),
        0::bigint as piece_no,
        'message' as piece,
        true as is_response,
        true as is_charged
    from responses
    where pieces is null

    union all by name

    select
        * exclude (pieces, item)
        replace (
            item.model as model,
            item.input_tokens as input_tokens,
            item.output_tokens as output_tokens,
            item.cache_read_tokens as cache_read_tokens,
            item.cache_write_5m_tokens as cache_write_5m_tokens,
            item.cache_write_1h_tokens as cache_write_1h_tokens,
            case when item.is_response then searches else 0 end as searches,
            -- An advisor answers at its own speed.
            case when item.piece = 'advisor' then null else speed end as speed
        ),
        item.piece as piece,
        item.is_response as is_response,
        item.is_charged as is_charged
    from several
),

billable as (
    select
        * replace (
            coalesce(input_tokens, 0) as input_tokens,
            coalesce(output_tokens, 0) as output_tokens,
            coalesce(cache_read_tokens, 0) as cache_read_tokens,
            coalesce(cache_write_5m_tokens, 0) as cache_write_5m_tokens,
            coalesce(cache_write_1h_tokens, 0) as cache_write_1h_tokens,
            coalesce(nullif(speed, ''), 'standard') as speed,
            -- A refusal before the first word is logged, and not charged.
            is_charged and not (
                is_response
                and coalesce(stop_reason = 'refusal', false)
                and coalesce(output_tokens, 0) = 0
            ) as is_charged
        ),
        case
            when coalesce(service_tier, '') in ('', 'priority')
                then 'standard'
            else service_tier
        end as tier,
        case
            when coalesce(inference_geo, '') in ('', 'not_available')
                then 'global'
            else inference_geo
        end as place,
        coalesce(input_tokens, 0)
        + coalesce(cache_read_tokens, 0)
        + coalesce(cache_write_5m_tokens, 0)
        + coalesce(cache_write_1h_tokens, 0) as prompt_tokens
    from pieces
),

priced as (
    select
        pieces.*,
        rates.name is not null as has_rate,
        rates.card_speed,
        rates.valid_from as card_from,
        rates.prompt_min as card_prompt_min,
        case when pieces.input_tokens > 0 then pieces.input_tokens * rates.input_pico_usd else 0 end
        + case
            when pieces.output_tokens > 0
                then pieces.output_tokens * rates.output_pico_usd
            else 0
        end
        + case
            when pieces.cache_read_tokens > 0
                then pieces.cache_read_tokens * rates.cache_read_pico_usd
            else 0
        end
        + case
            when pieces.cache_write_5m_tokens > 0
                then pieces.cache_write_5m_tokens * rates.cache_write_5m_pico_usd
            else 0
        end
        + case
            when pieces.cache_write_1h_tokens > 0
                then pieces.cache_write_1h_tokens * rates.cache_write_1h_pico_usd
            else 0
        end as list_pico_usd,
        case
            when pieces.cache_read_tokens > 0
                then pieces.cache_read_tokens * (rates.input_pico_usd - rates.cache_read_pico_usd)
            else 0
        end as saved_pico_usd,
        case
            when pieces.cache_write_5m_tokens > 0
                then pieces.cache_write_5m_tokens
                * (rates.cache_write_5m_pico_usd - rates.input_pico_usd)
            else 0
        end
        + case
            when pieces.cache_write_1h_tokens > 0
                then pieces.cache_write_1h_tokens
                * (rates.cache_write_1h_pico_usd - rates.input_pico_usd)
            else 0
        end as extra_pico_usd,
        rates.share_millionths,
        case
            when pieces.searches > 0
                then pieces.searches * rates.web_search_pico_usd
            else 0
        end as search_pico_usd
    from billable as pieces
    left join rates
        on pieces.model = rates.name
        and pieces.speed = rates.speed
        and pieces.tier = rates.tier
        and pieces.place = rates.place
        and pieces.prompt_tokens between rates.prompt_min and rates.prompt_max
        and pieces.priced_at >= rates.begins_at
        and pieces.priced_at < rates.ends_at
),

costed as (
    select
        *,
        case
            when not is_charged then 0
            when has_rate then
                -- Shares apply to tokens, not to searches; what is below a pico-dollar is cut off.
                case
                    when share_millionths = 1000000
                        then list_pico_usd
                    else (list_pico_usd::hugeint * share_millionths // 1000000)::bigint
                end
                + search_pico_usd
        end as cost_pico_usd,
        case
            when not is_charged then 0
            when cost_pico_usd is not null then
                (saved_pico_usd::hugeint * share_millionths // 1000000)::bigint
        end as cache_saved_pico_usd,
        case
            when not is_charged then 0
            when cost_pico_usd is not null then
                (extra_pico_usd::hugeint * share_millionths // 1000000)::bigint
        end as cache_extra_pico_usd
    from priced
)

select
    costed.key,
    costed.message_id,
    costed.request_id,
    costed.piece_no,
    costed.piece,
    costed.is_response,
    costed.model,
    names.model as price_model,
    costed.occurred_at,
    costed.occurred_at::date as day,
    costed.project,
    costed.git_branch,
    costed.session_id,
    costed.agent_id,
    costed.is_warmup,
    costed.turn_id,
    costed.version,
    costed.entrypoint,
    costed.source,
    coalesce(names.speed, costed.speed) as speed,
    costed.service_tier,
    costed.inference_geo,
    costed.input_tokens,
    costed.output_tokens,
    case when costed.is_response then costed.thinking_tokens end as thinking_tokens,
    costed.cache_read_tokens,
    costed.cache_write_5m_tokens,
    costed.cache_write_1h_tokens,
    costed.searches as web_search_requests,
    costed.card_speed,
    costed.card_from,
    costed.card_prompt_min,
    costed.share_millionths::decimal(8, 0) * 0.000001::decimal(6, 6) as price_share,
    costed.cost_pico_usd,
    costed.cost_pico_usd::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
    costed.cache_saved_pico_usd,
    costed.cache_extra_pico_usd,
    case
        when not costed.is_charged then 'not_billable'
        when costed.cost_pico_usd is not null then 'priced'
        when names.model is null then 'unpriced_model'
        when not costed.has_rate then 'unpriced_variant'
        else 'unpriced_component'
    end as cost_status,
    case
        when costed.cost_pico_usd is null
            then costed.prompt_tokens + costed.output_tokens
        else 0
    end
        as unpriced_tokens,
    nullif(
        concat_ws(
            ', ',
            costed.flags,
            case when costed.service_tier = 'priority' then 'priority_tier' end,
            case when costed.occurred_at is null then 'without_time' end
        ),
        ''
    ) as flags
from costed
left join model_names as names on costed.model = names.name
