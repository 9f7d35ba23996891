-- Rows whose first line is no entry: tables of one part that are not of one commit.
-- severity: error
-- grain: one such row
with

derived as (
    select 'content_blocks' as table_name, file_id, generation, line_no, byte_start
    from raw.content_blocks

    union all

    select 'messages', file_id, generation, line_no, byte_start from raw.messages

    union all

    select 'usage', file_id, generation, line_no, byte_start from raw.usage

    union all

    select 'tool_calls', file_id, generation, line_no, byte_start from raw.tool_calls

    union all

    select 'agents', file_id, generation, line_no, byte_start from raw.agents

    union all

    select 'compactions', file_id, generation, line_no, byte_start from raw.compactions

    union all

    select 'turn_times', file_id, generation, line_no, byte_start from turn_times

    union all

    select 'session_marks', file_id, generation, line_no, byte_start from session_marks
)

select files.path, derived.*
from derived
left join source_files as files using (file_id)
anti join raw.entries as entries
    on derived.file_id = entries.file_id
    and derived.generation = entries.generation
    and derived.line_no = entries.line_no
    and derived.byte_start = entries.byte_start
