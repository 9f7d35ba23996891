-- Days whose spend is not the sum of what the responses of that day used.
-- grain: one day and model that does not come out
with

used as (
    select
        occurred_at::date as day,
        model,
        count(*) as responses,
        try_cast(coalesce(sum(output_tokens), 0) as bigint) as output_tokens
    from usage
    group by all
),

spent as (
    select
        day,
        model,
        sum(responses)::bigint as responses,
        -- A sum too large for its column is null, and so is every sum that it is part of.
        case
            when bool_and(output_tokens is not null) then try_cast(sum(output_tokens) as bigint)
        end as output_tokens
    from daily_spend
    group by all
)

select
    coalesce(used.day, spent.day) as day,
    coalesce(used.model, spent.model) as model,
    used.output_tokens as used_tokens,
    spent.output_tokens as spent_tokens
from used
full join spent
    on used.day is not distinct from spent.day
    and used.model is not distinct from spent.model
where used.responses is distinct from spent.responses
    or used.output_tokens is distinct from spent.output_tokens
