-- The turn every entry of a main file stands in: that of the last prompt before it.
-- grain: one entry of a main file
with

main_lines as (
    select
        *,
        count(*) filter (where type = 'assistant') over (
            partition by file_no, generation order by entry_no
        ) as responses_before
    from lines
    where layout = 'main'
),

prompts as (
    select main_lines.*, coalesce(main_lines.prompt_preview, block_counts.text_preview) as words
    from main_lines
    left join block_counts using (entry_no)
    where main_lines.uuid is not null
        and not coalesce(main_lines.is_sidechain, false)
        and main_lines.prompt_kind in ('human', 'command', 'bash', 'queued', 'sdk')
    -- History that is appended again begins no turn a second time.
    qualify row_number() over (
        partition by main_lines.file_no, main_lines.generation, main_lines.entry_key
        order by main_lines.entry_no
    ) = 1
),

-- A prompt that was queued, or a command, may be logged once more as a user line. A person may
-- also type the same words again: after an answer, unless the line says that it was queued.
echoes as (
    select distinct echo.entry_no
    from prompts as echo
    join prompts as typed
        on echo.file_no = typed.file_no and echo.generation = typed.generation
    where echo.type <> 'user'
        and typed.type = 'user'
        and (
            echo.source_uuid = typed.uuid
            or (
                echo.words = typed.words
                and case
                    when echo.type = 'system'
                        then abs(date_diff('second', echo.occurred_at, typed.occurred_at)) <= 1
                    else typed.entry_no > echo.entry_no
                        and (
                            typed.prompt_kind = 'queued'
                            or typed.responses_before = echo.responses_before
                        )
                end
            )
        )
),

starts as (
    select entry_no, entry_key from prompts anti join echoes using (entry_no)
)

select
    main_lines.entry_no,
    last_value(starts.entry_key ignore nulls) over (
        partition by main_lines.file_no, main_lines.generation
        order by main_lines.entry_no
        rows between unbounded preceding and current row
    ) as turn_id
from main_lines
left join starts using (entry_no)
