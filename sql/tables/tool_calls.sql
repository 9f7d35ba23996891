-- Calls and their answers, paired by id. A call that was never answered stays, with nulls.
-- grain: one tool_use of a file, in one generation
with

calls as (
    select
        blocks.tool_use_id,
        blocks.tool_name,
        blocks.target,
        blocks.preview,
        lines.*
    from content_blocks as blocks
    join lines using (file_id, generation, line_no, object_index)
    where blocks.block_type in ('tool_use', 'server_tool_use') and blocks.tool_use_id is not null
    qualify row_number() over (
        partition by blocks.file_id, blocks.generation, blocks.tool_use_id
        order by blocks.line_no, blocks.object_index, blocks.block_index
    ) = 1
),

answers as (
    select
        blocks.file_id,
        blocks.generation,
        blocks.tool_use_id,
        blocks.text_chars,
        blocks.preview,
        coalesce(blocks.is_error, false) as is_error,
        lines.occurred_at,
        lines.result_meta,
        lines.spawned_agent_id
    from content_blocks as blocks
    join lines using (file_id, generation, line_no, object_index)
    where blocks.block_type = 'tool_result' and blocks.tool_use_id is not null
    qualify row_number() over (
        partition by blocks.file_id, blocks.generation, blocks.tool_use_id
        order by blocks.line_no, blocks.object_index, blocks.block_index
    ) = 1
)

select
    calls.file_id,
    calls.generation,
    calls.line_no,
    calls.byte_start,
    calls.byte_end,
    calls.object_index,
    calls.session_id,
    calls.agent_id,
    calls.tool_use_id,
    calls.tool_name,
    calls.target,
    calls.preview as input_preview,
    calls.message_id,
    calls.occurred_at as called_at,
    answers.occurred_at as answered_at,
    date_diff('millisecond', calls.occurred_at, answers.occurred_at) as duration_ms,
    answers.is_error,
    case when answers.is_error then answers.preview end as error_preview,
    answers.text_chars as result_chars,
    answers.result_meta,
    coalesce(answers.spawned_agent_id, links.agent_id) as spawned_agent_id,
    line_turns.turn_id,
    calls.is_sidechain,
    calls.is_background,
    calls.is_forked,
    session_facts.session_started_at
from calls
left join answers using (file_id, generation, tool_use_id)
left join (
    select session_id, tool_use_id, min(agent_id) as agent_id from agent_links group by all
) as links using (session_id, tool_use_id)
left join line_turns using (file_id, generation, line_no, object_index)
left join session_facts using (session_id)
order by calls.file_id, calls.generation, calls.line_no, calls.object_index
