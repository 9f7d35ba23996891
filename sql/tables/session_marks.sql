-- What the own files of a session say of it, copies and agents included: the last of each kind.
-- grain: one session of a machine
with

-- Names of agents stand in agents' files, too; what the main file says goes before.
own_lines as (
    select
        *,
        layout <> 'main' as is_agent,
        (layout = 'main', generation, line_no, object_index, file_id) as place
    from entries
    where layout <> 'other'
),

firsts as (
    select session_id, min((is_agent, generation, line_no, object_index, file_id)) as place
    from own_lines
    group by session_id
),

spans as (
    select
        session_id,
        count(distinct coalesce(uuid, line_hash::varchar)) as entries,
        min(occurred_at) as started_at,
        max(occurred_at) as ended_at,
        arg_max(git_branch, place) filter (where git_branch is not null) as git_branch,
        arg_max(cwd, place) filter (where cwd is not null) as cwd,
        arg_max(version, place) filter (where version is not null) as version,
        arg_max(entrypoint, place) filter (where entrypoint is not null) as entrypoint,
        arg_max(slug, place) filter (where slug is not null) as plan_slug,
        arg_max(session_kind, place) filter (where session_kind is not null) as session_kind,
        arg_max(team_name, place) filter (where team_name is not null) as team_name,
        arg_max(agent_name, place) filter (where team_name is not null) as agent_name,
        arg_min(forked_from_session_id, place) filter (
            where forked_from_session_id is not null
        ) as forked_from,
        arg_max(answer_preview, place) filter (where answer_preview is not null) as recent_output
    from own_lines
    group by session_id
),

places as (
    select session_id, cwd, min((is_agent, place)) as first_place
    from own_lines
    where cwd is not null
    group by session_id, cwd
),

cwds as (
    select session_id, to_json(list(cwd order by first_place))::varchar as cwds
    from places
    group by session_id
),

state_records as (
    select
        session_id,
        place,
        type,
        occurred_at,
        agent_name,
        nullif(json_extract_string(state, '$.customTitle'), '') as custom_title,
        nullif(json_extract_string(state, '$.aiTitle'), '') as ai_title,
        nullif(json_extract_string(state, '$.summary'), '') as summary,
        json_extract_string(state, '$.leafUuid') as leaf_uuid,
        json_extract_string(state, '$.prUrl') as pr_url,
        json_extract_string(state, '$.worktreeSession.worktreePath') as worktree,
        json_extract_string(state, '$.worktreeSession.worktreeName') as worktree_name,
        coalesce(
            json_extract_string(state, '$.worktreeSession.originalCwd'),
            json_extract_string(state, '$.worktreeSession.preEnterOriginalCwd')
        ) as worktree_home,
        json_extract_string(state, '$.relocatedCwd') as relocated_to,
        json_extract_string(state, '$.continuedInSessionId') as continued_in,
        json_extract_string(state, '$.totalCostUSD') as cost_usd
    from own_lines
    where state is not null or type = 'agent-name'
),

states as (
    select
        session_id,
        arg_max(agent_name, place) filter (where type = 'agent-name') as name,
        arg_max(custom_title, place) filter (where type = 'custom-title') as custom_title,
        arg_max(ai_title, place) filter (where type = 'ai-title') as ai_title,
        arg_max(pr_url, place) filter (where type = 'pr-link') as pr_url,
        -- Leaving a worktree is logged as null, which counts.
        arg_max_null(worktree, place) filter (where type = 'worktree-state') as worktree,
        arg_max(worktree_name, place) filter (where type = 'worktree-state') as worktree_name,
        arg_max(relocated_to, place) filter (where type = 'relocated') as relocated_to,
        arg_max(continued_in, place) filter (where type = 'continued-in') as continued_in,
        arg_max(cost_usd, place) filter (where type = 'cost-state') as reported_cost_usd,
        to_json(
            list({'leaf_uuid': leaf_uuid, 'summary': summary} order by place) filter (
                where type = 'summary' and summary is not null and leaf_uuid is not null
            )
        )::varchar as summaries
    from state_records
    group by session_id
),

-- A link is logged again with every save; what it is about was made when it came up first.
pull_requests as (
    select
        session_id,
        to_json(
            list({'pr_url': pr_url, 'linked_at': linked_at} order by first_place)
        )::varchar as pr_links
    from (
        select session_id, pr_url, min(occurred_at) as linked_at, min(place) as first_place
        from state_records
        where type = 'pr-link' and pr_url is not null
        group by session_id, pr_url
    )
    group by session_id
),

worktrees as (
    select
        session_id,
        to_json(
            list({'worktree': worktree, 'home': home} order by first_place)
        )::varchar as worktrees
    from (
        select
            session_id,
            worktree,
            arg_max(worktree_home, place) as home,
            min(place) as first_place
        from state_records
        where type = 'worktree-state' and worktree is not null and worktree_home is not null
        group by session_id, worktree
    )
    group by session_id
),

-- A title may stand beside the log alone; one in the log is later.
titles_beside as (
    select session_id, arg_max(custom_title, (generation, file_id)) as custom_title
    from sidecars
    where custom_title is not null
    group by session_id
),

own_messages as (
    select *, (generation, line_no, file_id) as place
    from messages
    where agent_id is null and not coalesce(is_sidechain, false)
),

-- What stands in its own files, whoever owns it.
contents as (
    select
        session_id,
        coalesce(bool_or(prompt_kind in ('human', 'command', 'bash', 'queued', 'sdk')), false)
            as has_prompt,
        coalesce(bool_or(role = 'assistant' and coalesce(model, '') <> '<synthetic>'), false)
            as has_answer,
        arg_min(text_preview, place) filter (
            where prompt_kind in ('human', 'queued', 'sdk')
        ) as first_prompt,
        arg_min(trim(text_preview, e' \t\r\n'), place) filter (
            where role = 'user' and tool_result_blocks = 0
        ) as first_words,
        arg_max(model, place) filter (
            where role = 'assistant' and coalesce(model, '<synthetic>') <> '<synthetic>'
        ) as model,
        arg_max(stop_reason is not null, place) filter (where role = 'assistant')
            as last_is_complete,
        arg_max(text_blocks > 0, place) filter (where role = 'assistant') as last_has_words,
        max({'generation': generation, 'line_no': line_no}) filter (where role = 'assistant')
            as last_place
    from own_messages
    group by session_id
),

-- A call that a later response passed over will never be answered.
pending as (
    select
        calls.session_id,
        arg_max(calls.tool_name, (calls.generation, calls.line_no)) as tool_name,
        arg_max(calls.tool_use_id, (calls.generation, calls.line_no)) as tool_use_id
    from tool_calls as calls
    join contents using (session_id)
    where calls.answered_at is null
        and calls.agent_id is null
        and (calls.generation, calls.line_no)
            >= (contents.last_place.generation, contents.last_place.line_no)
    group by calls.session_id
)

select
    lines.file_id,
    lines.generation,
    lines.line_no,
    lines.byte_start,
    lines.byte_end,
    lines.object_index,
    spans.session_id,
    spans.started_at,
    spans.ended_at,
    spans.entries,
    session_facts.project,
    spans.cwd,
    cwds.cwds,
    spans.git_branch,
    states.worktree,
    states.worktree_name,
    worktrees.worktrees,
    states.relocated_to,
    states.name,
    coalesce(states.custom_title, titles_beside.custom_title) as custom_title,
    states.ai_title,
    states.summaries,
    contents.first_prompt,
    spans.recent_output,
    contents.model,
    pending.tool_name as pending_tool,
    pending.tool_use_id as pending_tool_use_id,
    coalesce(contents.last_is_complete, false) as last_is_complete,
    coalesce(contents.last_has_words, false) as last_has_words,
    coalesce(contents.has_prompt, false) as has_prompt,
    coalesce(contents.has_answer, false) as has_answer,
    coalesce(contents.first_words = 'Warmup', false) as is_warmup,
    states.reported_cost_usd,
    spans.forked_from,
    states.continued_in,
    states.pr_url,
    pull_requests.pr_links,
    spans.plan_slug,
    spans.entrypoint,
    spans.version,
    spans.session_kind,
    spans.team_name,
    spans.agent_name
from spans
join firsts using (session_id)
join own_lines as lines
    on firsts.session_id = lines.session_id
    and firsts.place = (
        lines.is_agent, lines.generation, lines.line_no, lines.object_index, lines.file_id
    )
left join cwds on spans.session_id = cwds.session_id
left join session_facts on spans.session_id = session_facts.session_id
left join states on spans.session_id = states.session_id
left join pull_requests on spans.session_id = pull_requests.session_id
left join worktrees on spans.session_id = worktrees.session_id
left join titles_beside on spans.session_id = titles_beside.session_id
left join contents on spans.session_id = contents.session_id
left join pending on spans.session_id = pending.session_id
order by lines.file_id, lines.generation, lines.line_no, lines.object_index
