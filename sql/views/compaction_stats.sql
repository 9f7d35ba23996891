-- Compactions: how much context each dropped, what it left, and how long it took.
-- grain: one compaction
-- key                  key of its boundary
-- session_id           session that owns it
-- project              working directory in which the session began; null when never logged
-- compaction_no        its place among the session's, from 1
-- turn_id              key of the prompt in whose turn it happened
-- occurred_at          when it was logged
-- trigger              manual, auto, …; null when not told
-- pre_tokens           context before, as logged; null when not told
-- post_tokens          context after, as logged; null in older logs
-- next_key             key of the main thread's first response after it; null if none followed
-- next_context_tokens  tokens sent with that one's request
-- dropped_tokens       context before less that after, or else less what was sent next
-- dropped_share        share of the context that went; null if one of them is not known
-- summary_chars        characters of the summary that stands in for it; null if none follows
-- duration_ms          how long it took; null in older logs
with

sent as (
    select
        key,
        session_id,
        line_no,
        coalesce(input_tokens, 0)
        + coalesce(cache_read_tokens, 0)
        + cache_write_5m_tokens
        + cache_write_1h_tokens as context_tokens
    from usage
    where agent_id is null
)

select
    compactions.key,
    compactions.session_id,
    marks.project,
    row_number() over (
        partition by compactions.session_id
        order by compactions.generation, compactions.line_no, compactions.file_id
    ) as compaction_no,
    compactions.turn_id,
    compactions.occurred_at,
    compactions.trigger,
    compactions.pre_tokens,
    compactions.post_tokens,
    sent.key as next_key,
    sent.context_tokens as next_context_tokens,
    compactions.pre_tokens - coalesce(compactions.post_tokens, sent.context_tokens)
        as dropped_tokens,
    round(dropped_tokens / nullif(compactions.pre_tokens, 0), 6) as dropped_share,
    compactions.summary_chars,
    compactions.duration_ms
from compactions
asof left join sent
    on compactions.session_id = sent.session_id
    and compactions.line_no < sent.line_no
left join session_marks as marks on compactions.session_id = marks.session_id
