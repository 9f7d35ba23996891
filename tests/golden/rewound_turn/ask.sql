-- turns: the one that was taken back was asked, and paid for
select turn_id, prompt, started_at, ended_at, api_calls, tool_calls, output_tokens from turns order by started_at;

-- messages: nothing is lost
select key, role, text_preview, turn_id from messages order by line_no;

-- both ways go on from the same answer
select uuid, parent_uuid from entries where type = 'user' order by line_no;

-- rewinds: one, and where it went back to
select line_no, state->>'leafUuid' as leaf, state->>'rewound' as rewound from entries where type = 'last-prompt' order by line_no;

-- session
select turns, responses, output_tokens, recent_output, goal from sessions;

-- drift: nothing unknown
select kind, name from format_drift;
