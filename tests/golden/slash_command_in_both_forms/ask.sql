-- turns: one command, though two lines tell of it
select turn_id, prompt_kind, prompt, api_calls from turns order by started_at;

-- entries: all lines are there
select line_no, type, subtype, uuid from entries order by line_no;

-- session
select goal, turns from sessions;

-- drift: nothing unknown
select kind, name from format_drift;
