-- API responses put together from their lines, with the counts that are true.
-- grain: one API response of a file, in one generation
with

-- No window holds a billion tokens: such a count, or one below zero, is no count, and neither is
-- what no column took.
response_lines as (
    select
        entry_no,
        file_no,
        generation,
        coalesce(message_id, entry_key) as part_of,
        request_id,
        model,
        occurred_at,
        stop_reason,
        service_tier,
        speed,
        inference_geo,
        iterations,
        fallback_credit,
        case when input_tokens between 0 and 1000000000 then input_tokens end as input_tokens,
        case when output_tokens between 0 and 1000000000 then output_tokens end as output_tokens,
        case when cache_read_tokens between 0 and 1000000000 then cache_read_tokens end
            as cache_read_tokens,
        case when cache_creation_tokens between 0 and 1000000000 then cache_creation_tokens end
            as written_flat,
        case when ephemeral_5m_tokens between 0 and 1000000000 then ephemeral_5m_tokens end
            as written_5m,
        case when ephemeral_1h_tokens between 0 and 1000000000 then ephemeral_1h_tokens end
            as written_1h,
        case when thinking_tokens between 0 and 1000000000 then thinking_tokens end
            as thinking_tokens,
        case when web_search_requests between 0 and 1000000 then web_search_requests end
            as web_search_requests,
        input_tokens not between 0 and 1000000000
        or output_tokens not between 0 and 1000000000
        or cache_read_tokens not between 0 and 1000000000
        or cache_creation_tokens not between 0 and 1000000000
        or ephemeral_5m_tokens not between 0 and 1000000000
        or ephemeral_1h_tokens not between 0 and 1000000000
        or web_search_requests not between 0 and 1000000
        or has_odd_count as has_impossible_count,
        coalesce(has_odd_count, false)
        or coalesce(
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_creation_tokens,
            ephemeral_5m_tokens,
            ephemeral_1h_tokens
        ) is not null as has_counts
    from lines
    where type = 'assistant' and coalesce(model, '') <> '<synthetic>'
),

sums as (
    select
        lines.file_no,
        lines.generation,
        lines.part_of,
        lines.request_id,
        min(lines.entry_no) as first_no,
        -- The largest output count is the true one, and the later line if two are equal.
        arg_max(
            lines.entry_no,
            (lines.has_counts, coalesce(lines.output_tokens, -1), lines.entry_no)
        ) as final_no,
        count(distinct (lines.occurred_at, block_counts.fingerprint)) as line_count,
        bool_or(lines.stop_reason is not null or lines.iterations is not null) as output_is_final,
        arg_max(lines.stop_reason, lines.entry_no) filter (where lines.stop_reason is not null)
            as stop_reason,
        bool_or(coalesce(lines.has_impossible_count, false)) as has_impossible_count,
        bool_or(coalesce(lines.fallback_credit = 'redeemed', false)) as has_credit
    from response_lines as lines
    left join block_counts using (entry_no)
    group by lines.file_no, lines.generation, lines.part_of, lines.request_id
    having bool_or(lines.has_counts)
)

select
    sums.*,
    finals.model,
    finals.input_tokens,
    finals.output_tokens,
    finals.cache_read_tokens,
    greatest(
        coalesce(finals.written_flat, 0)
        - coalesce(finals.written_5m, 0)
        - coalesce(finals.written_1h, 0),
        0
    ) as written_unsplit,
    coalesce(finals.written_5m, 0) + written_unsplit as cache_write_5m_tokens,
    coalesce(finals.written_1h, 0) as cache_write_1h_tokens,
    finals.thinking_tokens,
    finals.web_search_requests,
    finals.service_tier,
    finals.speed,
    finals.inference_geo,
    finals.iterations
from sums
join response_lines as finals on sums.final_no = finals.entry_no
