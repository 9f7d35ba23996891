-- Logs with bytes that are neither read nor waiting for their newline: unreadable, or too long to wait.
-- severity: warning
-- grain: one such log
select path, "offset" as byte_start, size - "offset" - octet_length(pending) as unread_bytes
from source_files
where gone_at is null
    and kind in ('main', 'agent', 'other', 'history')
    and layout <> 'tool_result'
    and size > "offset" + octet_length(pending)
