-- compactions: a boundary is one, a title and a microcompaction are none
select key, trigger, pre_tokens, post_tokens, duration_ms, summary_chars, occurred_at, turn_id from compactions order by line_no;

-- turns: a summary begins none, and ends none
select turn_id, prompt_kind, api_calls, compactions from turns order by started_at;

-- entries: what is what
select line_no, type, subtype, uuid, prompt_kind, prompt_rule from entries order by line_no;
