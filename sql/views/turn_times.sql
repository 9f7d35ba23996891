-- Turns, once over all files: forks and resumed logs repeat them.
-- grain: one human turn
select
    * replace (
        max(ended_at) over (partition by turn_id) as ended_at,
        bool_or(was_interrupted) over (partition by turn_id) as was_interrupted
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
