-- Turns, once over all files: forks and resumed logs repeat them. One that is the last of its log
-- may be gone on with in a copy; one that another follows ended where it did.
-- grain: one human turn
select
    * replace (
        case when is_last then max(ended_at) over (partition by turn_id) else ended_at end
            as ended_at,
        was_interrupted or (is_last and bool_or(was_interrupted) over (partition by turn_id))
            as was_interrupted
    )
from raw.turn_times
qualify row_number() over (
    partition by turn_id
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
