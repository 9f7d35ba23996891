-- What each API response used: once a response, however many lines it took.
-- grain: one API response of a file, in one generation
with

response_lines as (
    select
        lines.*,
        line_turns.turn_id,
        coalesce(message_id, uuid) as response_id
    from lines
    join line_turns using (file_id, generation, line_no, object_index)
    where type = 'assistant'
        and coalesce(model, '') <> '<synthetic>'
        and coalesce(input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens)
            is not null
        and coalesce(message_id, uuid) is not null
),

ranked as (
    select
        *,
        row_number() over (response order by line_no, object_index) as place,
        -- The largest output count is the true one, and the later line if two are equal.
        row_number() over (
            response order by output_tokens desc nulls last, line_no desc, object_index desc
        ) as value_rank,
        count(*) over response as line_count,
        bool_or(stop_reason is not null or iterations is not null) over response
            as output_is_final
    from response_lines
    window response as (partition by file_id, generation, response_id, request_id)
),

firsts as (select * from ranked where place = 1),

final_counts as (
    select
        *,
        coalesce(ephemeral_1h_tokens, 0) as written_1h,
        greatest(
            coalesce(cache_creation_tokens, 0),
            coalesce(ephemeral_5m_tokens, 0) + coalesce(ephemeral_1h_tokens, 0)
        ) as written
    from ranked
    where value_rank = 1
)

select
    firsts.file_id,
    firsts.generation,
    firsts.line_no,
    firsts.byte_start,
    firsts.byte_end,
    firsts.object_index,
    firsts.session_id,
    firsts.agent_id,
    case
        when firsts.message_id is null then firsts.uuid
        when firsts.request_id is not null then firsts.message_id || ':' || firsts.request_id
        else firsts.message_id || '@' || coalesce(epoch_us(firsts.occurred_at)::varchar, '')
    end as key,
    firsts.message_id,
    firsts.request_id,
    final_counts.model,
    firsts.occurred_at,
    final_counts.input_tokens,
    final_counts.output_tokens,
    final_counts.cache_read_tokens,
    (final_counts.written - final_counts.written_1h)::bigint as cache_write_5m_tokens,
    final_counts.written_1h::bigint as cache_write_1h_tokens,
    final_counts.thinking_tokens,
    final_counts.web_search_requests,
    final_counts.service_tier,
    final_counts.speed,
    final_counts.inference_geo,
    final_counts.iterations,
    firsts.output_is_final,
    firsts.line_count,
    firsts.turn_id,
    session_facts.project,
    firsts.git_branch,
    firsts.version,
    firsts.is_sidechain,
    firsts.is_background,
    firsts.is_forked,
    session_facts.session_started_at
from firsts
join final_counts
    on firsts.file_id = final_counts.file_id
    and firsts.generation = final_counts.generation
    and firsts.response_id = final_counts.response_id
    and firsts.request_id is not distinct from final_counts.request_id
left join session_facts on firsts.session_id = session_facts.session_id
order by firsts.file_id, firsts.generation, firsts.line_no, firsts.object_index
