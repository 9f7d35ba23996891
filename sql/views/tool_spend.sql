-- Tokens and cost of responses by the tools they called. A response that made several calls is
-- divided among them, to the last token and pico-dollar; one without a call has no tool.
-- grain: one tool, or none
-- tool_name              the tool that was called; null for responses that called none, or one
--   without a name
-- calls                  calls of responses that are known
-- responses              API responses, each once, at the first tool it called
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
with

calls as (
    select
        message_id,
        tool_use_id,
        tool_name,
        row_number() over (partition by message_id order by line_no, tool_use_id) as call_no,
        count(*) over (partition by message_id) as calls
    from tool_calls
    where message_id is not null
),

-- What does not divide goes to the first calls, one each.
shares as (
    select
        calls.tool_use_id,
        calls.tool_name,
        coalesce(calls.call_no, 1) as share_no,
        coalesce(calls.calls, 1) as share_count,
        pieces.*
    from token_spend as pieces
    left join calls using (message_id)
)

select
    tool_name,
    -- By their ids: a response that was asked for again under another request has the same calls.
    count(distinct tool_use_id) as calls,
    count(*) filter (where share_no = 1 and is_response) as responses,
    sum(
        columns('^(input|output|cache_.*)_tokens$') // share_count
        + (share_no <= columns('^(input|output|cache_.*)_tokens$') % share_count)::bigint
    )::bigint,
    sum(
        cost_pico_usd // share_count + (share_no <= cost_pico_usd % share_count)::bigint
    )::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
    sum(
        unpriced_tokens // share_count + (share_no <= unpriced_tokens % share_count)::bigint
    )::bigint as unpriced_tokens
from shares
group by tool_name
