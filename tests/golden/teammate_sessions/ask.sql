-- sessions: a teammate's is one of its own
select session_id, team_name, agent_name, goal, turns, responses, output_tokens, agents, reported_cost_usd, lead_session_id, lead_tool_use_id from sessions order by session_id;

-- turns: a report is not typed by a person, and goes on with the turn
select turn_id, session_id, prompt, api_calls, tool_calls, output_tokens, ended_at from turns;

-- prompts: what each user line is
select uuid, session_id, prompt_kind, prompt_rule from entries where type = 'user' order by session_id, line_no;

-- calls: the spawn is answered, and no failure
select tool_use_id, session_id, is_error, result_meta->>'status' as status from tool_calls order by called_at;

-- agents: a teammate is none
select count(*) as agents from agents;

-- drift: nothing unknown
select kind, name from format_drift;
