-- Lines that begin before the one before them ends, or end where none can.
-- severity: error
-- grain: one such line
with

places as (
    select file_id, generation, line_no, byte_start, byte_end from raw.entries

    union

    select file_id, generation, line_no, byte_start, byte_end from rejects

    union

    select file_id, generation, line_no, byte_start, byte_end from prompt_history
),

beside as (
    select
        *,
        lag(byte_end, 1, 0::bigint) over lines_before as end_before,
        lag(line_no, 1, 0::bigint) over lines_before as line_before
    from places
    window lines_before as (partition by file_id, generation order by byte_start, byte_end)
)

select files.path, beside.file_id, beside.generation, beside.line_no, beside.byte_start
from beside
left join source_files as files using (file_id)
where beside.byte_start < beside.end_before
    or beside.byte_end <= beside.byte_start
    or beside.line_no <= beside.line_before
