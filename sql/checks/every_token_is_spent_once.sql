-- Responses that are not spent once: no piece or two that served, or pieces that are not its tokens.
-- severity: error
-- grain: one response that does not come out
with

spent as (
    select
        key,
        count(*) filter (where is_response) as responses,
        sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens,
        sum(cache_read_tokens)::bigint as cache_read_tokens,
        sum(cache_write_5m_tokens)::bigint as cache_write_5m_tokens,
        sum(cache_write_1h_tokens)::bigint as cache_write_1h_tokens
    from token_spend
    group by key
)

select usage.key, spent.responses, usage.output_tokens as used_tokens, spent.output_tokens
from usage
full join spent using (key)
where spent.responses is distinct from 1
    or (
        usage.pieces is null
        and (
            coalesce(usage.input_tokens, 0) <> spent.input_tokens
            or coalesce(usage.output_tokens, 0) <> spent.output_tokens
            or coalesce(usage.cache_read_tokens, 0) <> spent.cache_read_tokens
            or coalesce(usage.cache_write_5m_tokens, 0) <> spent.cache_write_5m_tokens
            or coalesce(usage.cache_write_1h_tokens, 0) <> spent.cache_write_1h_tokens
        )
    )
