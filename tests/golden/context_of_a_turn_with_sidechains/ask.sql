-- turns: the context is that of the main thread's last call
select turn_id, context_tokens from turns order by started_at;
