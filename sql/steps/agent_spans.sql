-- From where to where each agent goes, and whether it was made only to warm the cache.
-- grain: one agent of a file, in one generation
with

spans as (
    select
        file_no,
        generation,
        agent_id,
        min(entry_no) as first_no,
        min(entry_no) filter (where type = 'user') as prompt_no,
        min(occurred_at) as started_at,
        max(occurred_at) as ended_at,
        max(entry_no) filter (where type in ('user', 'assistant')) as last_no,
        count(*) as line_count,
        arg_min(model, entry_no) filter (
            where type = 'assistant' and coalesce(model, '<synthetic>') <> '<synthetic>'
        ) as model
    from lines
    where is_agent_file or is_inline_agent
    group by file_no, generation, agent_id
)

select
    spans.*,
    prompts.text_preview as prompt_preview,
    coalesce(
        trim(prompts.text_preview, e' \t\r\n') = 'Warmup' and prompts.text_blocks = 1, false
    ) as is_warmup
from spans
left join block_counts as prompts on spans.prompt_no = prompts.entry_no
