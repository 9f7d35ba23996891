"""Facts of made-up lines, and the lines rebuilt from them."""

import json
from collections import defaultdict

from etl import rebuild
from etl.facts import FactBatch, Facts
from etl.follow import Origin, Tally
from etl.tables import ENTRIES

Place = tuple[object, ...]

MAIN = Origin("file", 0, "session", None, "main")


def facts_of(lines: bytes, origin: Origin = MAIN) -> Facts:
    """Return the facts of whole lines that begin a file."""
    batch = FactBatch()
    batch.add_lines(origin, 0, lines, Tally())
    return batch.take()


def rebuilt_lines(facts: Facts) -> list[bytes | rebuild.JsonObject]:
    """Return every entry in order: its raw bytes where they were kept, else its object."""
    entries = facts["entries"]
    at = entries.column_names.index("occurred_at")
    micros = entries.column("occurred_at").cast("int64")
    rows = entries.set_column(at, "occurred_at", micros).to_pylist()
    blocks: dict[Place, list[rebuild.Row]] = defaultdict(list)
    for block in facts["content_blocks"].to_pylist():
        blocks[_place(block)].append(block)
    return [
        entry["raw"]
        if entry["raw"] is not None
        else rebuild.object_of(entry, blocks.get(_place(entry), ()))
        for entry in rows
    ]


def canonical(value: object) -> str:
    """Write a value so that equal text is equal JSON; 1, 1.0 and true stay apart."""
    return json.dumps(value, sort_keys=True)


def _place(row: rebuild.Row) -> Place:
    return tuple(row[name] for name in ENTRIES.key)
