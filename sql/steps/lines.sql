-- Entries that can count, each with its key and what decides who owns it.
-- grain: one entry of a main or agent file
with recursive

-- Before agents had files of their own, they wrote into the log of their session.
side_lines as (
    select
        entry_no,
        file_no,
        generation,
        uuid,
        parent_uuid,
        last_value(case when type = 'user' then uuid end ignore nulls) over (
            partition by file_no, generation order by entry_no
        ) as last_prompt_uuid
    from entries
    where layout = 'main' and is_sidechain and uuid is not null and agent_id is null
),

-- A uuid that stands several times is followed once, from its first line on: threads that many
-- lines share must not be walked line by line.
side_uuids as (
    select file_no, generation, uuid, arg_min(parent_uuid, entry_no) as parent_uuid
    from side_lines
    group by file_no, generation, uuid
),

side_firsts as (
    select firsts.*
    from side_lines as firsts
    anti join side_uuids as parents
        on firsts.file_no = parents.file_no
        and firsts.generation = parents.generation
        and firsts.parent_uuid = parents.uuid
),

-- A thread begins with a prompt; a line whose parent is not there belongs to the last one.

side_threads as (
    select file_no, generation, uuid, min(last_prompt_uuid) as agent_id
    from side_firsts
    group by file_no, generation, uuid

    union

    select next.file_no, next.generation, next.uuid, threads.agent_id
    from side_threads as threads
    join side_uuids as next
        on threads.file_no = next.file_no
        and threads.generation = next.generation
        and threads.uuid = next.parent_uuid
),

side_agents as (
    select file_no, generation, uuid, min(agent_id) as agent_id
    from side_threads
    group by file_no, generation, uuid
),

inline_agents as (
    select entry_no, last_prompt_uuid as agent_id from side_firsts

    union all

    select side_lines.entry_no, parents.agent_id
    from side_lines
    join side_agents as parents
        on side_lines.file_no = parents.file_no
        and side_lines.generation = parents.generation
        and side_lines.parent_uuid = parents.uuid
),

-- A line without a uuid is the same line in every copy of its session: by its bytes, and by how
-- many of the same came before it in the file.
nameless as (
    select
        entry_no,
        session_id || ':' || line_hash || ':' || object_index || ':' || row_number() over (
            partition by file_no, generation, line_hash, object_index order by entry_no
        ) as entry_key
    from entries
    where layout <> 'other' and uuid is null
)

select
    entries.entry_no,
    entries.file_no,
    entries.file_id,
    entries.generation,
    entries.line_no,
    entries.byte_start,
    entries.byte_end,
    entries.object_index,
    entries.session_id,
    coalesce(entries.agent_id, inline_agents.agent_id) as agent_id,
    entries.layout,
    entries.type,
    entries.subtype,
    entries.uuid,
    entries.is_sidechain,
    entries.occurred_at,
    entries.cwd,
    entries.git_branch,
    entries.version,
    entries.entrypoint,
    entries.message_id,
    entries.request_id,
    entries.model,
    entries.role,
    entries.stop_reason,
    entries.input_tokens,
    entries.output_tokens,
    entries.cache_read_tokens,
    entries.cache_creation_tokens,
    entries.ephemeral_5m_tokens,
    entries.ephemeral_1h_tokens,
    entries.thinking_tokens,
    entries.web_search_requests,
    entries.service_tier,
    entries.speed,
    entries.inference_geo,
    entries.iterations,
    entries.fallback_credit,
    entries.has_odd_count,
    entries.prompt_kind,
    entries.prompt,
    entries.duration_ms,
    entries.compact_trigger,
    entries.pre_tokens,
    entries.post_tokens,
    entries.is_compact_summary,
    entries.spawned_agent_id,
    entries.workflow_run_id,
    entries.spawned_run_id,
    entries.linked_tool_use_id,
    entries.result_meta,
    entries.is_interrupt,
    entries.denial,
    entries.lines_added,
    entries.lines_removed,
    entries.source_uuid,
    entries.prompt_preview,
    coalesce(entries.forked_from_uuid, entries.uuid, nameless.entry_key) as entry_key,
    entries.layout <> 'main' as is_agent_file,
    inline_agents.agent_id is not null as is_inline_agent,
    coalesce(entries.session_kind = 'bg', false) as is_background,
    entries.forked_from_uuid is not null
        -- Older versions copied what they resumed and left the id of its session in the lines.
        or (entries.layout = 'main' and coalesce(entries.logged_session_id <> entries.session_id, false))
        as is_forked
from entries
left join nameless using (entry_no)
left join inline_agents using (entry_no)
where entries.layout <> 'other'
