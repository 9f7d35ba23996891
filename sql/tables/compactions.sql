-- Compactions: a compact_boundary and the summary that follows it in the file.
-- grain: one compact_boundary of a file, in one generation
with

boundaries as (
    select *
    from lines
    where type = 'system' and subtype = 'compact_boundary' and not coalesce(is_sidechain, false)
),

summaries as (
    select lines.file_id, lines.generation, lines.line_no, block_counts.text_chars
    from lines
    left join block_counts using (file_id, generation, line_no, object_index)
    where lines.is_compact_summary
),

followed as (
    select
        boundaries.file_id,
        boundaries.generation,
        boundaries.line_no,
        boundaries.object_index,
        arg_min(summaries.text_chars, summaries.line_no) as summary_chars
    from boundaries
    left join summaries
        on boundaries.file_id = summaries.file_id
        and boundaries.generation = summaries.generation
        and summaries.line_no > boundaries.line_no
    group by all
)

select
    boundaries.file_id,
    boundaries.generation,
    boundaries.line_no,
    boundaries.byte_start,
    boundaries.byte_end,
    boundaries.object_index,
    boundaries.session_id,
    boundaries.agent_id,
    boundaries.entry_key as key,
    boundaries.uuid,
    boundaries.occurred_at,
    boundaries.compact_trigger as trigger,
    boundaries.pre_tokens,
    boundaries.post_tokens,
    boundaries.duration_ms,
    followed.summary_chars,
    line_turns.turn_id,
    boundaries.is_sidechain,
    boundaries.is_background,
    boundaries.is_forked,
    session_facts.session_started_at
from boundaries
left join followed using (file_id, generation, line_no, object_index)
left join line_turns using (file_id, generation, line_no, object_index)
left join session_facts on boundaries.session_id = session_facts.session_id
order by boundaries.file_id, boundaries.generation, boundaries.line_no
