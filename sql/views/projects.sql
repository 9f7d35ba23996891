-- Directories in which sessions began, and the project that each belongs to: worktrees belong to the
-- directory they were made from, and a directory that moved to where it is now.
-- grain: one directory in which sessions began
-- directory         as `project` has it in the other tables
-- project           the project it belongs to; itself where nothing says otherwise
-- rule              how that was told: worktree (logged), worktree_path (.claude/worktrees/NAME), moved
--   (a session was moved to a directory of the same name); null for itself
-- sessions          sessions that began there
-- first_started_at  when the first of them began
-- last_ended_at     when the last of them ended
with recursive

directories as (
    select
        project as directory,
        count(*) as sessions,
        min(started_at) as first_started_at,
        max(ended_at) as last_ended_at
    from session_marks
    where project is not null
    group by project
),

told as (
    select
        unnest(from_json(worktrees, '[{"worktree": "VARCHAR", "home": "VARCHAR"}]')) as told,
        session_id
    from session_marks
    where worktrees is not null
),

logged as (
    select rtrim(told.worktree, '/') as worktree, max_by(told.home, session_id) as home
    from told
    where rtrim(told.worktree, '/') <> rtrim(told.home, '/')
    group by worktree
),

-- Of a directory that sessions were moved out of, and that none began in since.
moved as (
    select marks.project as directory, arg_max(marks.relocated_to, marks.ended_at) as home
    from session_marks as marks
    where marks.relocated_to <> marks.project
        and split_part(rtrim(marks.relocated_to, '/'), '/', -1)
            = split_part(rtrim(marks.project, '/'), '/', -1)
    group by marks.project
),

steps as (
    select directories.directory, logged.home, 'worktree' as rule, 1 as rank
    from directories
    join logged
        on directories.directory = logged.worktree
        or starts_with(directories.directory, logged.worktree || '/')

    union all

    select
        directory,
        regexp_extract(directory, '^(.+?)/\.claude/worktrees/[^/]+', 1) as home,
        'worktree_path' as rule,
        2 as rank
    from directories
    where regexp_matches(directory, '^.+?/\.claude/worktrees/[^/]+')

    union all

    select directory, home, 'moved' as rule, 3 as rank from moved
),

first_steps as (
    select directory, home, rule
    from steps
    qualify row_number() over (partition by directory order by rank, home) = 1
),

-- A worktree of a project that moved since; in circles nobody goes twice.
walks as (
    select directory, home as project, rule, [directory] as seen from first_steps

    union all

    select walks.directory, first_steps.home, walks.rule, list_append(walks.seen, walks.project)
    from walks
    join first_steps on walks.project = first_steps.directory
    where not list_contains(walks.seen, walks.project)
),

ends as (
    select directory, arg_max(project, len(seen)) as project, min(rule) as rule
    from walks
    group by directory
)

select
    directories.directory,
    coalesce(ends.project, directories.directory) as project,
    ends.rule,
    directories.sessions,
    directories.first_started_at,
    directories.last_ended_at
from directories
left join ends
    on directories.directory = ends.directory
    and ends.project <> directories.directory
