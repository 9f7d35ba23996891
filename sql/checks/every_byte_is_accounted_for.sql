-- Files whose bytes up to the offset are not, each exactly once, in an entry, a reject or a blank line.
-- grain: one log file whose account does not come out
with

places as (
    select file_id, generation, line_no, byte_start, byte_end from raw.entries

    union

    select file_id, generation, line_no, byte_start, byte_end from rejects

    union

    select file_id, generation, line_no, byte_start, byte_end from prompt_history
),

sums as (
    select file_id, generation, sum(byte_end - byte_start)::bigint as line_bytes
    from places
    group by all
)

select
    files.file_id,
    files.path,
    files."offset",
    files.blank_bytes,
    coalesce(sums.line_bytes, 0) as line_bytes
from source_files as files
left join sums using (file_id, generation)
where files.kind not in ('sidecar', 'index', 'stats')
    and files."offset" <> files.blank_bytes + coalesce(sums.line_bytes, 0)
