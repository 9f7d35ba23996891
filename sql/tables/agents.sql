-- Subagent transcripts, with the call that started them.
-- grain: one agent of a file, in one generation
with

-- A fork repeats the call that started it; that one was not its own.
call_counts as (
    select
        blocks.file_no,
        blocks.generation,
        lines.agent_id,
        count(distinct blocks.tool_use_id) as tool_call_count
    from blocks
    join lines using (entry_no)
    left join agent_links as links
        on lines.session_id = links.session_id
        and lines.agent_id = links.agent_id
    where (lines.is_agent_file or lines.is_inline_agent)
        and ends_with(blocks.block_type, 'tool_use')
        and blocks.tool_use_id is distinct from links.tool_use_id
    group by blocks.file_no, blocks.generation, lines.agent_id
),

response_counts as (
    select firsts.file_no, firsts.generation, firsts.agent_id, count(*) as response_count
    from responses
    join lines as firsts on responses.first_no = firsts.entry_no
    where firsts.agent_id is not null
    group by firsts.file_no, firsts.generation, firsts.agent_id
),

-- Several versions log no stop reason: an agent whose last words ask for no tool is done, too.
endings as (
    select
        spans.file_no,
        spans.generation,
        spans.agent_id,
        case
            when lasts.is_interrupt or lasts.prompt_kind = 'interrupt' then 'interrupted'
            when lasts.model = '<synthetic>' then 'failed'
            when lasts.stop_reason = 'refusal' then 'refused'
            when lasts.stop_reason in ('max_tokens', 'model_context_window_exceeded')
                then 'out_of_tokens'
            when lasts.stop_reason in ('end_turn', 'stop_sequence') then 'finished'
            when lasts.type = 'assistant'
                and lasts.stop_reason is null
                and block_counts.text_blocks > 0
                and block_counts.tool_use_blocks = 0
                then 'finished'
            else 'unfinished'
        end as ending
    from agent_spans as spans
    left join lines as lasts on spans.last_no = lasts.entry_no
    left join block_counts on spans.last_no = block_counts.entry_no
),

latest_sidecars as (
    select *
    from sidecars
    qualify row_number() over (
        partition by session_id, agent_id order by generation desc, file_id
    ) = 1
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
    coalesce(latest_sidecars.parent_agent_id, links.parent_agent_id) as parent_agent_id,
    coalesce(latest_sidecars.agent_type, links.agent_type) as agent_type,
    coalesce(latest_sidecars.description, links.description) as description,
    spans.prompt_preview,
    spans.model,
    links.tool_use_id,
    links.link_rule,
    spans.started_at,
    spans.ended_at,
    date_diff('millisecond', spans.started_at, spans.ended_at) as duration_ms,
    spans.line_count,
    coalesce(response_counts.response_count, 0) as response_count,
    coalesce(call_counts.tool_call_count, 0) as tool_call_count,
    endings.ending,
    spans.is_warmup,
    case when firsts.is_inline_agent then 'inline' else firsts.layout end as layout,
    coalesce(links.turn_id, own_turns.turn_id) as turn_id,
    firsts.is_sidechain,
    firsts.is_background,
    firsts.is_forked,
    session_facts.session_started_at,
    session_facts.session_ended_at
from agent_spans as spans
join lines as firsts on spans.first_no = firsts.entry_no
join endings
    on spans.file_no = endings.file_no
    and spans.generation = endings.generation
    and spans.agent_id = endings.agent_id
left join response_counts
    on spans.file_no = response_counts.file_no
    and spans.generation = response_counts.generation
    and spans.agent_id = response_counts.agent_id
left join call_counts
    on spans.file_no = call_counts.file_no
    and spans.generation = call_counts.generation
    and spans.agent_id = call_counts.agent_id
left join own_turns on spans.first_no = own_turns.entry_no
left join latest_sidecars
    on firsts.session_id = latest_sidecars.session_id
    and firsts.agent_id = latest_sidecars.agent_id
left join agent_links as links
    on firsts.session_id = links.session_id
    and firsts.agent_id = links.agent_id
left join session_facts on firsts.session_id = session_facts.session_id
order by firsts.file_id, firsts.generation
