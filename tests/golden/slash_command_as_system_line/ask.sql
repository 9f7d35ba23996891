-- turns: a command is one, in whatever line it stands; its output is none
select turn_id, prompt_kind, prompt, api_calls from turns order by started_at;

-- session: a command is no goal
select goal, turns from sessions;
