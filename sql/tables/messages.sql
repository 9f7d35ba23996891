-- Messages: an assistant response put together from all its lines, or one user message.
-- grain: one message of a file, in one generation
with

message_lines as (
    select
        lines.*,
        line_turns.turn_id,
        case when type = 'assistant' then coalesce(message_id, uuid) else entry_key end as part_of,
        case when type = 'assistant' then request_id end as request_of
    from lines
    join line_turns using (file_id, generation, line_no, object_index)
    where type in ('user', 'assistant') and coalesce(message_id, uuid) is not null
),

ranked as (
    select
        message_lines.*,
        block_counts.* exclude (file_id, generation, line_no, object_index),
        row_number() over (
            partition by file_id, generation, type, part_of, request_of
            order by line_no, object_index
        ) as place
    from message_lines
    left join block_counts using (file_id, generation, line_no, object_index)
),

-- A line that stands again in its own file, under the same uuid, adds no blocks.
distinct_lines as (
    select *
    from ranked
    qualify row_number() over (
        partition by file_id, generation, type, part_of, request_of, uuid
        order by line_no, object_index
    ) = 1
),

sums as (
    select
        file_id,
        generation,
        type,
        part_of,
        request_of,
        max(occurred_at) as ended_at,
        max(stop_reason) as stop_reason,
        sum(text_blocks)::bigint as text_blocks,
        sum(thinking_blocks)::bigint as thinking_blocks,
        sum(tool_use_blocks)::bigint as tool_use_blocks,
        sum(tool_result_blocks)::bigint as tool_result_blocks,
        sum(other_blocks)::bigint as other_blocks,
        sum(text_chars)::bigint as text_chars,
        arg_min(text_preview, (line_no, object_index)) as text_preview,
        count(*) as line_count
    from distinct_lines
    group by all
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
        when firsts.type = 'user' then firsts.entry_key
        when firsts.message_id is null then firsts.uuid
        when firsts.request_id is not null then firsts.message_id || ':' || firsts.request_id
        else firsts.message_id || '@' || coalesce(epoch_us(firsts.occurred_at)::varchar, '')
    end as key,
    firsts.message_id,
    firsts.request_id,
    coalesce(firsts.role, firsts.type) as role,
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
    sums.text_preview,
    sums.line_count,
    firsts.type = 'user' or sums.stop_reason is not null as is_final,
    firsts.turn_id,
    firsts.is_sidechain,
    firsts.is_background,
    firsts.is_forked,
    session_facts.session_started_at
from (select * from ranked where place = 1) as firsts
join sums
    on firsts.file_id = sums.file_id
    and firsts.generation = sums.generation
    and firsts.type = sums.type
    and firsts.part_of = sums.part_of
    and firsts.request_of is not distinct from sums.request_of
left join session_facts on firsts.session_id = session_facts.session_id
order by firsts.file_id, firsts.generation, firsts.line_no, firsts.object_index
