-- What each API response used, once over all files. The owner gives session, agent, turn, time,
-- project and branch; the tokens come whole from the copy with the largest output count.
-- grain: one API response; no <synthetic>
with

-- Most responses stand once and are as they are; only the others have to be settled.
copied as (
    select response_hash from raw.usage group by response_hash having count(*) > 1
),

copies as (
    select * from raw.usage semi join copied using (response_hash)
),

-- A response replayed in a side thread may carry another request id and is the same response.
requests as (
    select
        message_id,
        request_id,
        bool_or(not coalesce(is_sidechain, false)) as is_in_main_thread
    from copies
    where message_id is not null
    group by message_id, request_id
),

several_requests as (
    select
        message_id,
        coalesce(min(request_id) filter (where is_in_main_thread), min(request_id))
            as told_request_id
    from requests
    group by message_id
    having count(*) > 1
),

replays as (
    select requests.message_id, requests.request_id, several_requests.told_request_id
    from requests
    join several_requests using (message_id)
    where not requests.is_in_main_thread and several_requests.told_request_id is not null
),

keyed as (
    select
        copies.* replace (
            coalesce(replays.message_id || ':' || replays.told_request_id, copies.key) as key
        )
    from copies
    left join replays
        on copies.message_id = replays.message_id
        and copies.request_id is not distinct from replays.request_id
),

ranked as (
    select
        *,
        row_number() over (
            partition by key
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
            partition by key
            order by output_tokens desc nulls last, occurred_at desc, line_no desc, file_id
        ) as value_rank,
        bool_or(output_is_final) over (partition by key) as any_is_final,
        max(tool_search_requests) over (partition by key) as most_tool_searches
    from keyed
)

select * from raw.usage anti join copied using (response_hash)

union all

select
    owners.* exclude (owner_rank, value_rank, any_is_final, most_tool_searches)
    replace (
        largest.model as model,
        largest.stop_reason as stop_reason,
        largest.input_tokens as input_tokens,
        largest.output_tokens as output_tokens,
        largest.cache_read_tokens as cache_read_tokens,
        largest.cache_write_5m_tokens as cache_write_5m_tokens,
        largest.cache_write_1h_tokens as cache_write_1h_tokens,
        largest.thinking_tokens as thinking_tokens,
        largest.web_search_requests as web_search_requests,
        owners.most_tool_searches as tool_search_requests,
        largest.service_tier as service_tier,
        largest.speed as speed,
        largest.inference_geo as inference_geo,
        largest.iterations as iterations,
        largest.pieces as pieces,
        largest.flags as flags,
        owners.any_is_final as output_is_final
    )
from ranked as owners
join ranked as largest on owners.key = largest.key and largest.value_rank = 1
where owners.owner_rank = 1
