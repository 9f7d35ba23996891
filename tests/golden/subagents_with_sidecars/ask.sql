-- agents: linked by sidecar, one of them nested; the third has no sidecar
select agent_id, parent_agent_id, agent_type, description, tool_use_id, link_rule, layout, turn_id from agents order by agent_id;

-- usage: all in the turn that started them, also what ended after the next prompt
select message_id, agent_id, occurred_at, turn_id from usage order by occurred_at;

-- turns: no agent begins one
select turn_id, api_calls, tool_calls, agents, output_tokens from turns order by started_at;
