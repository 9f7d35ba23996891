-- Entries whose file, generation or bytes the ledger does not know.
-- severity: error
-- grain: one such entry
select entries.file_id, entries.generation, entries.line_no
from raw.entries as entries
left join source_files as files using (file_id)
where files.file_id is null
    or entries.generation > files.generation
    or (entries.generation = files.generation and entries.byte_end > files."offset")
