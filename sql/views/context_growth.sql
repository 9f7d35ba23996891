-- How the context grows along a session: what each request sent, and what of it the cache had.
-- grain: one API response
-- session_id             session that owns the response
-- agent_id               the subagent that asked; null in the main thread
-- response_no            its place in its thread, from 1
-- key                    key of the response
-- occurred_at            instant of its first line
-- turn_id                key of the prompt that began the turn
-- model                  model that answered
-- context_tokens         tokens sent: plain, read and written
-- grown_tokens           more than with the request before it in the thread; null for the first, less
--   than zero after a compaction, or where the thread went back
-- cache_read_tokens      of these, read from the cache
-- cache_write_tokens     of these, written to the cache
-- input_tokens           of these, neither
-- output_tokens          what came back
-- since_last_ms          time since the request before it; null for the first
-- compaction             trigger of the last compaction since the request before it, unknown where it
--   is not told; null if there was none
with

sent as (
    select
        *,
        coalesce(input_tokens, 0)
        + coalesce(cache_read_tokens, 0)
        + cache_write_5m_tokens
        + cache_write_1h_tokens as context_tokens
    from usage
),

-- Several boundaries may come before one response.
compacted as (
    select next_key, arg_max(coalesce(trigger, 'unknown'), compaction_no) as trigger
    from compaction_stats
    where next_key is not null
    group by next_key
)

select
    sent.session_id,
    sent.agent_id,
    row_number() over (
        partition by sent.session_id, sent.agent_id
        order by sent.generation, sent.line_no, sent.object_index, sent.file_id
    ) as response_no,
    sent.key,
    sent.occurred_at,
    sent.turn_id,
    sent.model,
    sent.context_tokens,
    sent.context_tokens - sent.last_context_tokens as grown_tokens,
    coalesce(sent.cache_read_tokens, 0) as cache_read_tokens,
    sent.cache_write_5m_tokens + sent.cache_write_1h_tokens as cache_write_tokens,
    coalesce(sent.input_tokens, 0) as input_tokens,
    coalesce(sent.output_tokens, 0) as output_tokens,
    sent.since_last_ms,
    compacted.trigger as compaction
from sent
left join compacted on sent.key = compacted.next_key
