-- Where words stand in prompts, answers, thinking, and what went into tools and came out of them.
-- What is copied stands once: among the lines that are searched, by the rules of `entries`. Only
-- hits are settled, so that no text is read that has none of the words.
-- grain: one place where the words stand
-- occurred_at  instant of its line
-- project      working directory in which the session began
-- session_id   session whose line it is
-- agent_id     subagent that wrote it; null in the main thread
-- area         prompts, answers, inputs, results or thinking
-- tool_name    tool of the call
-- tool_use_id  the call
-- uuid         the entry
-- before       up to 200 characters before the words
-- hit          the words, as they stand
-- after        up to 200 characters after them
-- hits         hits in all, those beyond the limit included
with

texts as (
    select
        *,
        case
            when ends_with(block_type, 'tool_result') then 'results'
            when ends_with(block_type, 'thinking') then 'thinking'
            else 'words'
        end as kind
    from searched_blocks
),

found as (
    select
        file_id,
        generation,
        line_no,
        object_index,
        block_index,
        tool_use_id,
        null::varchar as tool_name,
        kind,
        hash(text) as body_hash,
        snippet_of(text, folded($words)) as snippet
    from texts
    where list_contains($kinds::varchar[], kind) and contains(folded(text), folded($words))

    union all

    select
        file_id,
        generation,
        line_no,
        object_index,
        block_index,
        tool_use_id,
        tool_name,
        'inputs' as kind,
        0::ubigint as body_hash,
        snippet_of(input, folded($words_in_json)) as snippet
    from searched_blocks
    where list_contains($kinds::varchar[], 'inputs') and contains(folded(input), folded($words_in_json))

    union all

    -- What was typed, without what an editor put in front, also where it is no message of its own.
    select
        file_id,
        generation,
        line_no,
        object_index,
        0 as block_index,
        null as tool_use_id,
        null as tool_name,
        'typed' as kind,
        0::ubigint as body_hash,
        snippet_of(prompt, folded($words)) as snippet
    from searched_entries
    semi join raw.messages using (file_id, generation, line_no, object_index)
    where list_contains($kinds::varchar[], 'typed') and contains(folded(prompt), folded($words))
),

placed as (
    select
        found.*,
        entries.session_id,
        entries.agent_id,
        entries.occurred_at,
        entries.uuid,
        case
            when found.kind = 'typed' then 'prompts'
            when found.kind <> 'words' then found.kind
            when entries.type = 'assistant' then 'answers'
            else 'prompts'
        end as area,
        -- A call and its result have an id, a response, too; other lines are known as in `entries`.
        coalesce(
            found.tool_use_id,
            case when entries.type = 'assistant' then entries.message_id end,
            entries.forked_from_uuid,
            entries.uuid,
            entries.session_id || ':' || entries.line_hash || ':' || entries.object_index
        ) as thing,
        coalesce(entries.is_sidechain, false) as is_in_side_thread,
        coalesce(entries.session_kind = 'bg', false) as is_background,
        entries.forked_from_uuid is not null
        or (
            entries.layout = 'main'
            and coalesce(entries.logged_session_id <> entries.session_id, false)
        ) as is_forked
    from found
    join raw.entries as entries using (file_id, generation, line_no, object_index)
    where entries.layout <> 'other'
        -- Of what was typed, only what is longer than `prompt` has to be looked for in its text.
        and (
            found.kind <> 'words'
            or entries.type = 'assistant'
            or coalesce(
                length(entries.prompt) >= 10000
                and not contains(folded(entries.prompt), folded($words)),
                true
            )
            and coalesce(entries.prompt_kind, '') not in (
                'meta', 'interrupt', 'task_notification', 'compact_summary', 'agent_prompt'
            )
        )
        and ($since::date is null or entries.occurred_at >= $since::date)
        and ($until::date is null or entries.occurred_at < $until::date + 1)
),

settled as (
    select placed.*, marks.project
    from placed
    left join session_marks as marks using (session_id)
    where list_contains($areas::varchar[], placed.area)
    qualify row_number() over (
        partition by placed.area, placed.thing, placed.body_hash
        order by
            placed.is_in_side_thread,
            placed.is_background,
            placed.is_forked,
            marks.started_at nulls last,
            marks.ended_at nulls last,
            placed.session_id,
            placed.agent_id nulls first,
            placed.line_no,
            placed.object_index,
            placed.block_index,
            placed.generation desc,
            placed.file_id
    ) = 1
),

called as (
    select tool_use_id, min(tool_name) as tool_name
    from raw.tool_calls
    semi join settled using (tool_use_id)
    group by tool_use_id
)

select
    settled.occurred_at,
    settled.project,
    settled.session_id,
    settled.agent_id,
    settled.area,
    coalesce(settled.tool_name, called.tool_name) as tool_name,
    settled.tool_use_id,
    settled.uuid,
    settled.snippet.before as before,
    settled.snippet.hit as hit,
    settled.snippet.after as after,
    count(*) over () as hits
from settled
left join called using (tool_use_id)
order by
    settled.occurred_at desc nulls last,
    settled.session_id,
    settled.line_no desc,
    settled.object_index desc,
    settled.block_index desc
limit $limit
