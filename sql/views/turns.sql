-- Turns: from one prompt to the next, with all that happened in between, agents included.
-- grain: one human turn
-- turn_id            key of the prompt that began it
-- session_id         session it belongs to
-- prompt_kind        human, command, bash, queued or sdk
-- prompt             what was typed, without what an editor put in front; null for an image
-- started_at         instant of the prompt
-- ended_at           instant of the last message before the next prompt
-- duration_ms        logged duration where there is one, else from started_at to ended_at
-- duration_source    logged or measured
-- api_calls          API responses, agents included
-- tool_calls         calls, agents included
-- tool_errors        calls that failed
-- input_tokens       input tokens that missed the cache
-- output_tokens      output tokens, thinking included
-- cache_read_tokens  input tokens read from the cache
-- cache_write_tokens tokens written to the cache
-- cost_usd           list-price cost, agents included; null if nothing has a price
-- unpriced_tokens    tokens that cost_usd leaves out
-- context_tokens     tokens sent with the main thread's last call; null without a call
-- models             models that answered, in alphabetical order
-- agents             agents that its calls started
-- agents_cost_usd    what agents cost in it; null if nothing of theirs has a price
-- compactions        compactions inside the turn
-- was_interrupted    a person stopped it
with

prompts as (
    select
        key as turn_id,
        session_id,
        prompt_kind,
        started_at,
        file_id,
        generation,
        line_no,
        object_index
    from messages
    where turn_id = key
        and agent_id is null
        and prompt_kind in ('human', 'command', 'bash', 'queued', 'sdk')
),

-- What is typed while Claude works, and what newer versions log of a command, is no message there.
outside_texts as (
    select
        prompts.turn_id,
        case
            when entries.type = 'system' then json_extract_string(entries.payload, '$.content')
            when json_type(entries.payload, '$.attachment.prompt') = 'ARRAY' then array_to_string(
                json_extract_string(entries.payload, '$.attachment.prompt[*].text'), e'\n'
            )
            else json_extract_string(entries.payload, '$.attachment.prompt')
        end as text
    from prompts
    join raw.entries as entries using (file_id, generation, line_no, object_index)
    where entries.prompt_preview is not null
),

prompt_texts as (
    select
        blocks.file_id,
        blocks.generation,
        blocks.line_no,
        blocks.object_index,
        string_agg(blocks.text, e'\n' order by blocks.block_index) as text
    from content_blocks as blocks
    semi join prompts using (file_id, generation, line_no, object_index)
    where blocks.block_type = 'text'
    group by all
),

texts as (
    select prompts.turn_id, prompts.prompt_kind, coalesce(inside.text, outside.text) as text
    from prompts
    left join prompt_texts as inside using (file_id, generation, line_no, object_index)
    left join outside_texts as outside using (turn_id)
),

-- Commands and shell lines are logged in tags; here they stand as they were typed.
typed as (
    select
        turn_id,
        case
            when prompt_kind = 'command' then trim(
                regexp_extract(text, '<command-name>\s*([^<]*)', 1)
                || ' ' || regexp_extract(text, '<command-args>([\s\S]*?)</command-args>', 1)
            )
            when prompt_kind = 'bash' then
                '! ' || trim(regexp_extract(text, '<bash-input>([\s\S]*?)</bash-input>', 1))
            else regexp_replace(
                text,
                '^(\s*<system-reminder[\s>][\s\S]*?</system-reminder>'
                || '|\s*<ide_opened_file[\s>][\s\S]*?</ide_opened_file>'
                || '|\s*<ide_selection[\s>][\s\S]*?</ide_selection>)+\s*',
                ''
            )
        end as prompt
    from texts
),

responses as (
    select
        turn_id,
        count(*) as api_calls,
        arg_max(
            coalesce(input_tokens, 0)::hugeint + coalesce(cache_read_tokens, 0)
            + coalesce(cache_write_5m_tokens, 0) + coalesce(cache_write_1h_tokens, 0),
            (generation, line_no, object_index)
        ) filter (where agent_id is null and not coalesce(is_sidechain, false)) as context_tokens,
        list_sort(list(distinct model) filter (where model is not null)) as models
    from usage
    where turn_id is not null
    group by turn_id
),

spend as (
    select
        turn_id,
        sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens,
        sum(cache_read_tokens)::bigint as cache_read_tokens,
        sum(cache_write_5m_tokens + cache_write_1h_tokens)::bigint as cache_write_tokens,
        sum(cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
        (sum(cost_pico_usd) filter (where agent_id is not null))::decimal(26, 0)
        * 0.000000000001::decimal(12, 12) as agents_cost_usd,
        sum(unpriced_tokens)::bigint as unpriced_tokens
    from token_spend
    where turn_id is not null
    group by turn_id
),

calls as (
    select
        turn_id,
        count(*) as tool_calls,
        count(*) filter (where is_error) as tool_errors
    from tool_calls
    where turn_id is not null
    group by turn_id
),

helpers as (
    select turn_id, count(*) as agents from agents where turn_id is not null group by turn_id
),

folded as (
    select turn_id, count(*) as compactions
    from compactions
    where turn_id is not null
    group by turn_id
),

spans as (
    select
        turn_id,
        max(ended_at) as ended_at,
        bool_or(is_interrupt) as was_interrupted
    from messages
    where turn_id is not null and agent_id is null
    group by turn_id
),

-- The program logs a turn's duration when it ends: the first such line after the prompt is its.
logged as (
    select prompts.turn_id, arg_min(ends.duration_ms, ends.line_no) as duration_ms
    from (
        select
            turn_id,
            file_id,
            generation,
            line_no,
            lead(line_no) over (partition by file_id, generation order by line_no) as next_line
        from prompts
    ) as prompts
    join entries as ends
        on prompts.file_id = ends.file_id
        and prompts.generation = ends.generation
        and ends.line_no > prompts.line_no
        and ends.line_no < coalesce(prompts.next_line, 9223372036854775807)
    where ends.type = 'system' and ends.subtype = 'turn_duration' and ends.duration_ms is not null
    group by prompts.turn_id
)

select
    prompts.turn_id,
    prompts.session_id,
    prompts.prompt_kind,
    typed.prompt,
    prompts.started_at,
    greatest(prompts.started_at, spans.ended_at) as ended_at,
    coalesce(
        logged.duration_ms,
        date_diff('millisecond', prompts.started_at, greatest(prompts.started_at, spans.ended_at))
    ) as duration_ms,
    case when logged.duration_ms is not null then 'logged' else 'measured' end as duration_source,
    coalesce(responses.api_calls, 0) as api_calls,
    coalesce(calls.tool_calls, 0) as tool_calls,
    coalesce(calls.tool_errors, 0) as tool_errors,
    coalesce(spend.input_tokens, 0) as input_tokens,
    coalesce(spend.output_tokens, 0) as output_tokens,
    coalesce(spend.cache_read_tokens, 0) as cache_read_tokens,
    coalesce(spend.cache_write_tokens, 0) as cache_write_tokens,
    spend.cost_usd,
    coalesce(spend.unpriced_tokens, 0) as unpriced_tokens,
    try_cast(responses.context_tokens as bigint) as context_tokens,
    coalesce(responses.models, []::varchar[]) as models,
    coalesce(helpers.agents, 0) as agents,
    spend.agents_cost_usd,
    coalesce(folded.compactions, 0) as compactions,
    coalesce(spans.was_interrupted, false) as was_interrupted
from prompts
left join typed using (turn_id)
left join responses using (turn_id)
left join spend using (turn_id)
left join calls using (turn_id)
left join helpers using (turn_id)
left join folded using (turn_id)
left join spans using (turn_id)
left join logged using (turn_id)
