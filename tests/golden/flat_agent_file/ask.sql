-- agents: linked by the tool result that names it
select agent_id, session_id, layout, tool_use_id, link_rule, prompt_preview, model, started_at, ended_at, line_count, tool_call_count, is_warmup, turn_id
from agents;

-- usage: an agent's responses belong to the turn of the call that started it
select message_id, session_id, agent_id, model, output_tokens, turn_id from usage order by occurred_at;

-- calls: the call knows its agent
select tool_use_id, agent_id, spawned_agent_id, turn_id from tool_calls order by called_at;

-- turns: with the agent's work
select turn_id, api_calls, tool_calls, output_tokens, agents, models from turns;
