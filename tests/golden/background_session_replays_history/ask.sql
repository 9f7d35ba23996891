-- usage: what was replayed stays with the session it came from, though the copy's name comes first
select message_id, session_id, occurred_at, output_tokens, cache_read_tokens, line_count, turn_id from usage order by occurred_at;

-- turns: each once
select turn_id, session_id, prompt, api_calls, tool_calls, output_tokens from turns order by started_at;

-- sessions: the copy has what it added, and says where it came from
select session_id, session_kind, forked_from, turns, responses, output_tokens, entries from sessions order by session_id;

-- spend: counted once
select responses, input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens from daily_spend;

-- calls
select tool_use_id, session_id, called_at, answered_at, turn_id from tool_calls;

-- entries: each once; the rows of the copy are in raw
select session_id, count(*) as entries, (select count(*) from raw.entries as r where r.session_id = entries.session_id) as lines
from entries group by session_id order by session_id;
