-- Entries that can count, each with its key, its owner's rank and the turn it stands in.
-- grain: one entry of a main or agent file
with

keyed as (
    select
        *,
        coalesce(forked_from_uuid, uuid) as entry_key,
        layout <> 'main' as is_agent_file,
        coalesce(session_kind = 'bg', false) as is_background,
        forked_from_uuid is not null as is_forked
    from entries
    where layout <> 'other'
)

select
    *,
    last_value(
        case
            when layout = 'main'
            and not coalesce(is_sidechain, false)
            and prompt_kind in ('human', 'command', 'bash', 'queued', 'sdk')
                then entry_key
        end ignore nulls
    ) over (
        partition by file_id, generation
        order by line_no, object_index
        rows between unbounded preceding and current row
    ) as own_turn_id
from keyed
