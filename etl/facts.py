"""Gather the facts of many lines, across files, and hand them over as Arrow tables.

Work is done per batch of lines, not per line, wherever a batch will do.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from etl.content import Keeping
from etl.follow import Origin, Place, Tally, lines_in
from etl.hashing import line_hash
from etl.normalise import blocks, entries, sidecars
from etl.normalise.fields import JsonObject
from etl.parse import Parsed, Rejected, objects_of, parse_line
from etl.tables import CONTENT_BLOCKS, ENTRIES, FACTS, REJECTS, SIDECARS, Table

_BLOCK_FIELDS = blocks.BlockRow._fields
_AGENT_LAYOUTS = frozenset({"flat", "subagents", "workflow"})

# What a block takes over from the entry it stands in.
_OWNED_BY_ENTRY = [
    "file_id",
    "generation",
    "line_no",
    "byte_start",
    "byte_end",
    "object_index",
    "session_id",
    "agent_id",
]

Facts = dict[str, pa.Table]
Columns = dict[str, Sequence[Any]]  # or an Arrow array, which is one as well


class FactBatch:
    """Lines in, tables out. Holds one batch; `take` empties it."""

    def __init__(self, keeping: Keeping | None = None) -> None:
        """Start empty; say what of the content is kept."""
        self._keeping = keeping or Keeping()
        self._reset()

    def _reset(self) -> None:
        self.raw_bytes = 0
        self._objects: list[JsonObject] = []
        self._places: list[tuple[Origin, int, int, int, int]] = []
        self._hashes: list[int] = []
        self._raws: list[bytes | None] = []
        self._flaws: dict[int, str] = {}
        self._rejects: list[tuple[Origin, int, int, int, str, bytes | None]] = []
        self._sidecars: list[tuple[Origin, str, bytes]] = []

    def add_lines(self, origin: Origin, start: int, lines: bytes, tally: Tally) -> None:
        """Take in whole lines that begin at byte `start` of the file."""
        self.raw_bytes += len(lines)
        for place, line in lines_in(start, lines, tally):
            self._add_line(origin, place, line, tally)

    def add_tail(self, origin: Origin, start: int, line: bytes, tally: Tally) -> None:
        """Take in a last line that will never get its newline."""
        self.raw_bytes += len(line)
        tally.lines += 1
        self._add_line(origin, (tally.lines, start, start + len(line)), line, tally)

    def _add_line(self, origin: Origin, place: Place, line: bytes, tally: Tally) -> None:
        digest = line_hash(line)
        if digest in self._keeping.forgotten_lines:
            self.add_reject(origin, place, "forgotten", None)
            tally.rejects += 1
            return
        kept = self._keeping.redacted(line)
        parsed = parse_line(kept)
        if parsed.__class__ is dict and kept is line:
            self.add_object(origin, (*place, 0), parsed, digest)
            tally.entries += 1
        elif isinstance(parsed, Rejected):
            self.add_reject(origin, place, parsed.reason, kept)
            tally.rejects += 1
        else:
            losses = parsed.flaws if isinstance(parsed, Parsed) else ()
            flaws = ", ".join([*losses, *([] if kept is line else ["redacted"])]) or None
            for index, object_ in enumerate(objects_of(parsed)):
                # Its bytes stand once, with the first: a line may hold a million objects.
                as_kept = (kept if losses and not index else None, flaws)
                self.add_object(origin, (*place, index), object_, digest, as_kept)
                tally.entries += 1

    def add_object(
        self,
        origin: Origin,
        place: tuple[int, int, int, int],
        object_: JsonObject,
        digest: int,
        raw_and_flaws: tuple[bytes | None, str | None] = (None, None),
    ) -> None:
        """Take in one object with its place, and the hash of the line it stood on."""
        raw, flaws = raw_and_flaws
        if flaws:
            self._flaws[len(self._objects)] = flaws
        self._objects.append(object_)
        self._places.append((origin, *place))
        self._hashes.append(digest)
        self._raws.append(raw)

    def add_reject(self, origin: Origin, place: Place, reason: str, raw: bytes | None) -> None:
        """Keep a line that is no JSON object, with the reason."""
        self._rejects.append((origin, *place, reason, raw))

    def add_sidecar(self, origin: Origin, name: str, content: bytes) -> None:
        """Keep a sidecar whole, but for what is not to be kept of it."""
        self.raw_bytes += len(content)
        if line_hash(content) in self._keeping.forgotten_lines:
            return
        content = self._keeping.redacted(content)
        self._sidecars.append((origin, name, content))

    def take(self) -> Facts:
        """Return everything gathered as one table a kind of fact, and start again empty."""
        entry_rows = self._entries()
        facts = {
            "entries": entry_rows,
            "content_blocks": self._blocks(entry_rows),
            "rejects": self._rejected(),
            "sidecars": self._sidecar_rows(),
        }
        self._reset()
        return {table.name: self._keeping.kept(table, facts[table.name]) for table in FACTS}

    def _entries(self) -> pa.Table:
        is_agent = [place[0].layout in _AGENT_LAYOUTS for place in self._places]
        columns: Columns = dict(entries.columns_of(self._objects, is_agent=is_agent))
        columns |= _place_columns(self._places)
        logged = columns["logged_agent_id"]
        columns["agent_id"] = [
            place[0].agent_id or own for place, own in zip(self._places, logged, strict=True)
        ]
        columns["layout"] = [place[0].layout for place in self._places]
        columns["workflow_run_id"] = [place[0].workflow_run_id for place in self._places]
        columns["line_hash"] = self._hashes
        columns["flaws"] = [*map(self._flaws.get, range(len(self._objects)))]
        columns["raw"] = self._raws
        return _table(ENTRIES, columns)

    def _blocks(self, entry_rows: pa.Table) -> pa.Table:
        rows: list[blocks.BlockRow] = []
        owners: list[int] = []
        indexes: list[int] = []
        for owner, object_ in enumerate(self._objects):
            message = object_.get("message")
            if message.__class__ is not dict:
                continue
            found = blocks.rows_of(message.get("content"))
            rows += found
            owners += [owner] * len(found)
            indexes += range(len(found))
        by_field = list(zip(*rows, strict=True)) or [()] * len(_BLOCK_FIELDS)
        columns: Columns = dict(zip(_BLOCK_FIELDS, by_field, strict=True))
        columns["block_index"] = indexes
        owned = entry_rows.select(_OWNED_BY_ENTRY).take(pa.array(owners, pa.int64()))
        columns |= {name: owned.column(name) for name in _OWNED_BY_ENTRY}
        return _table(CONTENT_BLOCKS, columns)

    def _rejected(self) -> pa.Table:
        places = [
            (origin, number, start, end, 0) for origin, number, start, end, *_ in self._rejects
        ]
        columns = _place_columns(places)
        columns["agent_id"] = [origin.agent_id for origin, *_ in places]
        columns["reason"] = [reject[4] for reject in self._rejects]
        columns["raw"] = [reject[5] for reject in self._rejects]
        return _table(REJECTS, columns)

    def _sidecar_rows(self) -> pa.Table:
        rows = [
            {
                "file_id": origin.file_id,
                "generation": origin.generation,
                "session_id": origin.session_id,
                "agent_id": origin.agent_id,
                "name": name,
                "content": content,
                **sidecars.columns_of(content),
            }
            for origin, name, content in self._sidecars
        ]
        return _table(SIDECARS, {name: [row[name] for row in rows] for name in SIDECARS.names()})


def _place_columns(places: list[tuple[Origin, int, int, int, int]]) -> Columns:
    return {
        "file_id": [place[0].file_id for place in places],
        "generation": [place[0].generation for place in places],
        "session_id": [place[0].session_id for place in places],
        "line_no": [place[1] for place in places],
        "byte_start": [place[2] for place in places],
        "byte_end": [place[3] for place in places],
        "object_index": [place[4] for place in places],
    }


def _table(table: Table, columns: Columns) -> pa.Table:
    """Make the Arrow table. A column too many or too few is a bug and raises here."""
    schema = table.schema()
    if set(columns) != set(schema.names):
        raise KeyError(sorted(set(columns) ^ set(schema.names)))
    arrays = [_array(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return values if isinstance(values, pa.ChunkedArray) else pa.array(values, type=kind)
