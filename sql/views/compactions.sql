-- Compactions, once over all files: forks and resumed logs repeat them.
-- grain: one compact_boundary
select *
from raw.compactions
qualify row_number() over (
    partition by key
    order by
        is_background,
        is_forked,
        session_started_at nulls last,
        session_ended_at nulls last,
        session_id,
        line_no,
        generation desc,
        file_id
) = 1
