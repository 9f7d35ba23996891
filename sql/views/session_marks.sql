-- Sessions as their files tell of them; one that two machines have, from the fuller.
-- grain: one session
select *
from raw.session_marks
qualify row_number() over (
    partition by session_id order by ended_at desc nulls last, entries desc, source
) = 1
