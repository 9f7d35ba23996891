-- Tokens and cost per git branch of a project.
-- grain: one branch of a project
-- project                the directory that the session belongs to, as in `projects`; null when never
--   logged
-- git_branch             git branch at the first line of the response; null outside a repository
-- responses              API responses, each once, at the model that served it
-- input_tokens           input tokens that missed the cache
-- output_tokens          output tokens, thinking included
-- cache_read_tokens      input tokens read from the cache
-- cache_write_5m_tokens  tokens written to the 5-minute cache
-- cache_write_1h_tokens  tokens written to the 1-hour cache
-- cost_usd               list-price cost of all that has a price; null if nothing has
-- unpriced_tokens        tokens that cost_usd leaves out
select
    coalesce(projects.project, spend.project) as project,
    spend.git_branch,
    count(*) filter (where spend.is_response) as responses,
    sum(columns('^(input|output|cache_.*)_tokens$'))::bigint,
    sum(spend.cost_pico_usd)::decimal(26, 0) * 0.000000000001::decimal(12, 12) as cost_usd,
    sum(spend.unpriced_tokens)::bigint as unpriced_tokens
from token_spend as spend
left join projects on spend.project = projects.directory
group by all
