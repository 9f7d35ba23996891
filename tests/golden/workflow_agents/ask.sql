-- agents: both, whatever folder they lie in
select agent_id, session_id, agent_type, description, layout, prompt_preview, model, line_count, tool_call_count, is_warmup
from agents order by agent_id;

-- spend: theirs is part of the session's
select model, responses, input_tokens, output_tokens from daily_spend order by model;

-- calls: the launch is answered, and no failure
select tool_use_id, tool_name, agent_id, called_at, answered_at, is_error, result_meta->>'runId' as run from tool_calls order by called_at;

-- session: one turn, as neither an agent's prompt nor the end of a task begins one; the journal is no entry of it
select turns, responses, output_tokens, agents, entries, is_empty from sessions;

-- journal: its rows are there, and count nowhere
select type, count(*) as lines from raw.entries where layout = 'other' group by all order by all;

-- messages: none is made of it
select role, agent_id, count(*) as messages from messages group by all order by all;

-- files: what each is
select kind, layout, agent_id, line_count from source_files where kind <> 'sidecar' order by path;

-- drift: nothing unknown
select kind, name from format_drift;
