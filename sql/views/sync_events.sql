-- What was odd in the runs that committed: files moved, gone, rewritten, skipped or unreadable.
-- grain: one thing that was odd in one run
-- run_id      the run
-- started_at  when it began
-- source      machine whose logs it read
-- path        the file or folder, or what else it is about
-- what        what was odd
-- is_problem  whether something was left undone, so that the run ended with exit code 1
with

told as (
    select run_id, started_at, source, from_json(events, '[[["varchar"]]]') as lists
    from sync_runs
),

odd as (
    select run_id, started_at, source, unnest(lists[1]) as pair, false as is_problem from told

    union all

    select run_id, started_at, source, unnest(lists[2]) as pair, true as is_problem from told
)

select
    run_id,
    started_at,
    source,
    pair[1] as path,
    pair[2] as what,
    is_problem
from odd
