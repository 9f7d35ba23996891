-- Sessions: what each was about, how it stands and what it used, agents included.
-- grain: one session
-- session_id         the session, told by file and folder
-- source             the machine whose logs it was read from
-- title              name, custom title, made-up title, summary or first prompt, the first there is
-- title_source       which of these it is: name, custom, ai, summary or prompt
-- goal               first 200 characters of the first prompt that is no command
-- recent_output      first 500 characters of the last answer in the main thread
-- status             waiting_for_approval, working, waiting_for_input or, after 5 minutes, idle
-- pending_tool       tool of the last call in the main thread that has no answer; null without one
-- model              model of the last response in the main thread
-- git_branch         branch of the last line that has one
-- cwd                working directory of the last line that has one
-- project            working directory in which it began
-- cwds               all working directories, in the order they came up
-- started_at         first instant
-- ended_at           last instant, agents included
-- entries            different entries in its files, agents included
-- turns              human turns that are its own
-- responses          API responses that are its own, agents included
-- output_tokens      output tokens of these
-- agents             agents that did work
-- cost_usd           list-price cost of its own responses; null if nothing has a price
-- unpriced_tokens    tokens that cost_usd leaves out
-- reported_cost_usd  what Claude Code's own books say, in the versions that keep them
-- is_empty           under 3 entries, or nobody asked, or nothing answered
-- is_warmup          its first prompt is Warmup
-- forked_from        session it was copied from, as logged or by what it repeats
-- continued_in       session that goes on from it, as logged
-- pr_url             last pull request linked to it
-- plan_slug          nickname, also the name of its plan file
-- worktree           path of the worktree it entered last; null when it left
-- relocated_to       directory it was moved to
-- entrypoint         how Claude Code was started
-- version            version of Claude Code of the last line that has one
-- session_kind       bg for background sessions
-- team_name          team of a teammate's session
-- agent_name         name of the teammate
-- lead_session_id    session that started the teammate
-- lead_tool_use_id   the call that did
with

lines as (
    select
        session_id,
        source,
        layout <> 'main' as is_agent,
        (layout = 'main', generation, line_no, object_index) as place,
        type,
        state,
        uuid,
        line_hash,
        occurred_at,
        cwd,
        git_branch,
        version,
        entrypoint,
        slug,
        session_kind,
        team_name,
        agent_name,
        forked_from_session_id
    from raw.entries
    where layout <> 'other'
),

spans as (
    select
        session_id,
        min(source) as source,
        count(distinct coalesce(uuid, line_hash::varchar)) as entries,
        min(occurred_at) as started_at,
        max(occurred_at) as ended_at,
        arg_max(git_branch, place) filter (where git_branch is not null) as git_branch,
        arg_max(cwd, place) filter (where cwd is not null) as cwd,
        arg_min(cwd, (is_agent, place)) filter (where cwd is not null) as project,
        arg_max(version, place) filter (where version is not null) as version,
        arg_max(entrypoint, place) filter (where entrypoint is not null) as entrypoint,
        arg_max(slug, place) filter (where slug is not null) as plan_slug,
        arg_max(session_kind, place) filter (where session_kind is not null) as session_kind,
        arg_max(team_name, place) filter (where team_name is not null) as team_name,
        arg_max(agent_name, place) filter (where team_name is not null) as agent_name,
        arg_min(forked_from_session_id, place) filter (
            where forked_from_session_id is not null
        ) as forked_from
    from lines
    group by session_id
),

places as (
    select session_id, cwd, min((is_agent, place)) as first_place
    from lines
    where cwd is not null
    group by session_id, cwd
),

cwds as (
    select session_id, list(cwd order by first_place) as cwds from places group by session_id
),

state_records as (
    select
        session_id,
        place,
        type,
        agent_name,
        nullif(json_extract_string(state, '$.customTitle'), '') as custom_title,
        nullif(json_extract_string(state, '$.aiTitle'), '') as ai_title,
        nullif(json_extract_string(state, '$.summary'), '') as summary,
        json_extract_string(state, '$.leafUuid') as leaf_uuid,
        json_extract_string(state, '$.prUrl') as pr_url,
        json_extract_string(state, '$.worktreeSession.worktreePath') as worktree,
        json_extract_string(state, '$.worktreeSession.worktreeName') as worktree_name,
        json_extract_string(state, '$.relocatedCwd') as relocated_to,
        json_extract_string(state, '$.continuedInSessionId') as continued_in,
        try_cast(json_extract_string(state, '$.totalCostUSD') as decimal(38, 12)) as cost_usd
    from lines
    where state is not null or type = 'agent-name'
),

-- State records are written again and again: the last of each kind is true.
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
        arg_max(cost_usd, place) filter (where type = 'cost-state') as reported_cost_usd
    from state_records
    group by session_id
),

-- A title may stand beside the log alone; one in the log is later.
titles_beside as (
    select session_id, arg_max(custom_title, (generation, file_id)) as custom_title
    from sidecars
    where custom_title is not null
    group by session_id
),

-- A summary names the message it ends with, and may stand in the file of another session.
summaries as (
    select ends.session_id, arg_max(titles.summary, titles.place) as summary
    from state_records as titles
    join lines as ends on titles.leaf_uuid = ends.uuid
    where titles.type = 'summary'
    group by ends.session_id
),

-- What stands in its own files, whoever owns it.
contents as (
    select
        session_id,
        bool_or(prompt_kind in ('human', 'command', 'bash', 'queued', 'sdk')) as has_prompt,
        bool_or(role = 'assistant' and coalesce(model, '') <> '<synthetic>') as has_answer,
        arg_min(text_preview, (generation, line_no)) filter (
            where prompt_kind in ('human', 'queued', 'sdk')
        ) as first_words
    from raw.messages
    where agent_id is null and not coalesce(is_sidechain, false)
    group by session_id
),

-- The first thing a person said; a command such as /clear only where nothing else was said.
prompts as (
    select
        session_id,
        count(*) as turns,
        left(
            arg_min(prompt, (prompt_kind in ('command', 'bash'), started_at, turn_id)) filter (
                where prompt is not null
            ),
            200
        ) as goal
    from turns
    group by session_id
),

beginnings as (
    select
        session_id,
        arg_min(trim(text_preview, e' \t\r\n'), (generation, line_no)) as first_words
    from raw.messages
    where role = 'user'
        and agent_id is null
        and tool_result_blocks = 0
        and not coalesce(is_sidechain, false)
    group by session_id
),

answers as (
    select
        session_id,
        arg_max(model, (generation, line_no)) filter (
            where coalesce(model, '<synthetic>') <> '<synthetic>'
        ) as model,
        arg_max(stop_reason is not null, (generation, line_no)) as is_complete,
        arg_max(text_blocks > 0, (generation, line_no)) as has_words,
        max((generation, line_no)) as place
    from raw.messages
    where role = 'assistant' and agent_id is null and not coalesce(is_sidechain, false)
    group by session_id
),

last_words as (
    select
        blocks.session_id,
        max((blocks.generation, blocks.line_no, blocks.object_index, blocks.block_index)) as place
    from raw.content_blocks as blocks
    semi join raw.entries as entries
        on blocks.file_id = entries.file_id
        and blocks.generation = entries.generation
        and blocks.line_no = entries.line_no
        and blocks.object_index = entries.object_index
        and entries.type = 'assistant'
        and entries.layout = 'main'
        and not coalesce(entries.is_sidechain, false)
    where blocks.block_type = 'text'
    group by blocks.session_id
),

outputs as (
    select blocks.session_id, min(left(blocks.text, 500)) as recent_output
    from raw.content_blocks as blocks
    join last_words
        on blocks.session_id = last_words.session_id
        and (blocks.generation, blocks.line_no, blocks.object_index, blocks.block_index)
            = last_words.place
    where blocks.agent_id is null
    group by blocks.session_id
),

-- A call that a later response passed over will never be answered.
pending as (
    select
        calls.session_id,
        arg_max(calls.tool_name, (calls.generation, calls.line_no)) as pending_tool
    from tool_calls as calls
    join answers using (session_id)
    where calls.answered_at is null
        and calls.agent_id is null
        and (calls.generation, calls.line_no) >= answers.place
    group by calls.session_id
),

-- A teammate runs in a session of its own; the call that started it names team and member.
leads as (
    select
        json_extract_string(result_meta, '$.team_name') as team_name,
        json_extract_string(result_meta, '$.name') as agent_name,
        arg_min(session_id, called_at) as session_id,
        arg_min(tool_use_id, called_at) as tool_use_id
    from tool_calls
    where json_extract_string(result_meta, '$.status') = 'teammate_spawned'
    group by all
),

agent_counts as (select session_id, count(*) as agents from work_agents group by session_id),

-- A copy without a word of it is told by whose messages it repeats.
repeats as (
    select copies.session_id, owners.session_id as owner_id, count(*) as messages
    from raw.messages as copies
    join messages as owners using (key, role)
    where copies.session_id <> owners.session_id
    group by all
),

origins as (
    select session_id, arg_max(owner_id, (messages, owner_id)) as owner_id
    from repeats
    group by session_id
)

select
    spans.session_id,
    spans.source,
    coalesce(
        nullif(states.name, states.worktree_name),
        nullif(coalesce(states.custom_title, titles_beside.custom_title), states.worktree_name),
        states.ai_title,
        summaries.summary,
        prompts.goal,
        contents.first_words
    ) as title,
    case
        when nullif(states.name, states.worktree_name) is not null then 'name'
        when nullif(
            coalesce(states.custom_title, titles_beside.custom_title), states.worktree_name
        ) is not null then 'custom'
        when states.ai_title is not null then 'ai'
        when summaries.summary is not null then 'summary'
        when coalesce(prompts.goal, contents.first_words) is not null then 'prompt'
    end as title_source,
    coalesce(prompts.goal, contents.first_words) as goal,
    outputs.recent_output,
    case
        when spans.ended_at is null or spans.ended_at < now() - interval 5 minutes then 'idle'
        when pending.pending_tool is not null then 'waiting_for_approval'
        when answers.is_complete then 'waiting_for_input'
        when answers.has_words then 'working'
        else 'idle'
    end as status,
    pending.pending_tool,
    answers.model,
    spans.git_branch,
    spans.cwd,
    spans.project,
    coalesce(cwds.cwds, []::varchar[]) as cwds,
    spans.started_at,
    spans.ended_at,
    spans.entries,
    coalesce(prompts.turns, 0) as turns,
    coalesce(spend.responses, 0) as responses,
    coalesce(spend.output_tokens, 0) as output_tokens,
    coalesce(agent_counts.agents, 0) as agents,
    spend.cost_usd,
    coalesce(spend.unpriced_tokens, 0) as unpriced_tokens,
    states.reported_cost_usd,
    spans.entries < 3 or not coalesce(contents.has_prompt and contents.has_answer, false)
        as is_empty,
    coalesce(beginnings.first_words = 'Warmup', false) as is_warmup,
    coalesce(spans.forked_from, origins.owner_id) as forked_from,
    states.continued_in,
    states.pr_url,
    spans.plan_slug,
    states.worktree,
    states.relocated_to,
    spans.entrypoint,
    spans.version,
    spans.session_kind,
    spans.team_name,
    spans.agent_name,
    leads.session_id as lead_session_id,
    leads.tool_use_id as lead_tool_use_id
from spans
left join cwds using (session_id)
left join states using (session_id)
left join titles_beside using (session_id)
left join contents using (session_id)
left join summaries using (session_id)
left join prompts using (session_id)
left join answers using (session_id)
left join outputs using (session_id)
left join pending using (session_id)
left join beginnings using (session_id)
left join session_spend as spend using (session_id)
left join agent_counts using (session_id)
left join origins using (session_id)
left join leads on spans.team_name = leads.team_name and spans.agent_name = leads.agent_name
