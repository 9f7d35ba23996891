-- Views of spend whose sums are not those of the pieces.
-- severity: error
-- grain: one view that does not come out
with

pieces as (
    select
        count(*) filter (where is_response) as responses,
        coalesce(sum(columns('^(input|output|cache_.*|unpriced)_tokens$')), 0),
        sum(cost_usd) as cost_usd
    from token_spend
),

warmups as (
    select
        count(*) filter (where is_response) as responses,
        coalesce(sum(columns('^(input|output|cache_.*|unpriced)_tokens$')), 0),
        sum(cost_usd) as cost_usd
    from token_spend
    where is_warmup
),

grouped as (
    select 'daily_spend' as view_name, * from daily_spend
    union all by name
    select 'weekly_spend' as view_name, * from weekly_spend
    union all by name
    select 'monthly_spend' as view_name, * from monthly_spend
    union all by name
    select 'hourly_activity' as view_name, * from hourly_activity
    union all by name
    select 'session_spend' as view_name, * from session_spend
    union all by name
    select 'project_spend' as view_name, * from project_spend
    union all by name
    select 'branch_spend' as view_name, * from branch_spend
    union all by name
    select 'pr_spend' as view_name, * from pr_spend
    union all by name
    select 'model_spend' as view_name, * from model_spend
    union all by name
    select 'entrypoint_spend' as view_name, * from entrypoint_spend
    union all by name
    select 'agent_type_spend' as view_name, * from agent_type_spend
    union all by name
    select 'overhead_spend' as view_name, * from overhead_spend where is_logged
    union all by name
    select 'agent_spend' as view_name, * from agent_spend
    union all by name
    select 'tool_spend' as view_name, * from tool_spend
    union all by name
    select 'usage_blocks' as view_name, * from usage_blocks
    union all by name
    select 'warmup_spend' as view_name, * from warmup_spend
),

sums as (
    select
        view_name,
        sum(responses)::bigint as responses,
        coalesce(sum(columns('^(input|output|cache_.*|unpriced)_tokens$')), 0),
        sum(cost_usd) as cost_usd
    from grouped
    group by view_name
),

expected as (
    select sums.view_name, pieces.* from sums cross join pieces
    where sums.view_name <> 'warmup_spend'

    union all by name

    select sums.view_name, warmups.* from sums cross join warmups
    where sums.view_name = 'warmup_spend'
)

select * from sums
except
select * from expected
