-- usage: what the split leaves of the flat number is written for five minutes
select usage.message_id, messages.text_preview, cache_write_5m_tokens, cache_write_1h_tokens
from usage join messages using (message_id) order by usage.line_no;

-- facts: as logged
select message_id, cache_creation_tokens, ephemeral_5m_tokens, ephemeral_1h_tokens from entries where type = 'assistant' order by line_no;
