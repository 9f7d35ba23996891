-- Compactions: a compact_boundary and the summary that follows it in the file.
-- grain: one compact_boundary of a file, in one generation
with

boundaries as (
    select
        lines.*,
        lead(entry_no, 1, 9223372036854775807) over (
            partition by file_no, generation order by entry_no
        ) as next_no
    from lines
    where type = 'system' and subtype = 'compact_boundary' and not coalesce(is_sidechain, false)
    qualify row_number() over (
        partition by file_no, generation, entry_key order by entry_no
    ) = 1
),

summaries as (
    select lines.entry_no, lines.file_no, lines.generation, block_counts.text_chars
    from lines
    left join block_counts using (entry_no)
    where lines.is_compact_summary
),

followed as (
    select
        boundaries.entry_no,
        arg_min(summaries.text_chars, summaries.entry_no) as summary_chars
    from boundaries
    join summaries
        on boundaries.file_no = summaries.file_no
        and boundaries.generation = summaries.generation
        and summaries.entry_no > boundaries.entry_no
        and summaries.entry_no < boundaries.next_no
    group by boundaries.entry_no
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
    session_facts.session_started_at,
    session_facts.session_ended_at
from boundaries
left join followed using (entry_no)
join line_turns using (entry_no)
left join session_facts on boundaries.session_id = session_facts.session_id
order by boundaries.file_id, boundaries.generation, boundaries.entry_no
