-- Where the time of each turn went: between two lines of the main thread it was waited for the later.
-- grain: one turn of a file, in one generation
with

turn_lines as (
    select
        lines.entry_no,
        lines.file_no,
        lines.generation,
        own_turns.turn_id,
        lines.type,
        lines.subtype,
        lines.model,
        lines.duration_ms,
        lines.is_interrupt or lines.prompt_kind = 'interrupt' as is_interrupt,
        lines.occurred_at
    from lines
    join own_turns using (entry_no)
    where own_turns.turn_id is not null and not coalesce(lines.is_sidechain, false)
    -- History that is appended again took no time.
    qualify row_number() over (
        partition by lines.file_no, lines.generation, lines.entry_key order by lines.entry_no
    ) = 1
),

calls as (
    select file_no, tool_use_id, min(tool_name) as tool_name
    from blocks
    where ends_with(block_type, 'tool_use') and tool_use_id is not null
    group by file_no, tool_use_id
),

-- A question and a plan wait for a person; every other result for its tool.
answers as (
    select
        blocks.entry_no,
        bool_and(coalesce(calls.tool_name in ('AskUserQuestion', 'ExitPlanMode'), false))
            as is_of_person
    from blocks
    left join calls using (file_no, tool_use_id)
    where ends_with(blocks.block_type, 'tool_result')
    group by blocks.entry_no
),

-- Clocks step back: what was waited for is counted from the latest instant before.
waits as (
    select
        turn_lines.*,
        max(turn_lines.occurred_at) over (
            partition by turn_lines.file_no, turn_lines.generation, turn_lines.turn_id
            order by turn_lines.entry_no
            rows between unbounded preceding and 1 preceding
        ) as latest_before,
        greatest(date_diff('millisecond', latest_before, turn_lines.occurred_at), 0) as waited_ms,
        case
            when turn_lines.type = 'assistant' and turn_lines.model is distinct from '<synthetic>'
                then 'model'
            when answers.is_of_person then 'person'
            when not answers.is_of_person then 'tools'
        end as waited_for
    from turn_lines
    left join answers using (entry_no)
    where turn_lines.type in ('user', 'assistant')
),

spans as (
    select
        file_no,
        generation,
        turn_id,
        arg_min(occurred_at, entry_no) filter (where occurred_at is not null) as started_at,
        max(occurred_at) as ended_at,
        bool_or(is_interrupt) as was_interrupted,
        arg_min(occurred_at, entry_no) filter (where waited_for = 'model') as first_answer_at,
        coalesce(sum(waited_ms) filter (where waited_for = 'model'), 0)::bigint as model_ms,
        coalesce(sum(waited_ms) filter (where waited_for = 'tools'), 0)::bigint as tools_ms,
        coalesce(sum(waited_ms) filter (where waited_for = 'person'), 0)::bigint as person_ms
    from waits
    group by file_no, generation, turn_id
),

-- The program logs a turn's duration when it ends: the first such line after the prompt is its.
told as (
    select
        file_no,
        generation,
        turn_id,
        min(entry_no) as first_no,
        arg_min(duration_ms, entry_no) filter (
            where type = 'system' and subtype = 'turn_duration' and duration_ms is not null
        ) as logged_ms,
        count(*) filter (where type = 'system' and subtype = 'api_error') as api_errors
    from turn_lines
    group by file_no, generation, turn_id
),

contexts as (
    select
        file_id,
        generation,
        turn_id,
        arg_min(context_tokens, (line_no, object_index)) as context_start_tokens,
        arg_max(context_tokens, (line_no, object_index)) as context_tokens
    from (
        select
            *,
            coalesce(input_tokens, 0)
            + coalesce(cache_read_tokens, 0)
            + cache_write_5m_tokens
            + cache_write_1h_tokens as context_tokens
        from usage
        where agent_id is null and not coalesce(is_sidechain, false)
    )
    group by file_id, generation, turn_id
),

-- An instant before the one it is counted from is taken for that one.
turns as (
    select
        told.*,
        spans.* exclude (file_no, generation, turn_id),
        firsts.occurred_at as prompted_at,
        lag(spans.ended_at) over (
            partition by told.file_no, told.generation order by told.first_no
        ) as last_ended_at,
        lead(told.first_no) over (
            partition by told.file_no, told.generation order by told.first_no
        ) is null as is_last
    from told
    join lines as firsts on told.first_no = firsts.entry_no
    left join spans
        on told.file_no = spans.file_no
        and told.generation = spans.generation
        and told.turn_id = spans.turn_id
)

select
    firsts.file_id,
    firsts.generation,
    firsts.line_no,
    firsts.byte_start,
    firsts.byte_end,
    firsts.object_index,
    firsts.session_id,
    turns.turn_id,
    firsts.prompt_kind,
    firsts.prompt,
    coalesce(turns.prompted_at, turns.started_at) as started_at,
    greatest(turns.prompted_at, turns.ended_at) as ended_at,
    case
        when turns.last_ended_at is not null and turns.prompted_at is not null
            then greatest(date_diff('millisecond', turns.last_ended_at, turns.prompted_at), 0)
    end as idle_before_ms,
    case
        when turns.first_answer_at is not null and turns.prompted_at is not null
            then greatest(date_diff('millisecond', turns.prompted_at, turns.first_answer_at), 0)
    end as first_answer_ms,
    coalesce(turns.model_ms, 0) as model_ms,
    coalesce(turns.tools_ms, 0) as tools_ms,
    coalesce(turns.person_ms, 0) as person_ms,
    turns.logged_ms,
    turns.api_errors,
    contexts.context_start_tokens,
    contexts.context_tokens,
    coalesce(turns.was_interrupted, false) as was_interrupted,
    turns.is_last,
    firsts.is_background,
    firsts.is_forked,
    session_facts.session_started_at,
    session_facts.session_ended_at
from turns
join lines as firsts on turns.first_no = firsts.entry_no
left join contexts
    on firsts.file_id = contexts.file_id
    and firsts.generation = contexts.generation
    and turns.turn_id = contexts.turn_id
left join session_facts on firsts.session_id = session_facts.session_id
order by firsts.file_id, firsts.generation, firsts.entry_no
