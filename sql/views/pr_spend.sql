-- Tokens and cost of the sessions that led to a pull request. What a session used before a link to one
-- came up, and since the link before it, went into that one; what came after the last, into the last.
-- grain: one pull request, and one line for what led to none
-- pr_url                 the pull request; null for all that led to none
-- linked_at              when it came up first
-- sessions               sessions that have responses for it
-- first_day              day of its first response, in the reader's time zone
-- last_day               day of its last response
-- responses              API responses, each once, at the model that served it
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
with

told as (
    select
        session_id,
        unnest(from_json(pr_links, '[{"pr_url": "VARCHAR", "linked_at": "TIMESTAMPTZ"}]')) as link,
        generate_subscripts(from_json(pr_links, '["JSON"]'), 1) as link_no
    from session_marks
    where pr_links is not null
),

-- A link without a time, and the last one, reach to the end of time.
links as (
    select
        session_id,
        link.pr_url as pr_url,
        link.linked_at as linked_at,
        case
            when lead(link_no) over session_links is null
                then 'infinity'::timestamptz
            else coalesce(link.linked_at, 'infinity'::timestamptz)
        end as holds_to
    from told
    window session_links as (partition by session_id order by link_no)
),

first_links as (
    select pr_url, min(linked_at) as linked_at from links group by pr_url
),

placed as (
    select links.pr_url, pieces.*
    from token_spend as pieces
    asof left join links
        on pieces.session_id = links.session_id
        and coalesce(pieces.occurred_at, '-infinity'::timestamptz) <= links.holds_to
)

select
    pr_url,
    min(first_links.linked_at) as linked_at,
    count(distinct session_id) as sessions,
    min(day) as first_day,
    max(day) as last_day,
    count(*) filter (where is_response) as responses,
    sum(columns('^(input|output|cache_.*)_tokens$'))::bigint,
    sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
    sum(unpriced_tokens)::bigint as unpriced_tokens
from placed
left join first_links using (pr_url)
group by pr_url
