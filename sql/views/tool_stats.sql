-- How often each tool is called, how it goes, how long it takes and how much it answers.
-- grain: one tool
-- tool_name            the tool; null for calls without a name
-- mcp_server           the MCP server whose tool it is; null for others
-- calls                calls, agents' included
-- ok                   calls that went well
-- failed               calls that the tool answered with an error
-- denied               calls that a person or a rule did not let run
-- interrupted          calls that a person stopped
-- unanswered           calls that have no answer
-- retries              calls right after one of the same tool that failed
-- error_rate           share of the answered calls that failed, denied and interrupted ones included
-- median_ms            median time from call to answer, permission to run it included; null if none tells
-- p95_ms               95 in 100 took no longer
-- total_ms             all of these times together
-- median_result_chars  median length of the answers in characters
-- total_result_chars   all of them together
-- sessions             sessions with such calls
-- last_called_at       the last of them
select
    tool_name,
    mcp_server,
    count(*) as calls,
    count(*) filter (where outcome = 'ok') as ok,
    count(*) filter (where outcome = 'failed') as failed,
    count(*) filter (where outcome = 'denied') as denied,
    count(*) filter (where outcome = 'interrupted') as interrupted,
    count(*) filter (where outcome = 'unanswered') as unanswered,
    count(*) filter (where is_retry) as retries,
    round(
        count(*) filter (where is_error)
        / nullif(count(*) filter (where outcome <> 'unanswered'), 0),
        6
    ) as error_rate,
    quantile_cont(duration_ms, 0.5)::bigint as median_ms,
    quantile_disc(duration_ms, 0.95)::bigint as p95_ms,
    sum(duration_ms)::bigint as total_ms,
    quantile_cont(result_chars, 0.5)::bigint as median_result_chars,
    sum(result_chars)::bigint as total_result_chars,
    count(distinct session_id) as sessions,
    max(called_at) as last_called_at
from tool_calls
group by tool_name, mcp_server
