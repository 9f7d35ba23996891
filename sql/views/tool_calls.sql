-- Calls, once over all files. The owner made the call; the answer comes from whoever has one.
-- grain: one tool_use
with

-- Most calls stand once and are as they are; only the others have to be settled.
copied as (
    select call_hash from raw.tool_calls group by call_hash having count(*) > 1
),

ranked as (
    select
        *,
        row_number() over (
            partition by tool_use_id
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
            partition by tool_use_id
            order by answered_at is null, is_error is null, answered_at, line_no, file_id
        ) as answer_rank
    from raw.tool_calls
    semi join copied using (call_hash)
)

select * from raw.tool_calls anti join copied using (call_hash)

union all

select
    owners.* exclude (owner_rank, answer_rank)
    replace (
        answers.answered_at as answered_at,
        case
            when answers.answered_at >= owners.called_at
                then date_diff('millisecond', owners.called_at, answers.answered_at)
        end as duration_ms,
        answers.is_error as is_error,
        answers.outcome as outcome,
        answers.lines_added as lines_added,
        answers.lines_removed as lines_removed,
        answers.error_preview as error_preview,
        answers.result_chars as result_chars,
        answers.result_meta as result_meta,
        answers.output_file as output_file,
        coalesce(owners.spawned_agent_id, answers.spawned_agent_id) as spawned_agent_id
    )
from ranked as owners
join ranked as answers
    on owners.tool_use_id = answers.tool_use_id and answers.answer_rank = 1
where owners.owner_rank = 1
