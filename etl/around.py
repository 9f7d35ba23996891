"""Read the files around the logs. Their tables are small and kept whole in every commit.

Claude Code forgets: it drops sessions from an index and days from its statistics. A row that is
no longer there stays as it was last seen.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from etl.content import Keeping
from etl.follow import FileOutcome, FileTask, Origin, Place, Tally, follow, lines_in, whole
from etl.hashing import line_hash
from etl.normalise.around import Row, daily_stats_of, prompt_of, session_index_of
from etl.parse import JsonObject, Parsed, objects_of, parse_line
from etl.read import TornReadError
from etl.tables import AROUND_TABLES, DAILY_STATS, PROMPT_HISTORY, SESSION_INDEX, Table

Tables = Mapping[str, pa.Table]

_DOCUMENTS: dict[str, tuple[Table, Callable[[JsonObject], list[Row]]]] = {
    "index": (SESSION_INDEX, session_index_of),
    "stats": (DAILY_STATS, daily_stats_of),
}
# What makes two rows the same thing, whichever generation of the file they stand in.
_SAME = {
    PROMPT_HISTORY.name: ("file_id", "occurred_at", "display", "project", "session_id", "payload"),
    SESSION_INDEX.name: ("file_id", "session_id"),
    DAILY_STATS.name: ("file_id", "day"),
}


@dataclass(slots=True)
class News:
    """What became of the files, and the tables that changed."""

    outcomes: list[FileOutcome] = field(default_factory=list)
    tables: dict[str, pa.Table] = field(default_factory=dict)


def read(files: Iterable[tuple[str, FileTask]], stored: Tables, keeping: Keeping) -> News:
    """Read what is new in files of these kinds, and merge it with the stored tables."""
    news = News()
    fresh: dict[str, list[Row]] = {}
    replaced: dict[str, set[str]] = {}
    for kind, file in files:
        table, outcome, rows = _look_at(kind, file, keeping)
        news.outcomes.append(outcome)
        fresh.setdefault(table.name, []).extend(rows)
        if outcome.generation != file.origin.generation:
            replaced.setdefault(table.name, set()).add(file.origin.file_id)
    for table in AROUND_TABLES:
        if new := fresh.get(table.name):
            earlier = stored.get(table.name)
            rows_now = keeping.kept(table, _arrow(table, new))
            rewritten = replaced.get(table.name, set())
            news.tables[table.name] = _merged(table, earlier, rows_now, rewritten)
    return news


def _look_at(kind: str, file: FileTask, keeping: Keeping) -> tuple[Table, FileOutcome, list[Row]]:
    table = _DOCUMENTS[kind][0] if kind in _DOCUMENTS else PROMPT_HISTORY
    try:
        if kind in _DOCUMENTS:
            return table, *_read_document(kind, file, keeping)
        sink = _PromptSink(keeping)
        return table, follow(file, sink), sink.rows
    except TornReadError:
        return table, _failed(file, "it changed while it was read; the next run reads it"), []
    except OSError as error:
        return table, _failed(file, f"cannot read: {error.strerror}"), []


def _failed(file: FileTask, problem: str) -> FileOutcome:
    return FileOutcome(file.origin.file_id, problem=problem)


def _read_document(kind: str, file: FileTask, keeping: Keeping) -> tuple[FileOutcome, list[Row]]:
    outcome, content = whole(file)
    if content is None:
        return outcome, []
    document = objects_of(parse_line(keeping.redacted(content.strip())))
    if len(document) != 1:
        # It may be half written: what was read before stays, and it is looked at again.
        kept = replace(outcome, generation=file.origin.generation, offset=file.offset)
        return replace(kept, prefix_hash=file.prefix_hash, event="is not one JSON object"), []
    rows = _DOCUMENTS[kind][1](document[0])
    return outcome, [
        {"file_id": outcome.file_id, **row}
        for row in rows
        if not keeping.forgets(row.get("session_id"))
    ]


def _is_forgotten(line: bytes, objects: Sequence[JsonObject], keeping: Keeping) -> bool:
    """Say whether a typed prompt, or its session, was forgotten; then only its place is kept."""
    return line_hash(line) in keeping.forgotten_lines or any(
        keeping.forgets(one.get("sessionId")) for one in objects
    )


class _PromptSink:
    """Lines of `history.jsonl` in, rows out. A line that is no JSON object is kept raw."""

    def __init__(self, keeping: Keeping) -> None:
        self.rows: list[Row] = []
        self._keeping = keeping

    def add_lines(self, origin: Origin, start: int, lines: bytes, tally: Tally) -> None:
        for place, line in lines_in(start, lines, tally):
            kept = self._keeping.redacted(line)
            parsed = parse_line(kept)
            objects = objects_of(parsed)
            if _is_forgotten(line, objects, self._keeping):
                objects, kept = (), b""
            tally.entries += len(objects)
            raw = kept if isinstance(parsed, Parsed) and parsed.flaws else None
            for index, one in enumerate(objects):
                # Its bytes stand once, with the first: a line may hold a million objects.
                self._add(origin, (*place, index), None if index else raw, prompt_of(one))
            if not objects:
                self.add_reject(origin, place, "", kept)
                tally.rejects += 1

    def add_reject(self, origin: Origin, place: Place, reason: str, raw: bytes | None) -> None:
        """Keep the line and its place; there is no column for the reason."""
        del reason
        self._add(origin, (*place, 0), raw, {})

    def settle(self) -> None:
        """Keep all rows until the file is read."""

    def _add(
        self, origin: Origin, place: tuple[int, int, int, int], raw: bytes | None, row: Row
    ) -> None:
        names = ("line_no", "byte_start", "byte_end", "object_index")
        at = dict(zip(names, place, strict=True))
        file = {"file_id": origin.file_id, "generation": origin.generation}
        self.rows.append({**file, **at, "raw": raw, **row})


def _arrow(table: Table, rows: Sequence[Row]) -> pa.Table:
    schema = table.schema()
    arrays = [pa.array([row.get(one.name) for row in rows], type=one.type) for one in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _merged(
    table: Table, earlier: pa.Table | None, fresh: pa.Table, rewritten: set[str]
) -> pa.Table:
    """Return the new rows and those of before that they do not stand for again."""
    if earlier is None:
        return fresh
    if not rewritten:
        return pa.concat_tables([earlier, fresh])
    new = set(_identities(fresh, table))
    is_kept = [
        identity[0] not in rewritten or identity not in new
        for identity in _identities(earlier, table)
    ]
    return pa.concat_tables([earlier.filter(pa.array(is_kept, pa.bool_())), fresh])


def _identities(rows: pa.Table, table: Table) -> Iterator[tuple[object, ...]]:
    columns = [rows.column(name).to_pylist() for name in _SAME[table.name]]
    return zip(*columns, strict=True)
