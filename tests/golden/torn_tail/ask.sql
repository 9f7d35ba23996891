-- entries: the torn line is not here yet, the blank line counts as a line
select session_id, line_no, uuid, byte_start, byte_end from entries order by line_no;

-- rejects: a torn tail is not rejected
select count(*) as rejects from rejects;

-- files: the tail waits in the ledger
select session_id, size, "offset", line_count, blank_bytes, octet_length(pending) as pending_bytes, part is null as has_no_part
from source_files order by session_id;

-- turns: one, until the rest arrives
select turn_id, prompt from turns;
