-- The blocks of the entries that count. All physical rows are in raw.content_blocks.
-- grain: one block of a message
select blocks.*
from raw.content_blocks as blocks
semi join entries using (file_id, generation, line_no, object_index)
