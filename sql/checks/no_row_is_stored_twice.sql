-- Places in a log that have more than one row in a table of facts.
-- severity: error
-- grain: one place in one table
with

places as (
    select 'entries' as table_name, file_id, generation, byte_start, object_index, 0 as block_index
    from raw.entries

    union all

    select 'content_blocks', file_id, generation, byte_start, object_index, block_index
    from raw.content_blocks

    union all

    select 'rejects', file_id, generation, byte_start, object_index, 0
    from rejects

    union all

    select 'prompt_history', file_id, generation, byte_start, object_index, 0
    from prompt_history

    union all

    select 'sidecars', file_id, generation, 0, 0, 0
    from sidecars
)

select files.path, places.*, count(*) as copies
from places
left join source_files as files using (file_id)
group by all
having count(*) > 1
