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

-- A summary names the message it ends with, and may stand in the file of another session.
told_summaries as (
    select
        file_id,
        unnest(from_json(summaries, '[{"leaf_uuid": "VARCHAR", "summary": "VARCHAR"}]')) as told,
        generate_subscripts(from_json(summaries, '["JSON"]'), 1) as summary_no
    from raw.session_marks
    where summaries is not null
),

summaries as (
    select
        ends.session_id,
        arg_max(
            told_summaries.told.summary, (told_summaries.summary_no, told_summaries.file_id)
        ) as summary
    from told_summaries
    join raw.entries as ends on told_summaries.told.leaf_uuid = ends.uuid
    where ends.layout <> 'other'
    group by ends.session_id
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
    from turn_times
    group by session_id
),

-- A copy elsewhere may have the answer.
pending as (
    select marks.session_id, marks.pending_tool
    from session_marks as marks
    anti join (select tool_use_id from raw.tool_calls where answered_at is not null) as answered
        on marks.pending_tool_use_id = answered.tool_use_id
    where marks.pending_tool_use_id is not null
),

-- A teammate runs in a session of its own; the call that started it names team and member.
leads as (
    select
        json_extract_string(result_meta, '$.team_name') as team_name,
        json_extract_string(result_meta, '$.name') as agent_name,
        arg_min(session_id, (called_at, is_forked)) as session_id,
        arg_min(tool_use_id, (called_at, is_forked)) as tool_use_id
    from raw.tool_calls
    where contains(result_meta, 'teammate_spawned')
        and json_extract_string(result_meta, '$.status') = 'teammate_spawned'
    group by all
),

agent_counts as (select session_id, count(*) as agents from work_agents group by session_id),

copied as (
    select message_hash from raw.messages group by message_hash having count(*) > 1
),

copies as (
    select
        key,
        role,
        session_id,
        first_value(session_id) over (
            partition by key, role
            order by
                coalesce(is_sidechain, false),
                is_background,
                is_forked,
                session_started_at nulls last,
                session_ended_at nulls last,
                session_id
        ) as owner_id
    from raw.messages
    semi join copied using (message_hash)
),

-- A copy without a word of it is told by whose messages it repeats.
repeats as (
    select session_id, owner_id, count(*) as messages
    from copies
    where session_id <> owner_id
    group by all
),

origins as (
    select session_id, arg_max(owner_id, (messages, owner_id)) as owner_id
    from repeats
    group by session_id
),

titles as (
    select
        marks.session_id,
        nullif(marks.name, marks.worktree_name) as name,
        nullif(marks.custom_title, marks.worktree_name) as custom_title,
        coalesce(prompts.goal, marks.first_prompt) as goal
    from session_marks as marks
    left join prompts using (session_id)
)

select
    marks.session_id,
    marks.source,
    coalesce(
        titles.name, titles.custom_title, marks.ai_title, summaries.summary, titles.goal
    ) as title,
    case
        when titles.name is not null then 'name'
        when titles.custom_title is not null then 'custom'
        when marks.ai_title is not null then 'ai'
        when summaries.summary is not null then 'summary'
        when titles.goal is not null then 'prompt'
    end as title_source,
    titles.goal,
    marks.recent_output,
    case
        when marks.ended_at is null or marks.ended_at < now() - interval 5 minutes then 'idle'
        when pending.pending_tool is not null then 'waiting_for_approval'
        when marks.last_is_complete then 'waiting_for_input'
        when marks.last_has_words then 'working'
        else 'idle'
    end as status,
    pending.pending_tool,
    marks.model,
    marks.git_branch,
    marks.cwd,
    marks.project,
    coalesce(from_json(marks.cwds, '["VARCHAR"]'), []::varchar[]) as cwds,
    marks.started_at,
    marks.ended_at,
    marks.entries,
    coalesce(prompts.turns, 0) as turns,
    coalesce(spend.responses, 0) as responses,
    coalesce(spend.output_tokens, 0) as output_tokens,
    coalesce(agent_counts.agents, 0) as agents,
    spend.cost_usd,
    coalesce(spend.unpriced_tokens, 0) as unpriced_tokens,
    try_cast(marks.reported_cost_usd as decimal(38, 12)) as reported_cost_usd,
    marks.entries < 3 or not (marks.has_prompt and marks.has_answer) as is_empty,
    marks.is_warmup,
    coalesce(marks.forked_from, origins.owner_id) as forked_from,
    marks.continued_in,
    marks.pr_url,
    marks.plan_slug,
    marks.worktree,
    marks.relocated_to,
    marks.entrypoint,
    marks.version,
    marks.session_kind,
    marks.team_name,
    marks.agent_name,
    leads.session_id as lead_session_id,
    leads.tool_use_id as lead_tool_use_id
from session_marks as marks
join titles using (session_id)
left join summaries using (session_id)
left join prompts using (session_id)
left join pending using (session_id)
left join session_spend as spend using (session_id)
left join agent_counts using (session_id)
left join origins using (session_id)
left join leads on marks.team_name = leads.team_name and marks.agent_name = leads.agent_name
