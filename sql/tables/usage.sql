-- What each API response used: once a response, however many lines it took.
-- grain: one API response of a file, in one generation
with

-- Claude Code's own searches run as calls of their own; their number stands in the tool's result.
searches as (
    select
        calls.file_no,
        calls.generation,
        coalesce(called.message_id, called.entry_key) as part_of,
        called.request_id,
        calls.tool_use_id,
        max(
            try_cast(json_extract_string(answered.result_meta, '$.searchCount') as bigint)
        ) as requests
    from lines as answered
    join blocks as answers using (entry_no)
    join blocks as calls
        on answers.file_no = calls.file_no
        and answers.tool_use_id = calls.tool_use_id
        and ends_with(calls.block_type, 'tool_use')
    join lines as called on calls.entry_no = called.entry_no
    where answered.result_meta like '%"searchCount"%'
        and ends_with(answers.block_type, 'tool_result')
        and not coalesce(answers.is_error, false)
    group by all
),

search_counts as (
    select
        file_no,
        generation,
        part_of,
        request_id,
        sum(requests) filter (where requests between 1 and 1000)::bigint as requests
    from searches
    group by all
),

-- Which prompt came before in the same thread, and when: what of it the cache should still have.
threads as (
    select
        responses.first_no,
        lag(
            coalesce(responses.input_tokens, 0)
            + coalesce(responses.cache_read_tokens, 0)
            + responses.cache_write_5m_tokens
            + responses.cache_write_1h_tokens
        ) over thread as last_context_tokens,
        lag(responses.model) over thread as last_model,
        lag(firsts.occurred_at) over thread as last_at,
        case
            when firsts.occurred_at >= last_at
                then date_diff('millisecond', last_at, firsts.occurred_at)
        end as since_last_ms
    from responses
    join lines as firsts on responses.first_no = firsts.entry_no
    window thread as (
        partition by
            responses.file_no,
            responses.generation,
            firsts.agent_id,
            coalesce(firsts.is_sidechain, false)
        order by responses.first_no
    )
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
        when firsts.message_id is null then firsts.entry_key
        when firsts.request_id is not null then firsts.message_id || ':' || firsts.request_id
        else firsts.message_id || '@' || coalesce(epoch_us(firsts.occurred_at)::varchar, '')
    end as key,
    -- md5 is the same in every version of DuckDB, and in every part.
    (md5_number_lower(coalesce(firsts.message_id, firsts.entry_key)) >> 1)::bigint as response_hash,
    firsts.message_id,
    firsts.request_id,
    responses.model,
    firsts.occurred_at,
    responses.stop_reason,
    responses.input_tokens,
    responses.output_tokens,
    responses.cache_read_tokens,
    responses.cache_write_5m_tokens,
    responses.cache_write_1h_tokens,
    responses.thinking_tokens,
    responses.web_search_requests,
    search_counts.requests as tool_search_requests,
    responses.service_tier,
    responses.speed,
    responses.inference_geo,
    responses.iterations,
    pieces.pieces,
    nullif(
        concat_ws(
            ', ',
            case when responses.has_impossible_count then 'impossible_count' end,
            case
                when responses.input_tokens is null
                or responses.output_tokens is null
                or pieces.is_short
                    then 'missing_count'
            end,
            case when responses.written_unsplit > 0 or pieces.is_assumed then 'ttl_assumed_5m' end,
            case when pieces.is_partial then 'partial_iterations' end,
            case when responses.has_credit then 'fallback_credit' end
        ),
        ''
    ) as flags,
    responses.output_is_final,
    responses.line_count,
    threads.last_context_tokens,
    threads.last_model,
    threads.since_last_ms,
    line_turns.turn_id,
    session_facts.project,
    firsts.git_branch,
    firsts.version,
    firsts.entrypoint,
    coalesce(agent_spans.is_warmup, false) as is_warmup,
    firsts.is_sidechain,
    firsts.is_background,
    firsts.is_forked,
    session_facts.session_started_at,
    session_facts.session_ended_at
from responses
join lines as firsts on responses.first_no = firsts.entry_no
join line_turns on responses.first_no = line_turns.entry_no
join threads on responses.first_no = threads.first_no
left join pieces on responses.first_no = pieces.first_no
left join search_counts
    on responses.file_no = search_counts.file_no
    and responses.generation = search_counts.generation
    and responses.part_of = search_counts.part_of
    and responses.request_id is not distinct from search_counts.request_id
left join agent_spans
    on firsts.file_no = agent_spans.file_no
    and firsts.generation = agent_spans.generation
    and firsts.agent_id = agent_spans.agent_id
left join session_facts on firsts.session_id = session_facts.session_id
order by firsts.file_id, firsts.generation, firsts.entry_no
