-- usage: the launch is billed once, to the main thread
select message_id, agent_id, occurred_at, output_tokens, turn_id from usage order by occurred_at;

-- calls: once, answered
select tool_use_id, agent_id, called_at, answered_at, spawned_agent_id, turn_id from tool_calls;

-- messages: the launch once, too
select key, role, agent_id, text_preview, turn_id from messages order by started_at, key;

-- agents
select agent_id, tool_use_id, link_rule, line_count, turn_id from agents;
