-- Agents that only warmed the prompt cache: their whole first prompt is Warmup.
-- grain: one subagent transcript
select * from agents where is_warmup
