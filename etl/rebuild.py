"""The way back: from the columns, the payload and the blocks of an entry to the logged object.

Knows nothing of how rows are made but what the tables declare: each column's path.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from etl.jsontext import loads
from etl.normalise.instants import text_of
from etl.tables import ENTRIES

Row = Mapping[str, Any]
JsonObject = dict[str, Any]

_TIMESTAMP = ("timestamp",)
_PATHS = [(column.name, column.path) for column in ENTRIES.columns if column.path]
_TEXT_KEYS = {"text": "text", "thinking": "thinking"}


def object_of(entry: Row, blocks: Sequence[Row]) -> JsonObject:
    """Return the object that was logged; instants come as microseconds since 1970."""
    rebuilt: JsonObject = loads(entry["payload"]) if entry["payload"] else {}
    for name, path in _PATHS:
        value = entry[name]
        if value is None:
            continue
        if path == _TIMESTAMP:
            rebuilt.setdefault("timestamp", text_of(value))
        else:
            _put(rebuilt, path, value)
    if blocks:
        _put(rebuilt, ("message", "content"), content_of(blocks))
    return rebuilt


def content_of(blocks: Sequence[Row]) -> object:
    """Return a message's content from the rows of its blocks, in their order."""
    if blocks[0]["form"] == "string":
        return blocks[0]["text"]
    return [_block_of(block) for block in blocks]


def _put(rebuilt: JsonObject, path: Sequence[str], value: object) -> None:
    *parents, key = path
    for parent in parents:
        rebuilt = rebuilt.setdefault(parent, {})
    rebuilt[key] = value


def _block_of(row: Row) -> object:
    rest = loads(row["payload"]) if row["payload"] else {}
    if row["form"] == "item":
        return row["text"]
    if row["form"] == "value":
        return rest
    kind = row["block_type"]
    is_result = kind is not None and kind.endswith("tool_result")
    lifted = {
        "type": kind,
        "tool_use_id" if is_result else "id": row["tool_use_id"],
        "name": row["tool_name"],
        "input": loads(row["input"]) if row["input"] else None,
        "is_error": row["is_error"],
        "content" if is_result else _TEXT_KEYS.get(kind, "text"): row["text"],
    }
    if is_result and row["text"] is not None and "~content" in rest:
        lifted["content"] = _filled(rest.pop("~content"), row["text"])
    return {key: value for key, value in lifted.items() if value is not None} | rest


def _filled(skeleton: list[Any], text: str) -> list[Any]:
    """Put the texts back where the skeleton has their lengths."""
    items, at = [], 0
    for item in skeleton:
        length = item.get("text") if isinstance(item, dict) else None
        if isinstance(length, int):
            items.append({**item, "text": text[at : at + length]})
            at += length + 1
        else:
            items.append(item)
    return items
