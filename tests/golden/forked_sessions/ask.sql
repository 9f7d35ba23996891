-- usage: a response stays with the session that was forked
select message_id, session_id, occurred_at, output_tokens, turn_id from usage order by occurred_at;

-- turns: the forks add one; what the branch went on with belongs to the copied prompt
select turn_id, session_id, prompt, api_calls, output_tokens, compactions from turns order by started_at;

-- compactions: a copied boundary is no second one
select key, session_id, occurred_at from compactions;

-- entries: each once
select session_id, type, uuid, forked_from_uuid from entries order by session_id, line_no;
