"""Entries: the columns of many JSON objects at once, and what no column took as payload."""

from collections.abc import Collection, Sequence

from etl.jsontext import dumps
from etl.normalise import known, prompts, told
from etl.normalise.fields import (
    EMPTY,
    JsonObject,
    Values,
    kinds_below,
    lift,
    members,
    names_below,
    rest_of,
    rest_of_counts,
)
from etl.normalise.instants import is_canonical, micros_of
from etl.tables import ENTRIES

_LONGEST_STATE = 4096
# What happened, and what carries file contents: all else is a session's state, the last of it true.
_NO_STATE = frozenset(
    {
        None,
        "user",
        "assistant",
        "system",
        "attachment",
        "progress",
        "queue-operation",
        "file-history-snapshot",
        "file-history-delta",
        "attribution-snapshot",
        "content-replacement",
    }
)
_MOST_WORDS = 500
_NESTED_USAGE = ("cache_creation", "output_tokens_details", "server_tool_use")
_TOP_NAMES, _TOP = names_below(ENTRIES), kinds_below(ENTRIES)
_MESSAGE_NAMES = names_below(ENTRIES, "message")
_MESSAGE = kinds_below(ENTRIES, "message")
_USAGE_NAMES = names_below(ENTRIES, "message", "usage")
_USAGE = kinds_below(ENTRIES, "message", "usage")
_NESTED_NAMES = {key: names_below(ENTRIES, "message", "usage", key) for key in _NESTED_USAGE}
_NESTED = {key: kinds_below(ENTRIES, "message", "usage", key) for key in _NESTED_USAGE}


def columns_of(objects: Sequence[JsonObject], *, is_agent: Sequence[bool]) -> dict[str, Values]:
    """Return the columns that the objects themselves fill, payload included, by column name."""
    messages = members(objects, "message")
    usages = members(messages, "usage")
    names = known.names_in(objects, messages, usages)
    columns = _lifted(objects, _TOP_NAMES, _TOP, names[""])
    columns |= _lifted(messages, _MESSAGE_NAMES, _MESSAGE, names["message."])
    columns |= _usage_columns(usages, names["message.usage."])
    stamps = lift(objects, "timestamp", str)
    columns["occurred_at"] = [
        micros_of(stamp) if isinstance(stamp, str) else None for stamp in stamps
    ]
    verdicts = [
        prompts.verdict_on(entry, message, is_agent=agent)
        if kind in prompts.TYPES
        else prompts.NO_PROMPT
        for kind, entry, message, agent in zip(
            columns["type"], objects, messages, is_agent, strict=True
        )
    ]
    columns["prompt_kind"] = [kind for kind, _ in verdicts]
    columns["prompt_rule"] = [rule for _, rule in verdicts]
    columns["prompt"] = [
        prompts.typed_in(entry, message, kind)
        for (kind, _), entry, message in zip(verdicts, objects, messages, strict=True)
    ]
    columns["answer_preview"] = [
        _last_words(message) if kind == "assistant" and not (agent or sidechain) else None
        for kind, message, agent, sidechain in zip(
            columns["type"], messages, is_agent, columns["is_sidechain"], strict=True
        )
    ]
    columns |= told.columns_of(objects, columns["type"])
    columns["unknown_fields"] = known.unknown_fields(objects, messages, usages, names)
    columns["payload"] = [
        _payload(entry, stamp, micros)
        for entry, stamp, micros in zip(objects, stamps, columns["occurred_at"], strict=True)
    ]
    columns["state"] = [
        None if kind in _NO_STATE else _state(payload)
        for kind, payload in zip(columns["type"], columns["payload"], strict=True)
    ]
    return columns


def _last_words(message: JsonObject) -> str | None:
    content = message.get("content")
    blocks = content[::-1] if isinstance(content, list) else [content]
    words = next(filter(None, (prompts.words_of([block]) for block in blocks)), "")
    return words[:_MOST_WORDS] or None


def _state(payload: object) -> bytes | None:
    if isinstance(payload, bytes) and len(payload) <= _LONGEST_STATE:
        return payload
    return None


def _lifted(
    objects: Sequence[JsonObject],
    names: dict[str, str],
    kinds: dict[str, type],
    seen: Collection[str],
) -> dict[str, Values]:
    """Lift each key that any of the objects has."""
    nothing: Values = [None] * len(objects)
    return {
        name: lift(objects, key, kinds[key]) if key in seen else nothing
        for key, name in names.items()
    }


def _usage_columns(usages: Sequence[JsonObject], seen: Collection[str]) -> dict[str, Values]:
    columns = _lifted(usages, _USAGE_NAMES, _USAGE, seen)
    for key, names in _NESTED_NAMES.items():
        nested = members(usages, key) if key in seen else usages
        columns |= _lifted(nested, names, _NESTED[key], _NESTED[key].keys() if key in seen else ())
    return columns


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
