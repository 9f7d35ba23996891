-- entries: all are read; what was glued is two, what was written again is one
select line_no, object_index, type, uuid from entries order by line_no, object_index;

-- rejects: none, and the blank line is none
select line_no, reason from rejects;

-- turns
select turn_id, api_calls, output_tokens from turns order by started_at;

-- files: the empty one is known, and is no session
select files.session_id, size = "offset" as is_read, line_count, blank_bytes, sessions.session_id is not null as has_session
from source_files as files left join sessions using (session_id) order by 1;
