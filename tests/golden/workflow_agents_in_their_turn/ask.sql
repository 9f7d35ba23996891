-- agents: started by the Workflow call whose run they lie in
select agent_id, tool_use_id, link_rule, turn_id from agents order by agent_id;

-- turns: with their work
select turn_id, api_calls, tool_calls, agents, output_tokens from turns;
