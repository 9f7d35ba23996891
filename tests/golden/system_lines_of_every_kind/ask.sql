-- entries: each with its name
select uuid, subtype, prompt_kind, compact_trigger, duration_ms from entries where type = 'system' order by line_no;

-- turns: one, with its logged duration and one compaction
select turn_id, duration_ms, duration_source, api_calls, compactions, ended_at, was_interrupted from turns;

-- messages: none of them is one
select count(*) as messages from messages;

-- drift: nothing unknown
select kind, name from format_drift;
