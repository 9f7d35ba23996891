-- Blocks of the entries that can count, tied to them by one number.
-- grain: one block of a message
select
    blocks.block_no,
    blocks.block_index,
    blocks.block_type,
    blocks.text_chars,
    blocks.preview,
    blocks.tool_use_id,
    blocks.tool_name,
    blocks.target,
    blocks.is_error,
    blocks.output_file,
    blocks.agent_type,
    blocks.description,
    lines.entry_no,
    lines.file_no,
    lines.generation
from content_blocks as blocks
join lines using (file_id, generation, line_no, object_index)
