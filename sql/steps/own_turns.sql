-- The turn every entry of a main file stands in: that of the last prompt before it.
-- grain: one entry of a main file
with

main_lines as (
    select
        *,
        count(case when type = 'assistant' then 1 end) over (
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

typed as (select *, epoch_us(occurred_at) // 1000000 as second from prompts where type = 'user'),

-- The last line with these words, of all and of those between the same two responses.
last_typed as (
    select
        file_no,
        generation,
        words,
        responses_before,
        max(entry_no) as entry_no,
        max(case when prompt_kind = 'queued' then entry_no end) as queued_entry_no
    from typed
    where words is not null
    group by grouping sets (
        (file_no, generation, words), (file_no, generation, words, responses_before)
    )
),

commands as (
    select
        *, unnest([-1, 0, 1]) + epoch_us(occurred_at) // 1000000 as second
    from prompts
    where type = 'system'
),

-- A prompt that was queued, or a command, may be logged once more as a user line. A person may
-- also type the same words again: after an answer, unless the line says that it was queued.
-- Each way to tell is a join on equal values: many prompts must not meet many.
echoes as (
    select prompts.entry_no
    from prompts
    semi join typed
        on prompts.file_no = typed.file_no
        and prompts.generation = typed.generation
        and prompts.source_uuid = typed.uuid
    where prompts.type <> 'user'

    union

    select commands.entry_no
    from commands
    semi join typed
        on commands.file_no = typed.file_no
        and commands.generation = typed.generation
        and commands.words = typed.words
        and commands.second = typed.second

    union

    select prompts.entry_no
    from prompts
    join last_typed
        on prompts.file_no = last_typed.file_no
        and prompts.generation = last_typed.generation
        and prompts.words = last_typed.words
        and prompts.responses_before = last_typed.responses_before
    where prompts.type not in ('user', 'system') and last_typed.entry_no > prompts.entry_no

    union

    select prompts.entry_no
    from prompts
    join last_typed
        on prompts.file_no = last_typed.file_no
        and prompts.generation = last_typed.generation
        and prompts.words = last_typed.words
    where prompts.type not in ('user', 'system')
        and last_typed.responses_before is null
        and last_typed.queued_entry_no > prompts.entry_no
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
