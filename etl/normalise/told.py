"""Copies of payload values that derived tables need, so that they never read a payload."""

import re
from collections.abc import Callable, Sequence

from etl.jsontext import dumps
from etl.normalise.blocks import PREVIEW_CHARS
from etl.normalise.fields import EMPTY, JsonObject, Values, count_at, fits, text_at
from etl.normalise.prompts import words_of
from etl.parse import objects_of, parse_line

_TASK_ID = re.compile(r"<task-id>\s*([^<\s]+)\s*</task-id>")
_CALL_ID = re.compile(r"<tool-use-id>\s*([^<\s]+)\s*</tool-use-id>")
# The counts that are billed, and where they stand.
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_NESTED_COUNTS = {
    "cache_creation": ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
    "server_tool_use": ("web_search_requests",),
}
# What stands for the result of a call that a person did not let run, in versions without a field.
_REJECTIONS = (
    "User rejected tool use",
    "Error: The user doesn't want to",
    "The user doesn't want to",
)
_NAMES = (
    "iterations",
    "fallback_credit",
    "has_odd_count",
    "duration_ms",
    "compact_trigger",
    "pre_tokens",
    "post_tokens",
    "is_compact_summary",
    "spawned_agent_id",
    "spawned_run_id",
    "linked_tool_use_id",
    "echoed_message_id",
    "result_meta",
    "is_interrupt",
    "denial",
    "lines_added",
    "lines_removed",
    "source_uuid",
    "prompt_preview",
    "forked_from_session_id",
    "forked_from_uuid",
    "attachment_type",
)


def columns_of(objects: Sequence[JsonObject], types: Values) -> dict[str, Values]:
    """Return the columns, a value an object."""
    columns: dict[str, Values] = {name: [None] * len(objects) for name in _NAMES}
    tellers = map(_TELLERS.get, types)  # type: ignore[arg-type]
    for index, (entry, teller) in enumerate(zip(objects, tellers, strict=True)):
        if teller is not None:
            for name, value in teller(entry).items():
                columns[name][index] = value
        if "forkedFrom" in entry:
            for name, value in _of_fork(entry["forkedFrom"]).items():
                columns[name][index] = value
    return columns


def _of_fork(origin: object) -> JsonObject:
    if not isinstance(origin, dict):
        return {}
    return {
        "forked_from_session_id": text_at(origin, "sessionId"),
        "forked_from_uuid": text_at(origin, "messageUuid"),
    }


def _of_user(entry: JsonObject) -> JsonObject:
    told: JsonObject = {}
    if "isCompactSummary" in entry:
        told["is_compact_summary"] = entry["isCompactSummary"] is True
    if entry.get("toolDenialKind") == "interrupted" or "interruptedMessageId" in entry:
        told["is_interrupt"] = True
    result = entry.get("toolUseResult")
    if denial := text_at(entry, "toolDenialKind"):
        told["denial"] = denial
    elif isinstance(result, str) and result.startswith(_REJECTIONS):
        told["denial"] = "rejected"
    if result is None:
        message = entry.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        return told | _of_notification(content)
    if result.__class__ is dict:
        told["spawned_agent_id"] = text_at(result, "agentId") or text_at(result, "agent_id")
        if "runId" in result:
            told["spawned_run_id"] = text_at(result, "runId")
        small = {
            key: value
            for key, value in result.items()
            if value.__class__ in (int, float, bool)
            or (value.__class__ is str and len(value) <= PREVIEW_CHARS)
        }
        told["result_meta"] = dumps(small) if small else None
        if "structuredPatch" in result:
            told["lines_added"], told["lines_removed"] = _lines_changed(result)
    return told


def _lines_changed(edit: JsonObject) -> tuple[int, int]:
    """Count the lines that an edit added and removed; a file that is new has no patch."""
    if edit.get("type") == "create":
        return len(str(edit.get("content") or "").splitlines()), 0
    patch = edit["structuredPatch"]
    hunks = [hunk for hunk in patch if isinstance(hunk, dict)] if isinstance(patch, list) else []
    marks = [
        line[:1]
        for hunk in hunks
        if isinstance(lines := hunk.get("lines"), list)
        for line in lines
        if isinstance(line, str)
    ]
    return marks.count("+"), marks.count("-")


def _of_assistant(entry: JsonObject) -> JsonObject:
    message = entry.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    iterations = usage.get("iterations") if isinstance(usage, dict) else None
    told: JsonObject = {"iterations": dumps(iterations)} if isinstance(iterations, list) else {}
    if isinstance(usage, dict) and "fallback_credit" in usage:
        told["fallback_credit"] = _status_of(usage["fallback_credit"])
    if _has_odd_count(usage):
        told["has_odd_count"] = True
    if entry.get("isAbortedMidStream") is True:
        told["is_interrupt"] = True
    return told


def _has_odd_count(usage: object) -> bool:
    """Say whether a count is there that no column can take, so that it would count as none."""
    if not isinstance(usage, dict):
        return usage is not None
    nested = ((usage.get(name), names) for name, names in _NESTED_COUNTS.items())
    return any(_is_odd(counts, names) for counts, names in ((usage, _COUNTS), *nested))


def _is_odd(counts: object, names: Sequence[str]) -> bool:
    if not isinstance(counts, dict):
        return counts is not None
    return any(count is not None and not fits(count) for count in map(counts.get, names))


def _status_of(credit: object) -> str | None:
    status = credit.get("status") if isinstance(credit, dict) else None
    return text_at(status, "type") if isinstance(status, dict) else None


def _of_system(entry: JsonObject) -> JsonObject:
    compaction = entry.get("compactMetadata")
    if entry.get("subtype") == "local_command":
        return {"prompt_preview": _preview(entry.get("content"))}
    if not isinstance(compaction, dict):
        return {"duration_ms": count_at(entry, "durationMs")}
    return {
        "compact_trigger": text_at(compaction, "trigger"),
        "pre_tokens": count_at(compaction, "preTokens"),
        "post_tokens": count_at(compaction, "postTokens"),
        "duration_ms": count_at(compaction, "durationMs"),
    }


def _of_progress(entry: JsonObject) -> JsonObject:
    progress = entry.get("data")
    if not isinstance(progress, dict):
        return {}
    return {
        "spawned_agent_id": text_at(progress, "agentId"),
        "linked_tool_use_id": text_at(entry, "parentToolUseID"),
        "echoed_message_id": _echoed_in(progress),
    }


def _echoed_in(progress: JsonObject) -> str | None:
    """An agent's line is repeated whole: a line with a message in a line."""
    echo = progress.get("message")
    message = echo.get("message") if isinstance(echo, dict) else None
    is_response = isinstance(message, dict) and "usage" in message
    return text_at(message, "id") if is_response and isinstance(message, dict) else None


def _of_attachment(entry: JsonObject) -> JsonObject:
    attachment = entry.get("attachment")
    if not isinstance(attachment, dict):
        return {}
    told: JsonObject = {"attachment_type": text_at(attachment, "type")}
    if told["attachment_type"] == "queued_command":
        told["source_uuid"] = text_at(attachment, "source_uuid")
        told["prompt_preview"] = _preview(attachment.get("prompt"))
        told |= _of_notification(attachment.get("prompt"))
    return told


def _preview(content: object) -> str | None:
    return words_of(content)[:PREVIEW_CHARS] or None


def _of_notification(content: object) -> JsonObject:
    """The end of a background task names the task, which is the agent, and the call."""
    text = words_of(content).lstrip()
    if text.startswith('{"'):
        return _of_old_notification(text)
    if not text.startswith("<task-notification"):
        return {}
    task, call = _TASK_ID.search(text), _CALL_ID.search(text)
    return {
        "spawned_agent_id": task.group(1) if task else None,
        "linked_tool_use_id": call.group(1) if call else None,
    }


def _of_old_notification(text: str) -> JsonObject:
    told = next(iter(objects_of(parse_line(text.encode(errors="replace")))), EMPTY)
    task, call = text_at(told, "task_id"), text_at(told, "tool_use_id")
    return {"spawned_agent_id": task, "linked_tool_use_id": call} if task and call else {}


def _of_queue_operation(entry: JsonObject) -> JsonObject:
    return _of_notification(entry.get("content"))


_TELLERS: dict[str, Callable[[JsonObject], JsonObject]] = {
    "user": _of_user,
    "assistant": _of_assistant,
    "system": _of_system,
    "progress": _of_progress,
    "attachment": _of_attachment,
    "queue-operation": _of_queue_operation,
}
