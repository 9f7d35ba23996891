-- What the blocks of an entry add up to.
-- grain: one entry that has blocks
select
    entry_no,
    count(*) filter (where block_type = 'text') as text_blocks,
    count(*) filter (where ends_with(block_type, 'thinking')) as thinking_blocks,
    count(*) filter (where ends_with(block_type, 'tool_use')) as tool_use_blocks,
    count(*) filter (where ends_with(block_type, 'tool_result')) as tool_result_blocks,
    count(*) filter (
        where not regexp_full_match(coalesce(block_type, ''), 'text|.*thinking|.*tool_(use|result)')
    ) as other_blocks,
    sum(text_chars)::bigint as text_chars,
    bit_xor(hash(block_index, block_type, tool_use_id, text_chars, preview)) as fingerprint,
    arg_min(preview, block_index) filter (where block_type = 'text') as text_preview
from blocks
group by entry_no
