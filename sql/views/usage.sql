-- What each API response used, once over all files. The owner gives session, agent, turn, time,
-- project and branch; the tokens come whole from the copy with the largest output count.
-- grain: one API response; no <synthetic>
with

-- Most responses stand once and are as they are; only the others have to be settled.
copied as (
    select hash(coalesce(message_id, key)) as response_hash
    from raw.usage
    group by response_hash
    having count(*) > 1
),

copies as (
    select responses.*
    from raw.usage as responses
    semi join copied on hash(coalesce(responses.message_id, responses.key)) = copied.response_hash
),

-- A response replayed in a side thread may carry another request id and is the same response.
told as (
    select
        *,
        bool_or(not coalesce(is_sidechain, false)) over (
            partition by message_id, request_id
        ) as is_in_main_thread,
        coalesce(
            min(request_id) filter (where not coalesce(is_sidechain, false))
                over (partition by message_id),
            min(request_id) over (partition by message_id)
        ) as told_request_id
    from copies
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

select responses.*
from raw.usage as responses
anti join copied on hash(coalesce(responses.message_id, responses.key)) = copied.response_hash

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
