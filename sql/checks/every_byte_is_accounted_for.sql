-- Logs whose bytes up to the offset are not, each exactly once, in an entry, a reject or a blank line;
-- also as they were before they were rewritten.
-- severity: error
-- grain: one generation of a log whose account does not come out
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
),

logs as (
    select file_id, generation, path, "offset", blank_bytes
    from source_files
    where kind not in ('sidecar', 'index', 'stats')

    union all

    select past.file_id, past.generation, files.path, past."offset", past.blank_bytes
    from past_generations as past
    left join source_files as files using (file_id)
    -- Of a history that was rewritten only those prompts stay that it no longer has.
    where files.kind is distinct from 'history'
)

select
    logs.path,
    logs.file_id,
    logs.generation,
    logs."offset",
    logs.blank_bytes,
    coalesce(sums.line_bytes, 0) as line_bytes
from logs
left join sums using (file_id, generation)
where logs."offset" <> logs.blank_bytes + coalesce(sums.line_bytes, 0)
