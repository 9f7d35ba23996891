-- Files in which Claude Code keeps outputs that were too long for the log: their names and sizes, with the call.
-- grain: one file in a tool-results folder
-- session_id   session in whose folder it lies
-- file_name    name of the file
-- path         path below the log folder, where it was last seen
-- size         bytes
-- tool_use_id  the call that it answers; null where nothing says which
-- tool_name    tool that was called
-- link_rule    how that was told: output (the answer names the file) or name (the file is named for the call)
-- gone_at      when it was first missed; null while it is there
-- source       the machine it was read on
with

files as (
    select
        file_id,
        session_id,
        regexp_extract(path, '[^/]*$') as file_name,
        path,
        size,
        gone_at,
        source
    from source_files
    where layout = 'tool_result'
),

claims as (
    select files.file_id, calls.tool_use_id, calls.tool_name, 'output' as link_rule, 1 as rank
    from files
    join tool_calls as calls
        on files.session_id = calls.session_id and files.file_name = calls.output_file

    union all

    select files.file_id, calls.tool_use_id, calls.tool_name, 'name', 2
    from files
    join tool_calls as calls on regexp_extract(files.file_name, '^[^.]*') = calls.tool_use_id
),

best as (
    select *
    from claims
    qualify row_number() over (partition by file_id order by rank, tool_use_id) = 1
)

select
    files.session_id,
    files.file_name,
    files.path,
    files.size,
    best.tool_use_id,
    best.tool_name,
    best.link_rule,
    files.gone_at,
    files.source
from files
left join best using (file_id)
