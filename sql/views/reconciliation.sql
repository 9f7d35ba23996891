-- Our cost beside what Claude Code itself booked, where it keeps books: the last cost-state of a
-- session, model by model. Its own prices are those of the day it was built.
-- grain: one session and model, by the name without its date
-- session_id          the session
-- model               model, without date and window
-- reported_tokens     tokens booked: input, output, read and written
-- logged_tokens       tokens of the session's own responses in the logs
-- reported_cost_usd   what Claude Code booked
-- cost_usd            our list-price cost; null if it has no price
-- unpriced_tokens     tokens that cost_usd leaves out
-- difference_usd      what was booked less what we find; null where one is not known
-- explanation         equal, rounding, other_price, not_logged (helper calls, or logs that are gone),
--   not_booked (a resumed or copied session books only its last run), output_not_final, unpriced
with

states as (
    select
        session_id,
        arg_max(state, (generation, line_no, object_index)) as state
    from raw.entries
    where type = 'cost-state' and layout = 'main' and state is not null
    group by session_id
),

booked_models as (
    select
        session_id,
        unnest(json_keys(state, '$.modelUsage')) as name,
        json_extract(state, '$.modelUsage') as models
    from states
),

booked as (
    select
        session_id,
        regexp_replace(name, '(-\d{8}|\[\w+\])+$', '') as model,
        try_cast(
            sum(
                coalesce(try_cast(json_value(item, '$.inputTokens') as bigint), 0)::hugeint
                + coalesce(try_cast(json_value(item, '$.outputTokens') as bigint), 0)
                + coalesce(try_cast(json_value(item, '$.cacheReadInputTokens') as bigint), 0)
                + coalesce(try_cast(json_value(item, '$.cacheCreationInputTokens') as bigint), 0)
            ) as bigint
        ) as reported_tokens,
        sum(try_cast(json_value(item, '$.costUSD') as decimal(26, 12)))::decimal(38, 12)
            as reported_cost_usd
    from (
        select session_id, name, map_extract_value(models::map(varchar, json), name) as item
        from booked_models
    )
    group by all
),

found as (
    select
        session_id,
        regexp_replace(model, '(-\d{8}|\[\w+\])+$', '') as model,
        sum(
            input_tokens + output_tokens + cache_read_tokens
            + cache_write_5m_tokens + cache_write_1h_tokens
        )::bigint as logged_tokens,
        sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
        sum(unpriced_tokens)::bigint as unpriced_tokens
    from token_spend
    semi join states using (session_id)
    group by all
),

placeholders as (
    select distinct session_id from usage where not output_is_final
),

compared as (
    select
        coalesce(booked.session_id, found.session_id) as session_id,
        coalesce(booked.model, found.model) as model,
        coalesce(booked.reported_tokens, 0) as reported_tokens,
        coalesce(found.logged_tokens, 0) as logged_tokens,
        coalesce(booked.reported_cost_usd, 0) as reported_cost_usd,
        case when found.session_id is null then 0 else found.cost_usd end as cost_usd,
        coalesce(found.unpriced_tokens, 0) as unpriced_tokens
    from booked
    full join found
        on booked.session_id = found.session_id
        and booked.model = found.model
)

select
    compared.*,
    (compared.reported_cost_usd - compared.cost_usd)::decimal(38, 12) as difference_usd,
    case
        when compared.unpriced_tokens > 0 then 'unpriced'
        when compared.reported_cost_usd = compared.cost_usd then 'equal'
        -- It adds up in floating point.
        when abs(compared.reported_cost_usd - compared.cost_usd) < 0.000001 then 'rounding'
        when compared.reported_tokens = compared.logged_tokens then 'other_price'
        when compared.reported_tokens < compared.logged_tokens then 'not_booked'
        when placeholders.session_id is not null then 'output_not_final'
        else 'not_logged'
    end as explanation
from compared
left join placeholders using (session_id)
