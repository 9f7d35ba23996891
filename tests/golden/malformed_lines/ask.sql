-- rejects: kept whole, with the reason
select session_id, line_no, reason, raw from rejects order by session_id, line_no;

-- entries: two objects on one line are two
select session_id, line_no, object_index, uuid, raw is not null as keeps_raw from entries order by session_id, line_no, object_index;

-- texts
select session_id, text from content_blocks order by session_id, line_no, object_index;

-- raw bytes: kept where JSON cannot give the line back
select session_id, line_no, raw from entries where raw is not null order by session_id, line_no;

-- files: every line is counted
select session_id, line_count from source_files order by session_id;
