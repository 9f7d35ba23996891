-- Logs that the last run to look at them could not read, or not trust: what is new in them waits.
-- severity: warning
-- grain: one such log
select path, "offset" as byte_start, size - "offset" as unread_bytes
from source_files
where gone_at is null
    and ctime_ns = 0
    and kind in ('main', 'agent', 'other', 'history')
    and layout <> 'tool_result'
