-- compactions: two, whatever was written again; thinning is none
select uuid, trigger, occurred_at, pre_tokens, post_tokens, duration_ms, summary_chars, turn_id from compactions order by occurred_at;

-- turns: a summary begins none
select turn_id, prompt_kind, prompt, api_calls, tool_calls, compactions, output_tokens from turns order by started_at;

-- entries: a boundary that stands twice is once here, where it stood first
select line_no, type, subtype, uuid, prompt_kind from entries where uuid in ('c1', 'k1', 'c2', 'k2', 'm1') order by line_no;

-- calls: an answer that was cleared from the context is still the answer
select tool_use_id, answered_at, result_chars from tool_calls;

-- drift: nothing unknown
select kind, name from format_drift;
