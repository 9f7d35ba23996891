"""Entries: the columns of many JSON objects at once, and what no column took as payload."""

from collections.abc import Sequence

from etl.jsontext import dumps
from etl.normalise import prompts
from etl.normalise.fields import (
    EMPTY,
    JsonObject,
    Values,
    count_at,
    kinds_below,
    lift,
    members,
    names_below,
    rest_of,
    rest_of_counts,
    text_at,
)
from etl.normalise.instants import is_canonical, micros_of
from etl.tables import ENTRIES

_META_TEXT_CHARS = 200
_NESTED_USAGE = ("cache_creation", "output_tokens_details", "server_tool_use")
_TOP_NAMES, _TOP = names_below(ENTRIES), kinds_below(ENTRIES)
_MESSAGE_NAMES = names_below(ENTRIES, "message")
_MESSAGE = kinds_below(ENTRIES, "message")
_USAGE_NAMES = names_below(ENTRIES, "message", "usage")
_USAGE = kinds_below(ENTRIES, "message", "usage")
_NESTED_NAMES = {key: names_below(ENTRIES, "message", "usage", key) for key in _NESTED_USAGE}
_NESTED = {key: kinds_below(ENTRIES, "message", "usage", key) for key in _NESTED_USAGE}
_TOLD = (
    "iterations",
    "duration_ms",
    "compact_trigger",
    "pre_tokens",
    "post_tokens",
    "is_compact_summary",
    "spawned_agent_id",
    "linked_tool_use_id",
    "result_meta",
    "forked_from_session_id",
    "forked_from_uuid",
)


def columns_of(objects: Sequence[JsonObject], *, is_agent: Sequence[bool]) -> dict[str, Values]:
    """Return the columns that the objects themselves fill, payload included, by column name."""
    messages = members(objects, "message")
    columns = _lifted(objects, _TOP_NAMES, _TOP)
    columns |= _lifted(messages, _MESSAGE_NAMES, _MESSAGE)
    columns |= _usage_columns(messages)
    stamps = lift(objects, "timestamp", str)
    columns["occurred_at"] = [
        micros_of(stamp) if isinstance(stamp, str) else None for stamp in stamps
    ]
    verdicts = [
        prompts.verdict_on(entry, message, is_agent=agent)
        for entry, message, agent in zip(objects, messages, is_agent, strict=True)
    ]
    columns["prompt_kind"] = [kind for kind, _ in verdicts]
    columns["prompt_rule"] = [rule for _, rule in verdicts]
    columns |= _told_columns(objects)
    columns["payload"] = [
        _payload(entry, stamp, micros)
        for entry, stamp, micros in zip(objects, stamps, columns["occurred_at"], strict=True)
    ]
    return columns


def _lifted(
    objects: Sequence[JsonObject], names: dict[str, str], kinds: dict[str, type]
) -> dict[str, Values]:
    return {name: lift(objects, key, kinds[key]) for key, name in names.items()}


def _usage_columns(messages: Sequence[JsonObject]) -> dict[str, Values]:
    usages = members(messages, "usage")
    columns = _lifted(usages, _USAGE_NAMES, _USAGE)
    for key, names in _NESTED_NAMES.items():
        columns |= _lifted(members(usages, key), names, _NESTED[key])
    return columns


def _told_columns(objects: Sequence[JsonObject]) -> dict[str, Values]:
    """Copies of payload values that derived tables need, so that they never read a payload."""
    columns: dict[str, Values] = {name: [None] * len(objects) for name in _TOLD}
    for index, entry in enumerate(objects):
        for name, value in _told(entry).items():
            columns[name][index] = value
    return columns


def _told(entry: JsonObject) -> dict[str, object]:
    kind = entry.get("type")
    told: dict[str, object] = {}
    if "forkedFrom" in entry:
        told = _told_of_fork(entry)
    if kind == "user":
        return told | _told_of_user(entry)
    if kind == "assistant":
        return told | _told_of_assistant(entry)
    if kind == "system":
        return told | _told_of_system(entry)
    if kind == "progress":
        return told | _told_of_progress(entry)
    return told


def _told_of_fork(entry: JsonObject) -> dict[str, object]:
    origin = entry["forkedFrom"]
    if not isinstance(origin, dict):
        return {}
    return {
        "forked_from_session_id": text_at(origin, "sessionId"),
        "forked_from_uuid": text_at(origin, "messageUuid"),
    }


def _told_of_user(entry: JsonObject) -> dict[str, object]:
    told: dict[str, object] = {}
    if "isCompactSummary" in entry:
        told["is_compact_summary"] = entry["isCompactSummary"] is True
    result = entry.get("toolUseResult")
    if result.__class__ is dict:
        told["spawned_agent_id"] = text_at(result, "agentId")
        small = {
            key: value
            for key, value in result.items()
            if value.__class__ in (int, float, bool)
            or (value.__class__ is str and len(value) <= _META_TEXT_CHARS)
        }
        told["result_meta"] = dumps(small) if small else None
    return told


def _told_of_assistant(entry: JsonObject) -> dict[str, object]:
    message = entry.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    iterations = usage.get("iterations") if isinstance(usage, dict) else None
    return {"iterations": dumps(iterations)} if isinstance(iterations, list) else {}


def _told_of_system(entry: JsonObject) -> dict[str, object]:
    compaction = entry.get("compactMetadata")
    if not isinstance(compaction, dict):
        return {"duration_ms": count_at(entry, "durationMs")}
    return {
        "compact_trigger": text_at(compaction, "trigger"),
        "pre_tokens": count_at(compaction, "preTokens"),
        "post_tokens": count_at(compaction, "postTokens"),
        "duration_ms": count_at(compaction, "durationMs"),
    }


def _told_of_progress(entry: JsonObject) -> dict[str, object]:
    progress = entry.get("data")
    if not isinstance(progress, dict):
        return {}
    return {
        "spawned_agent_id": text_at(progress, "agentId"),
        "linked_tool_use_id": text_at(entry, "parentToolUseID"),
    }


def _payload(entry: JsonObject, stamp: object, micros: object) -> bytes | None:
    rest = rest_of(entry, _TOP)
    # An instant that its column cannot write again letter for letter stays as it was, too.
    if stamp is not None and micros is not None and is_canonical(str(stamp)):
        del rest["timestamp"]
    message = rest.get("message")
    if message.__class__ is dict and message:
        left = _message_rest(message)
        if left:
            rest["message"] = left
        else:
            del rest["message"]
    return dumps(rest) if rest else None


def _message_rest(message: JsonObject) -> JsonObject:
    rest = rest_of(message, _MESSAGE)
    content = rest.get("content")
    if content.__class__ is str or (content.__class__ is list and content):
        del rest["content"]
    usage = rest.get("usage")
    if usage.__class__ is dict and usage:
        left = _usage_rest(usage)
        if left:
            rest["usage"] = left
        else:
            del rest["usage"]
    return rest


def _usage_rest(usage: JsonObject) -> JsonObject:
    rest = rest_of_counts(usage, _USAGE)
    for key, kinds in _NESTED.items():
        nested = rest.get(key, EMPTY)
        if nested.__class__ is dict and nested:
            left = rest_of_counts(nested, kinds)
            if left:
                rest[key] = left
            else:
                del rest[key]
    return rest
