"""The derived tables: each one SQL file over the facts of a part."""

from etl.tables.shape import (
 AGENT, BOOLEAN, INSTANT, INTEGER, IS_SIDECHAIN, KEY, MESSAGE_ID, MODEL, OWNERSHIP, PLACE, REQUEST_ID, SESSION, STRING, TURN, Column, Table)

TOKENS = (
    Column("input_tokens", INTEGER, "Input tokens that missed the cache."),
    Column("output_tokens", INTEGER, "Output tokens, thinking included: the largest count logged."),
    Column("cache_read_tokens", INTEGER, "Input tokens read from the cache."),
    Column("cache_write_5m_tokens", INTEGER, "Tokens written to the 5-minute cache."),
    Column("cache_write_1h_tokens", INTEGER, "Tokens written to the 1-hour cache."),
)
PROJECT = Column("project", STRING, "Working directory in which the session began.")
BRANCH = Column("git_branch", STRING, "Git branch at the first line.")

MESSAGES = Table(
    "messages",
    "one message: an assistant response (all its lines), or one user message",
    ("key",),
    (
        *PLACE,
        SESSION,
        AGENT,
        KEY,
        MESSAGE_ID,
        REQUEST_ID,
        Column("role", STRING, "user or assistant."),
        MODEL,
        Column("prompt_kind", STRING, "What a user message is; null on responses."),
        Column("started_at", INSTANT, "Instant of its first line."),
        Column("ended_at", INSTANT, "Instant of its last line."),
        Column("stop_reason", STRING, "Why the response ended; null when never logged."),
        Column("text_blocks", INTEGER, "Blocks of words."),
        Column("thinking_blocks", INTEGER, "Blocks of thinking."),
        Column("tool_use_blocks", INTEGER, "Calls."),
        Column("tool_result_blocks", INTEGER, "Answers of tools."),
        Column("other_blocks", INTEGER, "Images, documents and the rest."),
        Column("text_chars", INTEGER, "Characters of all its texts."),
        Column("text_preview", STRING, "First 200 characters of its words."),
        Column("line_count", INTEGER, "Lines it took in the log."),
        Column("is_final", BOOLEAN, "A line carries its stop reason; true on user messages."),
        TURN,
        IS_SIDECHAIN,
        *OWNERSHIP,
    ),
)

USAGE = Table(
    "usage",
    "one API response; no <synthetic>",
    ("key",),
    (
        *PLACE,
        SESSION,
        AGENT,
        KEY,
        MESSAGE_ID,
        REQUEST_ID,
        MODEL,
        Column("occurred_at", INSTANT, "Instant of its first line."),
        *TOKENS,
        Column("thinking_tokens", INTEGER, "The part of output_tokens that was thinking."),
        Column("web_search_requests", INTEGER, "Web searches made by the API."),
        Column("service_tier", STRING, "Service tier of the request."),
        Column("speed", STRING, "fast or standard."),
        Column("inference_geo", STRING, "Where inference ran."),
        Column("iterations", STRING, "The usage of each inference, JSON."),
        Column("output_is_final", BOOLEAN, "output_tokens is the final count, not a placeholder."),
        Column("line_count", INTEGER, "Lines it took in the log."),
        TURN,
        PROJECT,
        BRANCH,
        Column("version", STRING, "Version of Claude Code that wrote it."),
        IS_SIDECHAIN,
        *OWNERSHIP,
    ),
)

TOOL_CALLS = Table(
    "tool_calls",
    "one tool_use",
    ("tool_use_id",),
    (
        *PLACE,
        SESSION,
        AGENT,
        Column("tool_use_id", STRING, "The call's id."),
        Column("tool_name", STRING, "Tool that was called."),
        Column("target", STRING, "File, command, pattern or URL of the call."),
        Column("input_preview", STRING, "First 200 characters of the input."),
        Column("message_id", STRING, "The response that made the call."),
        Column("called_at", INSTANT, "When the call was logged."),
        Column("answered_at", INSTANT, "When the answer was logged; null if never."),
        Column("duration_ms", INTEGER, "From call to answer; null if never answered."),
        Column("is_error", BOOLEAN, "The tool failed; null if never answered."),
        Column("error_preview", STRING, "First 200 characters of the error."),
        Column("result_chars", INTEGER, "Characters of the answer."),
        Column("result_meta", STRING, "Small fields of the result, JSON."),
        Column("spawned_agent_id", STRING, "The agent that the call started."),
        TURN,
        IS_SIDECHAIN,
        *OWNERSHIP,
    ),
)

AGENTS = Table(
    "agents",
    "one subagent transcript",
    ("session_id", "agent_id"),
    (
        *PLACE,
        SESSION,
        AGENT,
        Column("parent_agent_id", STRING, "The agent that started it; null for the main thread."),
        Column("agent_type", STRING, "Type of agent."),
        Column("description", STRING, "What it was asked for, in short."),
        Column("prompt_preview", STRING, "First 200 characters of its first prompt."),
        Column("model", STRING, "Model of its first response."),
        Column("tool_use_id", STRING, "The call that started it."),
        Column("link_rule", STRING, "How that was told: meta, result or progress."),
        Column("started_at", INSTANT, "Instant of its first line."),
        Column("ended_at", INSTANT, "Instant of its last line."),
        Column("line_count", INTEGER, "Entries in its transcript."),
        Column("tool_call_count", INTEGER, "Calls it made."),
        Column("is_warmup", BOOLEAN, "Its whole first prompt is Warmup: made to warm the cache."),
        Column("layout", STRING, "Where its file lies: flat, subagents or workflow."),
        TURN,
        IS_SIDECHAIN,
        *OWNERSHIP,
    ),
)

COMPACTIONS = Table(
    "compactions",
    "one compact_boundary",
    ("key",),
    (
        *PLACE,
        SESSION,
        AGENT,
        KEY,
        Column("uuid", STRING, "The boundary's id."),
        Column("occurred_at", INSTANT, "When it was logged."),
        Column("trigger", STRING, "manual, auto, ….", ()),
        Column("pre_tokens", INTEGER, "Context before."),
        Column("post_tokens", INTEGER, "Context after; null in older logs."),
        Column("duration_ms", INTEGER, "How long it took; null in older logs."),
        Column("summary_chars", INTEGER, "Characters of the summary that follows."),
        TURN,
        IS_SIDECHAIN,
        *OWNERSHIP,
    ),
)

