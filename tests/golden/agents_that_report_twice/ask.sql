-- agents: one by its launch, one by its reports alone, one inside the first
select agent_id, parent_agent_id, agent_type, tool_use_id, link_rule, started_at, ended_at, turn_id from agents order by agent_id;

-- turns: a report begins none, and the agents stay with the turn that started them
select turn_id, prompt, api_calls, tool_calls, agents, output_tokens, ended_at from turns order by started_at;

-- calls: each knows its agent, the one without an answer too
select tool_use_id, agent_id, spawned_agent_id, answered_at, is_error from tool_calls order by called_at;

-- prompts: what a report is, each time
select uuid, prompt_kind, prompt_rule from entries where type = 'user' and agent_id is null order by line_no;

-- session: agents count as work
select turns, responses, output_tokens, agents from sessions;

-- drift: nothing unknown
select kind, name from format_drift;
