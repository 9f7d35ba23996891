-- facts: a null is not a zero, and an empty text not a null
select uuid, request_id, input_tokens, output_tokens, cache_read_tokens, service_tier, inference_geo from entries where type = 'assistant' order by line_no;

-- turns: a count that is null adds nothing
select turn_id, models, input_tokens, output_tokens, cache_read_tokens from turns where turn_id = 'u2';

-- spend: a model without a price is not free
select model, responses, input_tokens, output_tokens, cost_usd, unpriced_tokens from daily_spend;

-- drift: nothing unknown
select kind, name from format_drift;
