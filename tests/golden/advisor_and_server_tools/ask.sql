-- blocks: one a line, each by its name
select line_no, block_type, tool_name, text from content_blocks where line_no > 1 order by line_no;

-- usage: one response; the advisor's tokens are not among its own
select input_tokens, output_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, thinking_tokens, web_search_requests, line_count from usage;

-- usage: how it was served
select model, service_tier, speed, inference_geo, json_extract_string(iterations, '$[*].type') as pieces, json_extract_string(iterations, '$[*].output_tokens') as output from usage;

-- the rest of a line is kept: the advisor, the fetches, the advice
select entries.payload->>'advisorModel' as advisor, json_extract_string(entries.payload, '$.message.usage.server_tool_use.web_fetch_requests') as fetches,
    effort, json_extract_string(blocks.payload, '$.content.text') as advice
from entries join content_blocks as blocks using (file_id, generation, line_no, object_index) where line_no = 4;

-- turns
select turn_id, api_calls, output_tokens, models, context_tokens from turns;

-- drift: nothing unknown
select kind, name from format_drift;
