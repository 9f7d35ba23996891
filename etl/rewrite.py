"""A part's stored facts, written anew: in the present format, without content, or without lines.

Every line can be rebuilt from its row, so it goes through normalise once more, as if it were read
from its log again. Where the content is gone already, the columns that are there stay as they are.
"""

import gc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from etl import rebuild, write
from etl.build import PartResult, Segment, derive_part
from etl.content import OFF, Keeping
from etl.facts import FactBatch, Facts
from etl.follow import Origin
from etl.jsontext import dumps
from etl.parse import objects_of, parse_line
from etl.parts import Slot
from etl.tables import CONTENT_BLOCKS, ENTRIES, FACTS, REJECTS, SIDECARS, Table

Row = Mapping[str, Any]
LineKey = tuple[str, int, int]  # file, generation, line

_ROWS_AT_ONCE = 4096
_KEY = ("file_id", "generation", "line_no")


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """One part to write anew: what was kept of its lines, what is to be kept, what is to go."""

    slot: Slot
    source: str
    segments: tuple[Segment, ...]
    staging: str
    before: Keeping
    after: Keeping
    gone_files: frozenset[str] = field(default_factory=frozenset)
    gone_lines: frozenset[LineKey] = field(default_factory=frozenset)


def rewrite_part(task: RewriteTask) -> PartResult:
    """Write all segments of a part anew, and derive its tables from them."""
    gc.disable()  # As in build: millions of objects, and no cycle.
    try:
        result = PartResult(task.slot, source=task.source)
        narrow = []
        for segment in task.segments:
            facts = rewritten(_stored(segment), task)
            for table in FACTS:
                file = write.write_table(table, facts[table.name], Path(task.staging))
                result.written.append((segment.number, segment.raw_bytes, file))
            narrow.append({one.name: facts[one.name].select(one.narrow_names()) for one in FACTS})
        derive_part(narrow, Path(task.staging), result)
        return result
    finally:
        gc.enable()


def rewritten(facts: Facts, task: RewriteTask) -> Facts:
    """Return a segment's facts as the task wants them."""
    facts = _without(facts, task)
    if task.before.is_metrics:
        return {table.name: as_declared(table, facts[table.name]) for table in FACTS}
    return _normalised_again(facts, task.before, task.after)


def _stored(segment: Segment) -> Facts:
    return {table.name: segment.read(table) for table in FACTS}


def _without(facts: Facts, task: RewriteTask) -> Facts:
    """Leave out the files that go, whole, and of the lines that go all but their places."""
    if task.gone_files:
        files = pa.array(sorted(task.gone_files), pa.string())
        facts = {
            name: rows.filter(pc.invert(pc.is_in(rows.column("file_id"), files)))
            for name, rows in facts.items()
        }
    return _without_lines(facts, task.gone_lines) if task.gone_lines else facts


def _without_lines(facts: Facts, lines: frozenset[LineKey]) -> Facts:
    split = {name: _split(facts[name], lines) for name in facts if name != SIDECARS.name}
    gone = [split[name][1] for name in (ENTRIES.name, REJECTS.name)]
    marks = [_marked(rows) for rows in gone]
    kept = {name: rows for name, (rows, _) in split.items()}
    kept[REJECTS.name] = pa.concat_tables([as_declared(REJECTS, kept[REJECTS.name]), *marks])
    return facts | kept


def _split(rows: pa.Table, lines: frozenset[LineKey]) -> tuple[pa.Table, pa.Table]:
    keys = zip(*(rows.column(name).to_pylist() for name in _KEY), strict=True)
    goes = pa.array([key in lines for key in keys], pa.bool_())
    return rows.filter(pc.invert(goes)), rows.filter(goes)


def _marked(rows: pa.Table) -> pa.Table:
    """Return what is left of forgotten lines: where they stood, so that the account is whole."""
    first = rows.filter(pc.equal(rows.column("object_index"), 0))
    marks = as_declared(REJECTS, first)
    at = REJECTS.names().index
    marks = marks.set_column(
        at("reason"), "reason", pa.array(["forgotten"] * first.num_rows, pa.string())
    )
    nothing = pa.nulls(first.num_rows, pa.binary())
    return marks.set_column(at("raw"), "raw", nothing).cast(REJECTS.schema())


def as_declared(table: Table, rows: pa.Table) -> pa.Table:
    """Return rows with the columns of today; those that were not there yet are null."""
    arrays = [
        rows.column(one.name).cast(one.type)
        if one.name in rows.column_names
        else pa.nulls(rows.num_rows, one.type)
        for one in table.schema()
    ]
    return pa.Table.from_arrays(arrays, schema=table.schema())


def _normalised_again(facts: Facts, before: Keeping, after: Keeping) -> Facts:
    """Put every line through normalise again; what was not hidden before and is now, is."""
    # What was redacted when it was read need not be looked through again.
    keeping = after if after.redact != before.redact else replace(after, redact=OFF)
    made: list[Facts] = []
    batch = FactBatch(keeping)
    raw: bytes | None = None
    for count, (row, blocks) in enumerate(_with_blocks(facts), 1):
        # The bytes of a line with several objects stand with the first of them.
        raw = row["raw"] if row["object_index"] == 0 or row["raw"] else raw
        _add_entry(batch, row, blocks, keeping, raw if row["flaws"] else None)
        if count % _ROWS_AT_ONCE == 0:
            made.append(batch.take())
    for row in _rows(facts[REJECTS.name]):
        raw = None if row["raw"] is None else keeping.redacted(row["raw"])
        batch.add_reject(_origin(row), _line_place(row), row["reason"], raw)
    for row in _rows(facts[SIDECARS.name]):
        batch.add_sidecar(_origin(row), row["name"], row["content"])
    made.append(batch.take())
    return {table.name: pa.concat_tables([one[table.name] for one in made]) for table in FACTS}


def _with_blocks(facts: Facts) -> Iterator[tuple[Row, list[Row]]]:
    """Yield entries with their blocks, which stand in the same order."""
    groups = groupby(_rows(facts[CONTENT_BLOCKS.name]), _place_of)
    none: tuple[tuple[object, ...], Iterator[Row]] = ((), iter(()))
    place, blocks = next(groups, none)
    for row in _rows(facts[ENTRIES.name]):
        if place != _place_of(row):
            yield row, []
        else:
            yield row, list(blocks)
            place, blocks = next(groups, none)


def _add_entry(
    batch: FactBatch, row: Row, blocks: list[Row], keeping: Keeping, raw: bytes | None
) -> None:
    flaws, index = row["flaws"], row["object_index"]
    logged = None if raw else rebuild.object_of(row, blocks)
    text = raw or (dumps(logged) if keeping.redactor else b"")
    kept = keeping.redacted(text)
    if text is not kept:
        flaws = f"{flaws}, redacted" if flaws else "redacted"
    if raw or text is not kept:
        # Of a line that JSON cannot give back, the bytes tell more than the columns.
        logged = objects_of(parse_line(kept))[index if raw else 0]
    place = (row["line_no"], row["byte_start"], row["byte_end"], index)
    as_kept = (kept if raw and not index else None, flaws)
    batch.add_object(_origin(row), place, logged or {}, row["line_hash"], as_kept)


def _rows(table: pa.Table) -> Iterator[Row]:
    """Yield rows as they are rebuilt from: instants as microseconds."""
    for name in table.column_names:
        if pa.types.is_timestamp(table.schema.field(name).type):
            index = table.column_names.index(name)
            table = table.set_column(index, name, table.column(name).cast(pa.int64()))
    for piece in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        yield from piece.to_pylist()


def _place_of(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in (*_KEY, "object_index"))


def _line_place(row: Row) -> tuple[int, int, int]:
    return row["line_no"], row["byte_start"], row["byte_end"]


def _origin(row: Row) -> Origin:
    return Origin(
        row["file_id"],
        row["generation"],
        row["session_id"],
        row["agent_id"],
        row.get("layout", ""),
        row.get("workflow_run_id"),
    )
