-- turns: what an agent is told is not typed by a person; its work is in the turn
select turn_id, prompt, api_calls, tool_calls, output_tokens, cache_read_tokens from turns order by started_at;

-- prompts: by which rule
select uuid, is_sidechain, agent_id, prompt_kind, prompt_rule from entries where type = 'user' order by line_no;

-- usage: each response once
select message_id, is_sidechain, agent_id, output_tokens, line_count, turn_id from usage order by line_no;

-- session: of the main thread
select turns, responses, output_tokens, goal, recent_output, pending_tool from sessions;

-- agents: told by their prompts
select agent_id, layout, tool_use_id, link_rule, line_count, tool_call_count, turn_id from agents order by line_no;
