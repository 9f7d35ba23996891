-- Agents that did real work: all but the warm-ups.
-- grain: one subagent transcript
select * from agents where not is_warmup
