-- Calls and their answers, paired by id. A call that was never answered stays, with nulls.
-- grain: one tool_use of a file, in one generation
with

calls as (
    select file_no, generation, tool_use_id, min(block_no) as block_no
    from blocks
    where ends_with(block_type, 'tool_use') and tool_use_id is not null
    group by file_no, generation, tool_use_id
),

own_answers as (
    select file_no, generation, tool_use_id, min(block_no) as block_no
    from blocks
    where ends_with(block_type, 'tool_result') and tool_use_id is not null
    group by file_no, generation, tool_use_id
),

-- A log that was rewritten may hold the answer to a call that only its older generation has.
other_answers as (
    select calls.block_no as call_no, min(blocks.block_no) as block_no
    from calls
    anti join own_answers
        on calls.file_no = own_answers.file_no
        and calls.generation = own_answers.generation
        and calls.tool_use_id = own_answers.tool_use_id
    join blocks
        on calls.file_no = blocks.file_no
        and calls.tool_use_id = blocks.tool_use_id
        and ends_with(blocks.block_type, 'tool_result')
    group by calls.block_no
),

answers as (
    select
        calls.block_no as call_no,
        coalesce(own_answers.block_no, other_answers.block_no) as block_no
    from calls
    left join own_answers
        on calls.file_no = own_answers.file_no
        and calls.generation = own_answers.generation
        and calls.tool_use_id = own_answers.tool_use_id
    left join other_answers on calls.block_no = other_answers.call_no
),

links as (
    select session_id, tool_use_id, min(agent_id) as agent_id from agent_links group by all
),

-- Calls of one response are made together: one is tried again only after its answer was there.
retries as (
    select
        calls.block_no,
        coalesce(
            lag(call_blocks.tool_name) over thread = call_blocks.tool_name
            and lag(answer_blocks.is_error) over thread
            and lag(answer_blocks.entry_no) over thread < call_blocks.entry_no,
            false
        ) as is_retry
    from calls
    join blocks as call_blocks using (block_no)
    join lines as called on call_blocks.entry_no = called.entry_no
    join line_turns on call_blocks.entry_no = line_turns.entry_no
    join answers on calls.block_no = answers.call_no
    left join blocks as answer_blocks on answers.block_no = answer_blocks.block_no
    window thread as (
        partition by calls.file_no, calls.generation, called.agent_id, line_turns.turn_id
        order by calls.block_no
    )
)

select
    called.file_id,
    called.generation,
    called.line_no,
    called.byte_start,
    called.byte_end,
    called.object_index,
    called.session_id,
    called.agent_id,
    calls.tool_use_id,
    -- md5 is the same in every version of DuckDB, and in every part.
    (md5_number_lower(calls.tool_use_id) >> 1)::bigint as call_hash,
    call_blocks.tool_name,
    call_blocks.target,
    call_blocks.preview as input_preview,
    called.message_id,
    nullif(regexp_extract(call_blocks.tool_name, '^mcp__(.+?)__', 1), '') as mcp_server,
    called.occurred_at as called_at,
    answered.occurred_at as answered_at,
    case
        when answered.occurred_at >= called.occurred_at
            then date_diff('millisecond', called.occurred_at, answered.occurred_at)
    end as duration_ms,
    case when answered.entry_no is not null then coalesce(answer_blocks.is_error, false) end
        as is_error,
    case
        when answered.entry_no is null then 'unanswered'
        when answered.denial = 'interrupted' or answered.is_interrupt then 'interrupted'
        when answered.denial is not null then 'denied'
        when answer_blocks.is_error then 'failed'
        else 'ok'
    end as outcome,
    retries.is_retry,
    case when answer_blocks.is_error then answer_blocks.preview end as error_preview,
    answer_blocks.text_chars as result_chars,
    answered.result_meta,
    answer_blocks.output_file,
    answered.lines_added,
    answered.lines_removed,
    coalesce(answered.spawned_agent_id, links.agent_id) as spawned_agent_id,
    line_turns.turn_id,
    called.version,
    coalesce(agent_spans.is_warmup, false) as is_warmup,
    called.is_sidechain,
    called.is_background,
    called.is_forked,
    session_facts.session_started_at,
    session_facts.session_ended_at
from calls
join blocks as call_blocks using (block_no)
join lines as called on call_blocks.entry_no = called.entry_no
join line_turns on call_blocks.entry_no = line_turns.entry_no
join answers on calls.block_no = answers.call_no
join retries on calls.block_no = retries.block_no
left join blocks as answer_blocks on answers.block_no = answer_blocks.block_no
left join lines as answered on answer_blocks.entry_no = answered.entry_no
left join links
    on called.session_id = links.session_id
    and calls.tool_use_id = links.tool_use_id
left join agent_spans
    on called.file_no = agent_spans.file_no
    and called.generation = agent_spans.generation
    and called.agent_id = agent_spans.agent_id
left join session_facts on called.session_id = session_facts.session_id
order by called.file_id, called.generation, call_blocks.block_no
