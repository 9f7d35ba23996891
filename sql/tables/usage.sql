-- What each API response used: once a response, however many lines it took.
-- grain: one API response of a file, in one generation
with

response_lines as (
    select
        *,
        coalesce(
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_creation_tokens,
            ephemeral_5m_tokens,
            ephemeral_1h_tokens
        ) is not null as has_counts
    from lines
    where type = 'assistant' and coalesce(model, '') <> '<synthetic>'
),

responses as (
    select
        min(lines.entry_no) as first_no,
        -- The largest output count is the true one, and the later line if two are equal.
        arg_max(
            lines.entry_no,
            (lines.has_counts, coalesce(lines.output_tokens, -1), lines.entry_no)
        ) as final_no,
        count(distinct (lines.occurred_at, block_counts.fingerprint)) as line_count,
        bool_or(lines.stop_reason is not null or lines.iterations is not null) as output_is_final
    from response_lines as lines
    left join block_counts using (entry_no)
    group by
        lines.file_no,
        lines.generation,
        coalesce(lines.message_id, lines.entry_key),
        lines.request_id
    having bool_or(lines.has_counts)
),

final_counts as (
    select
        lines.*,
        coalesce(lines.ephemeral_1h_tokens, 0)::hugeint as written_1h,
        greatest(
            coalesce(lines.cache_creation_tokens, 0)::hugeint,
            coalesce(lines.ephemeral_5m_tokens, 0)::hugeint
            + coalesce(lines.ephemeral_1h_tokens, 0)::hugeint
        ) as written
    from lines
    semi join responses on lines.entry_no = responses.final_no
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
    firsts.message_id,
    firsts.request_id,
    final_counts.model,
    firsts.occurred_at,
    final_counts.input_tokens,
    final_counts.output_tokens,
    final_counts.cache_read_tokens,
    try_cast(final_counts.written - final_counts.written_1h as bigint) as cache_write_5m_tokens,
    final_counts.written_1h::bigint as cache_write_1h_tokens,
    final_counts.thinking_tokens,
    final_counts.web_search_requests,
    final_counts.service_tier,
    final_counts.speed,
    final_counts.inference_geo,
    final_counts.iterations,
    responses.output_is_final,
    responses.line_count,
    line_turns.turn_id,
    session_facts.project,
    firsts.git_branch,
    firsts.version,
    firsts.is_sidechain,
    firsts.is_background,
    firsts.is_forked,
    session_facts.session_started_at,
    session_facts.session_ended_at
from responses
join lines as firsts on responses.first_no = firsts.entry_no
join final_counts on responses.final_no = final_counts.entry_no
join line_turns on responses.first_no = line_turns.entry_no
left join session_facts on firsts.session_id = session_facts.session_id
order by firsts.file_id, firsts.generation, firsts.entry_no
