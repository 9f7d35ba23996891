-- When and where each session began.
-- grain: one session
with

-- In the order of a file's lines, as times step back; between files by time, as folders may move.
beginnings as (
    select
        session_id,
        is_agent_file,
        min(occurred_at) as began_at,
        max(occurred_at) as ended_at,
        arg_min(cwd, (generation, entry_no)) filter (where cwd is not null) as cwd
    from lines
    group by session_id, is_agent_file, file_no
)

select
    session_id,
    min(began_at) as session_started_at,
    max(ended_at) as session_ended_at,
    arg_min(cwd, (is_agent_file, began_at, cwd)) filter (where cwd is not null) as project
from beginnings
group by session_id
