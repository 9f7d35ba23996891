-- The turn every entry of a main file stands in: that of the last prompt before it.
-- grain: one entry of a main file
with

starts as (
    select
        entry_no,
        file_no,
        generation,
        case
            when uuid is not null
            and not coalesce(is_sidechain, false)
            and prompt_kind in ('human', 'command', 'bash', 'queued', 'sdk')
                then entry_key
        end as begun_turn_id
    from lines
    where layout = 'main'
)

select
    entry_no,
    last_value(begun_turn_id ignore nulls) over (
        partition by file_no, generation
        order by entry_no
        rows between unbounded preceding and current row
    ) as turn_id
from starts
