-- Messages: an assistant response put together from all its lines, or one user message.
-- What a person typed is one, also where it is logged as a queued prompt or a command.
-- grain: one message of a file, in one generation
with

message_lines as (
    select
        lines.entry_no,
        lines.file_no,
        lines.generation,
        case when lines.type = 'assistant' then lines.type else 'user' end as type,
        case
            when lines.type = 'assistant' then coalesce(lines.message_id, lines.entry_key)
            else lines.entry_key
        end as part_of,
        case when lines.type = 'assistant' then lines.request_id end as request_of,
        lines.occurred_at,
        lines.stop_reason,
        lines.is_interrupt or lines.prompt_kind = 'interrupt' as is_interrupt,
        block_counts.fingerprint
    from lines
    left join block_counts using (entry_no)
    left join own_turns using (entry_no)
    where lines.type in ('user', 'assistant')
        or (lines.prompt_preview is not null and lines.entry_key = own_turns.turn_id)
),

-- History is now and then appended again, under new uuids: such a line adds no blocks.
distinct_lines as (
    select
        min(entry_no) as entry_no,
        file_no,
        generation,
        type,
        part_of,
        request_of,
        occurred_at,
        max(stop_reason) as stop_reason,
        bool_or(is_interrupt) as is_interrupt
    from message_lines
    group by file_no, generation, type, part_of, request_of, occurred_at, fingerprint
),

sums as (
    select
        min(distinct_lines.entry_no) as first_no,
        max(distinct_lines.occurred_at) as ended_at,
        max(distinct_lines.stop_reason) as stop_reason,
        bool_or(distinct_lines.is_interrupt) as is_interrupt,
        sum(block_counts.text_blocks)::bigint as text_blocks,
        sum(block_counts.thinking_blocks)::bigint as thinking_blocks,
        sum(block_counts.tool_use_blocks)::bigint as tool_use_blocks,
        sum(block_counts.tool_result_blocks)::bigint as tool_result_blocks,
        sum(block_counts.other_blocks)::bigint as other_blocks,
        sum(block_counts.text_chars)::bigint as text_chars,
        arg_min(block_counts.text_preview, distinct_lines.entry_no) as text_preview,
        count(*) as line_count
    from distinct_lines
    left join block_counts using (entry_no)
    group by
        distinct_lines.file_no,
        distinct_lines.generation,
        distinct_lines.type,
        distinct_lines.part_of,
        distinct_lines.request_of
)

select
    firsts.file_id,
    firsts.generation,
    firsts.line_no,
    firsts.byte_start,
    firsts.byte_end,
    firsts.object_index,
    firsts.session_id,
    firsts.agent_id,
    case
        when firsts.type <> 'assistant' then firsts.entry_key
        when firsts.message_id is null then firsts.entry_key
        when firsts.request_id is not null then firsts.message_id || ':' || firsts.request_id
        else firsts.message_id || '@' || coalesce(epoch_us(firsts.occurred_at)::varchar, '')
    end as key,
    -- md5 is the same in every version of DuckDB, and in every part.
    (md5_number_lower(coalesce(firsts.message_id, firsts.entry_key)) >> 1)::bigint as message_hash,
    firsts.message_id,
    firsts.request_id,
    coalesce(firsts.role, case when firsts.type = 'assistant' then firsts.type else 'user' end)
        as role,
    firsts.model,
    firsts.prompt_kind,
    firsts.occurred_at as started_at,
    sums.ended_at,
    sums.stop_reason,
    coalesce(sums.text_blocks, 0) as text_blocks,
    coalesce(sums.thinking_blocks, 0) as thinking_blocks,
    coalesce(sums.tool_use_blocks, 0) as tool_use_blocks,
    coalesce(sums.tool_result_blocks, 0) as tool_result_blocks,
    coalesce(sums.other_blocks, 0) as other_blocks,
    coalesce(sums.text_chars, 0) as text_chars,
    coalesce(sums.text_preview, firsts.prompt_preview) as text_preview,
    sums.line_count,
    coalesce(sums.is_interrupt, false) as is_interrupt,
    firsts.type <> 'assistant' or sums.stop_reason is not null as is_final,
    line_turns.turn_id,
    coalesce(agent_spans.is_warmup, false) as is_warmup,
    firsts.is_sidechain,
    firsts.is_background,
    firsts.is_forked,
    session_facts.session_started_at,
    session_facts.session_ended_at
from sums
join lines as firsts on sums.first_no = firsts.entry_no
join line_turns on sums.first_no = line_turns.entry_no
left join agent_spans
    on firsts.file_no = agent_spans.file_no
    and firsts.generation = agent_spans.generation
    and firsts.agent_id = agent_spans.agent_id
left join session_facts on firsts.session_id = session_facts.session_id
order by firsts.file_id, firsts.generation, firsts.entry_no
