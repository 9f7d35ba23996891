-- agents: a warm-up's whole first prompt is Warmup
select agent_id, is_warmup, prompt_preview, link_rule, turn_id from agents order by agent_id;

-- work
select agent_id from work_agents order by agent_id;

-- warm-ups
select agent_id from warmup_agents order by agent_id;

-- spend: warm-ups are paid for
select model, responses, output_tokens, cache_write_5m_tokens from daily_spend order by model;

-- turns: only what a person typed
select turn_id, prompt_kind, prompt, api_calls from turns;
