-- What is billed of responses that took several inferences, or asked another model for advice.
-- Compactions and advice are not in the response's own counts; its message items are, and add up
-- to them. After a fallback the response counts the attempt that served it, and each is billed.
-- grain: one response whose billed pieces are not just its own counts, or whose list cannot be
with

-- A list of one message says again what the response says. Our JSON has no spaces.
listed as (
    select *
    from responses
    where (iterations like '%},{%' or iterations not like '%"type":"message"%')
        and json_valid(iterations)
),

parsed as (
    select
        first_no,
        generate_subscripts(items, 1) as piece_no,
        unnest(items) as item
    from (
        select
            first_no,
            from_json(
                iterations,
                '[{"type": "VARCHAR", "model": "VARCHAR", "input_tokens": "JSON",
                "output_tokens": "JSON", "cache_read_input_tokens": "JSON",
                "cache_creation_input_tokens": "JSON", "cache_creation": "JSON"}]'
            ) as items
        from listed
    )
),

logged as (
    select
        *,
        [
            item.input_tokens,
            item.output_tokens,
            item.cache_read_input_tokens,
            item.cache_creation_input_tokens,
            json_extract(item.cache_creation, '$.ephemeral_5m_input_tokens'),
            json_extract(item.cache_creation, '$.ephemeral_1h_input_tokens')
        ] as counts
    from parsed
),

counted as (
    select
        first_no,
        piece_no,
        coalesce(item.type, 'message') as kind,
        item.model as model,
        coalesce(try_cast(counts[1] as bigint), 0) as input_tokens,
        coalesce(try_cast(counts[2] as bigint), 0) as output_tokens,
        coalesce(try_cast(counts[3] as bigint), 0) as cache_read_tokens,
        coalesce(try_cast(counts[4] as bigint), 0) as written_flat,
        coalesce(try_cast(counts[5] as bigint), 0) as written_5m,
        coalesce(try_cast(counts[6] as bigint), 0) as written_1h,
        kind in ('advisor_message', 'compaction') as is_extra,
        try_cast(counts[1] as bigint) is null or try_cast(counts[2] as bigint) is null as is_short,
        item is null
        or coalesce(json_type(item.cache_creation), 'NULL') not in ('OBJECT', 'NULL')
        or len(
            list_filter(
                counts, lambda one: json_type(one) not in ('UBIGINT', 'BIGINT', 'NULL')
            )
        ) > 0 as is_odd
    from logged
),

-- A list with a count that cannot be is not believed.
impossible as (
    select first_no
    from counted
    group by first_no
    having bool_or(is_odd)
    or least(
        min(input_tokens),
        min(output_tokens),
        min(cache_read_tokens),
        min(written_flat),
        min(written_5m),
        min(written_1h)
    ) < 0
    or greatest(
        max(input_tokens),
        max(output_tokens),
        max(cache_read_tokens),
        max(written_flat),
        max(written_5m),
        max(written_1h)
    ) > 1000000000
),

-- Writes that an item does not tell apart are of the kind that all of the response's are.
settled as (
    select
        items.first_no,
        items.piece_no,
        items.kind,
        items.is_extra,
        items.is_short,
        case
            when items.kind = 'advisor_message' then items.model
            else coalesce(items.model, responses.model)
        end as model,
        items.input_tokens,
        items.output_tokens,
        items.cache_read_tokens,
        greatest(items.written_flat - items.written_5m - items.written_1h, 0) as unsplit,
        responses.cache_write_5m_tokens = 0 and responses.cache_write_1h_tokens > 0 as is_all_1h,
        items.written_5m + if(is_all_1h, 0, unsplit) as cache_write_5m_tokens,
        items.written_1h + if(is_all_1h, unsplit, 0) as cache_write_1h_tokens
    from counted as items
    anti join impossible using (first_no)
    join responses using (first_no)
),

rules as (
    select
        first_no,
        bool_or(kind = 'fallback_message') as has_fallback,
        count(*) filter (where not is_extra) as own_items,
        max(piece_no) filter (where not is_extra) as last_no,
        [
            sum(input_tokens) filter (where not is_extra),
            sum(output_tokens) filter (where not is_extra),
            sum(cache_read_tokens) filter (where not is_extra),
            sum(cache_write_5m_tokens) filter (where not is_extra),
            sum(cache_write_1h_tokens) filter (where not is_extra)
        ] as own_sums,
        [
            sum(input_tokens) filter (where kind = 'message'),
            sum(output_tokens) filter (where kind = 'message'),
            sum(cache_read_tokens) filter (where kind = 'message'),
            sum(cache_write_5m_tokens) filter (where kind = 'message'),
            sum(cache_write_1h_tokens) filter (where kind = 'message')
        ] as message_sums,
        [
            arg_min(input_tokens, piece_no) filter (where not is_extra),
            sum(output_tokens) filter (where not is_extra),
            arg_min(cache_read_tokens, piece_no) filter (where not is_extra)
        ] as first_sums
    from settled
    group by first_no
    having count(*) > 1 or bool_or(is_extra)
),

ruled as (
    select
        rules.*,
        [
            coalesce(responses.input_tokens, 0)::hugeint,
            coalesce(responses.output_tokens, 0),
            coalesce(responses.cache_read_tokens, 0),
            responses.cache_write_5m_tokens,
            responses.cache_write_1h_tokens
        ] as told_sums,
        not rules.has_fallback
        and (rules.own_sums = told_sums or rules.message_sums = told_sums) as is_sum,
        rules.own_items > 0
        and (
            rules.has_fallback
            or is_sum
            -- At first the API told the output of all, and the input of the first alone.
            or rules.first_sums = told_sums[:3]
        ) as is_each
    from rules
    join responses using (first_no)
),

billed as (
    select
        first_no,
        piece_no,
        kind,
        model,
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_write_5m_tokens,
        cache_write_1h_tokens,
        is_each and piece_no = last_no as is_response,
        -- An attempt that declined without a word is not charged.
        not (has_fallback and not is_extra and piece_no < last_no and output_tokens = 0)
            as is_charged,
        -- What adds up to the response is borne out by it; of the rest, there is only what it says.
        (is_extra or not is_sum) and is_short as is_short,
        (is_extra or not is_sum) and unsplit > 0 and not is_all_1h as is_assumed,
        false as is_partial
    from settled
    join ruled using (first_no)
    where is_each or is_extra

    union all

    select
        first_no,
        0,
        'message',
        responses.model,
        coalesce(responses.input_tokens, 0),
        coalesce(responses.output_tokens, 0),
        coalesce(responses.cache_read_tokens, 0),
        responses.cache_write_5m_tokens,
        responses.cache_write_1h_tokens,
        true,
        true,
        false,
        false,
        -- The items do not add up to the response: what is not known to be extra is left out.
        own_items > 0
    from ruled
    join responses using (first_no)
    where not is_each
)

select
    first_no,
    to_json(
        list(
            {
                piece: replace(kind, '_message', ''),
                model: model,
                input_tokens: input_tokens,
                output_tokens: output_tokens,
                cache_read_tokens: cache_read_tokens,
                cache_write_5m_tokens: cache_write_5m_tokens,
                cache_write_1h_tokens: cache_write_1h_tokens,
                is_response: is_response,
                is_charged: is_charged
            }
            order by piece_no
        )
    )::varchar as pieces,
    bool_or(is_short) as is_short,
    bool_or(is_assumed) as is_assumed,
    bool_or(is_partial) as is_partial
from billed
group by first_no

union all

select first_no, null, false, false, true
from impossible
