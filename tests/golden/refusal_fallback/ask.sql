-- blocks: the switch stands alone on its line
select line_no, block_index, block_type, text, payload->>'$.from.model' as from_model, payload->>'$.to.model' as to_model
from content_blocks order by line_no, block_index;

-- messages: one response, the switch and the answer
select key, model, text_blocks, other_blocks, line_count, text_preview, turn_id from messages where role = 'assistant' order by line_no;

-- usage: as the one that served it counts, with every attempt kept
select message_id, model, input_tokens, output_tokens, json_extract_string(iterations, '$[*].type') as attempts,
    json_extract_string(iterations, '$[*].model') as models, output_is_final
from usage order by line_no;

-- credit: kept on every line that has it
select line_no, json_extract_string(payload, '$.message.usage.fallback_credit.status.type') as credit from entries where type = 'assistant' order by line_no;

-- the switch as the program tells it: no message, no turn
select line_no, type, subtype, payload->>'originalModel' as original, payload->>'fallbackModel' as fallback, payload->>'apiRefusalCategory' as category
from entries where type = 'system';

-- turns
select turn_id, api_calls, output_tokens, models, was_interrupted from turns order by started_at;

-- drift: nothing unknown
select kind, name from format_drift;
