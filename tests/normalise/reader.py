"""Read the warehouse backwards: from the columns, the payload and the blocks to the logged object.

Knows nothing of how rows are made but what the tables declare: each column's path.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from etl.facts import FactBatch, Facts, Origin, Tally
from etl.tables import ENTRIES

Row = dict[str, Any]
MAIN = Origin("file", 0, "session", None, "main")
_TEXT_KEYS = {"text": "text", "thinking": "thinking", "tool_result": "content"}


def facts_of(lines: bytes, origin: Origin = MAIN) -> Facts:
    """Return the facts of whole lines that begin a file."""
    batch = FactBatch()
    batch.add_lines(origin, 0, lines, Tally())
    return batch.take()


def rebuilt_lines(facts: Facts) -> list[bytes | Row]:
    """Return every entry in order: its raw bytes where they were kept, else its object."""
    blocks = facts["content_blocks"].to_pylist()
    return [
        entry["raw"]
        if entry["raw"] is not None
        else _object_of(entry, [block for block in blocks if _stands_in(block, entry)])
        for entry in facts["entries"].to_pylist()
    ]


def canonical(value: object) -> str:
    """Write a value so that equal text is equal JSON; 1, 1.0 and true stay apart."""
    return json.dumps(value, sort_keys=True)


def _stands_in(block: Row, entry: Row) -> bool:
    return all(block[name] == entry[name] for name in ENTRIES.key)


def _object_of(entry: Row, blocks: Sequence[Row]) -> Row:
    rebuilt: Row = json.loads(entry["payload"] or "{}")
    for column in ENTRIES.columns:
        value = entry[column.name]
        if column.path == ("timestamp",):
            if value is not None:
                rebuilt.setdefault("timestamp", _stamp(value))
        elif column.path and value is not None:
            _put(rebuilt, column.path, value)
    if blocks:
        _put(rebuilt, ("message", "content"), content_of(blocks))
    return rebuilt


def _stamp(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _put(rebuilt: Row, path: Sequence[str], value: object) -> None:
    *parents, key = path
    for parent in parents:
        rebuilt = rebuilt.setdefault(parent, {})
    assert key not in rebuilt, f"{path} stands in its column and in the payload"
    rebuilt[key] = value


def content_of(blocks: Sequence[Row]) -> object:
    """Return a message's content from the rows of its blocks."""
    if blocks[0]["form"] == "string":
        return blocks[0]["text"]
    return [_block_of(block) for block in blocks]


def _block_of(row: Row) -> object:
    rest = json.loads(row["payload"]) if row["payload"] is not None else {}
    if row["form"] == "item":
        return row["text"]
    if row["form"] == "value":
        return rest
    kind = row["block_type"]
    is_result = kind == "tool_result"
    lifted = {
        "type": kind,
        "tool_use_id" if is_result else "id": row["tool_use_id"],
        "name": row["tool_name"],
        "input": None if row["input"] is None else json.loads(row["input"]),
        "is_error": row["is_error"],
        _TEXT_KEYS.get(kind, "text"): row["text"],
    }
    if is_result and row["text"] is not None and "~content" in rest:
        lifted["content"] = _filled(rest.pop("~content"), row["text"])
    lifted = {key: value for key, value in lifted.items() if value is not None}
    assert not lifted.keys() & rest.keys(), "a value stands in its column and in the payload"
    return {**lifted, **rest}


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
