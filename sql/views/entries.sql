-- Entries with copies taken out: a line that stands again in a resumed, forked or moved log,
-- or in an older generation of its own, is here once. All physical rows are in raw.entries.
-- grain: one JSON object of a log line
with

-- Its steps stand inside it: with one that is read twice above the join, DuckDB would read every
-- column for a mere count.
spare as (
    with

    told as (
        select
            file_id,
            generation,
            line_no,
            object_index,
            session_id,
            agent_id,
            is_sidechain,
            session_kind,
            line_hash,
            coalesce(forked_from_uuid, uuid) as uuid,
            forked_from_uuid is not null
                or (layout = 'main' and coalesce(logged_session_id <> session_id, false))
                as is_forked,
            coalesce(
                hash(coalesce(forked_from_uuid, uuid)), hash(session_id, line_hash, object_index)
            ) as key_hash
        from raw.entries
        where layout <> 'other'
    ),

    -- Most lines stand once and are as they are; only the others have to be settled.
    copied as (
        select key_hash from told group by key_hash having count(*) > 1
    ),

    keyed as (
        select
            * exclude (uuid),
            coalesce(
                uuid,
                session_id || ':' || line_hash || ':' || object_index || ':' || row_number() over (
                    partition by file_id, generation, line_hash, object_index order by line_no
                )
            ) as key
        from told
        semi join copied using (key_hash)
    ),

    session_starts as (
        select
            session_id,
            min(session_started_at) as session_started_at,
            max(session_ended_at) as session_ended_at
        from raw.messages
        group by session_id
    )

    select keyed.file_id, keyed.generation, keyed.line_no, keyed.object_index
    from keyed
    left join session_starts using (session_id)
    qualify row_number() over (
        partition by keyed.key
        order by
            coalesce(keyed.is_sidechain, false),
            coalesce(keyed.session_kind = 'bg', false),
            keyed.is_forked,
            session_starts.session_started_at nulls last,
            session_starts.session_ended_at nulls last,
            keyed.session_id,
            keyed.agent_id nulls first,
            keyed.line_no,
            keyed.object_index,
            keyed.generation desc,
            keyed.file_id
    ) > 1
)

select entries.*
from raw.entries as entries
anti join spare using (file_id, generation, line_no, object_index)
where entries.layout <> 'other'
