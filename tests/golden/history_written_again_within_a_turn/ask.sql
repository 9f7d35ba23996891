-- usage: a prompt that is written again begins no turn again
select message_id, output_tokens, turn_id from usage order by occurred_at;

-- turns
select turn_id, ended_at, api_calls, compactions, output_tokens from turns order by started_at;
