-- The lines of threads with their blocks, in the order of their files. A user's line that was
-- appended again has no message of its own and is left out; a response's is told by its blocks.
-- grain: one block of a line, or a line without one
-- thread_no      the thread
-- file_no        order of its files
-- line_no        the line in its file
-- object_index   where several objects stand on one line
-- key            the message's key; null for a compaction
-- message_id     response id given by the API
-- role           user or assistant; null for a compaction
-- model          model as logged
-- occurred_at    instant of the line
-- prompt_kind    what a user message is
-- prompt         what was typed to begin a turn
-- turn_id        key of the prompt that began the turn
-- begins_turn    it is that prompt
-- is_interrupt   says that a person stopped the work here
-- is_api_error   written for a failed request
-- is_compaction  the context was compacted here
-- trigger        manual or auto, of a compaction
-- pre_tokens     context before it
-- post_tokens    context after it
-- block_type     text, thinking, tool_use, …; null without a block
-- text           the block's text
-- tool_use_id    the call that it makes or answers
-- tool_name      tool that is called
-- target         file, command, pattern, URL or prompt of the call
-- input          the call's input, JSON
-- output_file    file in tool-results that holds all of a long output
with

-- All lines of a response belong to its message; a user's message is its line.
lines as (
    select
        *,
        coalesce(subtype = 'compact_boundary', false) as is_compaction,
        case
            when type = 'assistant' and message_id is not null
                then message_id || ' ' || coalesce(request_id, '')
            else line_no || ' ' || object_index
        end as part_of
    from raw.entries
    semi join threads using (session_id, file_id, generation)
    where type in ('user', 'assistant') or prompt is not null or subtype = 'compact_boundary'
),

heads as (
    select
        *,
        case
            when role = 'assistant' and message_id is not null
                then message_id || ' ' || coalesce(request_id, '')
            else line_no || ' ' || object_index
        end as part_of
    from raw.messages
    semi join threads using (session_id, file_id, generation)
),

blocks as (
    select * from raw.content_blocks semi join threads using (session_id, file_id, generation)
)

select
    threads.thread_no::bigint as thread_no,
    threads.file_no,
    lines.line_no,
    lines.object_index,
    coalesce(heads.key, lines.message_id, lines.uuid) as key,
    lines.message_id,
    case when not lines.is_compaction then coalesce(heads.role, lines.role) end as role,
    lines.model,
    lines.occurred_at,
    lines.prompt_kind,
    lines.prompt,
    heads.turn_id,
    coalesce(
        heads.key = heads.turn_id and lines.prompt_kind in (
            'human', 'command', 'bash', 'queued', 'sdk'
        ),
        false
    ) as begins_turn,
    coalesce(heads.is_interrupt, false) as is_interrupt,
    coalesce(lines.is_api_error, false) as is_api_error,
    lines.is_compaction,
    lines.compact_trigger as trigger,
    lines.pre_tokens,
    lines.post_tokens,
    blocks.block_type,
    blocks.text,
    blocks.tool_use_id,
    blocks.tool_name,
    blocks.target,
    blocks.input,
    blocks.output_file
from lines
left join heads using (file_id, generation, part_of)
join threads
    on lines.file_id = threads.file_id
    and lines.generation = threads.generation
    and coalesce(heads.agent_id, lines.agent_id) is not distinct from threads.agent_id
left join blocks
    on lines.file_id = blocks.file_id
    and lines.generation = blocks.generation
    and lines.line_no = blocks.line_no
    and lines.object_index = blocks.object_index
where heads.key is not null or lines.type = 'assistant' or lines.is_compaction
order by
    threads.thread_no,
    threads.file_no,
    lines.line_no,
    lines.object_index,
    blocks.block_index nulls first
