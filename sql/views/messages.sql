-- Messages, once over all files. The owner gives session, agent, turn and time; the counts of
-- blocks come from the fullest copy.
-- grain: one message: an assistant response (all its lines), or one user message
with

-- Most messages stand once and are as they are; only the others have to be settled.
copied as (
    select message_hash from raw.messages group by message_hash having count(*) > 1
),

-- A response replayed in a side thread may carry another request id and is the same response.
told as (
    select
        *,
        bool_or(not coalesce(is_sidechain, false)) over (
            partition by message_id, role, request_id
        ) as is_in_main_thread,
        coalesce(
            min(request_id) filter (where not coalesce(is_sidechain, false))
                over (partition by message_id, role),
            min(request_id) over (partition by message_id, role)
        ) as told_request_id
    from raw.messages
    semi join copied using (message_hash)
),

keyed as (
    select
        * exclude (is_in_main_thread, told_request_id)
        replace (
            case
                when message_id is not null
                and told_request_id is not null
                and not is_in_main_thread
                    then message_id || ':' || told_request_id
                else key
            end as key
        )
    from told
),

ranked as (
    select
        *,
        row_number() over (
            partition by key, role
            order by
                coalesce(is_sidechain, false),
                is_background,
                is_forked,
                session_started_at nulls last,
                session_ended_at nulls last,
                session_id,
                agent_id nulls first,
                line_no,
                generation desc,
                file_id
        ) as owner_rank,
        row_number() over (
            partition by key, role order by line_count desc, text_chars desc, line_no, file_id
        ) as fullest_rank
    from keyed
)

select * from raw.messages anti join copied using (message_hash)

union all

select
    owners.* exclude (owner_rank, fullest_rank)
    replace (
        coalesce(owners.stop_reason, fullest.stop_reason) as stop_reason,
        fullest.text_blocks as text_blocks,
        fullest.thinking_blocks as thinking_blocks,
        fullest.tool_use_blocks as tool_use_blocks,
        fullest.tool_result_blocks as tool_result_blocks,
        fullest.other_blocks as other_blocks,
        fullest.text_chars as text_chars,
        fullest.text_preview as text_preview,
        fullest.line_count as line_count,
        owners.is_final or fullest.is_final as is_final
    )
from ranked as owners
join ranked as fullest
    on owners.key = fullest.key and owners.role = fullest.role and fullest.fullest_rank = 1
where owners.owner_rank = 1
