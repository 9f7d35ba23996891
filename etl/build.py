"""Build one part: read its files' new lines, write its facts and the tables derived from them.

A pure step from the outside: the same inputs give the same rows, in any process, on any machine.
"""

import gc
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from etl import derive, write
from etl.content import Keeping
from etl.errors import StorageError
from etl.facts import FactBatch, Facts
from etl.follow import FileOutcome, FileTask, Origin, Place, Tally, follow, whole
from etl.jsontext import loads
from etl.parts import SEGMENT_BYTES, Slot
from etl.read import TornReadError
from etl.tables import DERIVED, FACTS, Table

BATCH_BYTES = 4_000_000
_FACTS = {table.name: table for table in FACTS}


@dataclass(frozen=True, slots=True)
class Segment:
    """A stored stretch of a part's facts: its files by table, and how much raw log it holds."""

    number: int
    raw_bytes: int
    paths: dict[str, str]
    content_hashes: dict[str, str] = field(default_factory=dict)

    def read(self, table: Table, columns: list[str] | None = None) -> pa.Table:
        """Return one table's rows; a file that is not as it was written is refused."""
        content_hash = self.content_hashes.get(table.name)
        return write.read_table(Path(self.paths[table.name]), columns, content_hash=content_hash)


@dataclass(frozen=True, slots=True)
class PartTask:
    """Everything one worker needs to build one part."""

    slot: Slot
    files: tuple[FileTask, ...]
    segments: tuple[Segment, ...]
    staging: str
    segment_bytes: int = SEGMENT_BYTES
    keeping: Keeping = field(default_factory=Keeping)


@dataclass(slots=True)
class PartResult:
    """The files a part wrote in staging, which segments they replace, and its files' outcomes."""

    slot: Slot
    outcomes: list[FileOutcome] = field(default_factory=list)
    written: list[tuple[int, int, write.WrittenFile]] = field(default_factory=list)
    replaced_segments: set[int] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    source: str = ""


class _UnreadError(Exception):
    """Raised when a file cannot be read to its end."""

    def __init__(self, file: FileTask, reason: str | None) -> None:
        super().__init__(file.path)
        self.outcome = FileOutcome(file.origin.file_id, problem=f"cannot read: {reason}")


def build_part(task: PartTask) -> PartResult:
    """Read, normalise, derive and write one part. Files that cannot be read whole are left out."""
    unread: list[FileOutcome] = []
    # Nothing here makes reference cycles, and the collector would walk millions of fresh objects.
    gc.disable()
    try:
        result = _built(task, unread)
        result.outcomes += unread
        return result
    finally:
        gc.enable()


def _built(task: PartTask, unread: list[FileOutcome]) -> PartResult:
    """Begin anew without each file that fails half-way: the rows it gave must not stay."""
    while True:
        try:
            return _PartBuilder(task).build()
        except TornReadError as torn:
            task = _without(task, str(torn))
        except _UnreadError as error:
            task = _without(task, str(error))
            unread.append(error.outcome)
        except derive.DeriveError as error:
            return _not_done(task, str(error))


def _not_done(task: PartTask, problem: str) -> PartResult:
    """Leave a part as it was, and say so of every file that has news for it."""
    outcomes = [FileOutcome(file.origin.file_id, problem=problem) for file in task.files]
    return PartResult(task.slot, outcomes)


def _without(task: PartTask, path: str) -> PartTask:
    return replace(task, files=tuple(file for file in task.files if file.path != path))


class _PartBuilder:
    """The state of one build: the open segment, what was written, what derive will read."""

    def __init__(self, task: PartTask) -> None:
        self._task = task
        self._result = PartResult(task.slot)
        self._batch = FactBatch(task.keeping)
        self._fresh: list[Facts] = []
        self._fresh_bytes = 0
        self._narrow: list[Facts] = []
        last = task.segments[-1] if task.segments else None
        self._reopened = last if last and last.raw_bytes < task.segment_bytes else None
        self._number = (last.number + (self._reopened is None)) if last else 0

    def build(self) -> PartResult:
        for file in self._task.files:
            self._result.outcomes.append(self._look_at(file))
        self._gather()
        if self._fresh:
            self._flush_segment()
        if self._result.written:
            self._derive()
        return self._result

    def _look_at(self, file: FileTask) -> FileOutcome:
        if file.tail:
            return self._take_tail(file)
        before = self._taken()
        try:
            return self._read_sidecar(file) if file.is_sidecar else follow(file, self)
        except TornReadError:
            raise
        except OSError as error:
            unread = _UnreadError(file, error.strerror)
            if self._taken() == before:
                return unread.outcome
            raise unread from error

    def _taken(self) -> tuple[int, int, int]:
        """Return what changes with every row that is taken in."""
        return self._number, self._fresh_bytes, self._batch.raw_bytes

    def _read_sidecar(self, file: FileTask) -> FileOutcome:
        outcome, content = whole(file)
        if content is not None:
            origin = replace(file.origin, generation=outcome.generation)
            self._batch.add_sidecar(origin, file.name, content)
        return outcome

    def _take_tail(self, file: FileTask) -> FileOutcome:
        """Read the waiting tail of a file that is gone. If it comes back, it is read anew."""
        tally = Tally(lines=file.line_count, blank_bytes=file.blank_bytes)
        self._batch.add_tail(file.origin, file.offset, file.tail, tally)
        return FileOutcome(
            file.origin.file_id,
            file.origin.generation,
            file.offset + len(file.tail),
            tally.lines,
            tally.blank_bytes,
            entries=tally.entries,
            rejects=tally.rejects,
            bytes_read=len(file.tail),
            lines_read=1,
            event="its last line never ended; read as it was",
        )

    def add_lines(self, origin: Origin, start: int, lines: bytes, tally: Tally) -> None:
        """Take in whole lines."""
        self._batch.add_lines(origin, start, lines, tally)

    def add_reject(self, origin: Origin, place: Place, reason: str, raw: bytes | None) -> None:
        """Take in a line that cannot be read."""
        self._batch.add_reject(origin, place, reason, raw)

    def settle(self) -> None:
        """Turn a full batch into tables."""
        if self._batch.raw_bytes >= BATCH_BYTES:
            self._gather()

    def _gather(self) -> None:
        """Turn the batch into tables; a full segment is written and let go."""
        size = self._batch.raw_bytes
        facts = self._batch.take()
        if not any(table.num_rows for table in facts.values()):
            return
        self._fresh.append(facts)
        self._fresh_bytes += size
        stored = self._reopened.raw_bytes if self._reopened else 0
        if stored + self._fresh_bytes >= self._task.segment_bytes:
            self._flush_segment()

    def _flush_segment(self) -> None:
        try:
            self._write_segment()
        except OSError as error:  # Nobody may take it for an error of the log that is being read.
            raise StorageError(
                f"cannot store rows in '{self._task.staging}': {error.strerror or error}",
                hint="nothing was committed; free space or fix the folder and run again",
            ) from error

    def _write_segment(self) -> None:
        raw_bytes = self._fresh_bytes + (self._reopened.raw_bytes if self._reopened else 0)
        merged = {table.name: self._merged(table.name) for table in FACTS}
        for table in FACTS:
            file = write.write_table(table, merged[table.name], Path(self._task.staging))
            self._result.written.append((self._number, raw_bytes, file))
        self._narrow.append(
            {table.name: merged[table.name].select(table.narrow_names()) for table in FACTS}
        )
        self._result.replaced_segments.add(self._number)
        self._fresh, self._fresh_bytes, self._reopened = [], 0, None
        self._number += 1

    def _merged(self, name: str) -> pa.Table:
        pieces = [facts[name] for facts in self._fresh]
        if self._reopened:
            pieces.insert(0, self._reopened.read(_FACTS[name]))
        return pa.concat_tables(pieces)

    def _derive(self) -> None:
        untouched = [
            segment
            for segment in self._task.segments
            if segment.number not in self._result.replaced_segments
        ]
        narrow = [*map(narrow_facts, untouched), *self._narrow]
        derive_part(narrow, Path(self._task.staging), self._result)


def derive_part(narrow: Sequence[Facts], staging: Path, result: PartResult) -> None:
    """Derive a part's tables from the narrow facts of all its segments, and write them."""
    facts = {table.name: pa.concat_tables([one[table.name] for one in narrow]) for table in FACTS}
    tables = derive.derive(facts, staging)
    result.models = models_in(tables["usage"])
    for table in DERIVED:
        result.written.append((0, 0, write.write_table(table, tables[table.name], staging)))


def narrow_facts(segment: Segment) -> Facts:
    """Return the columns of a segment that derived tables are made of."""
    return {table.name: segment.read(table, table.narrow_names()) for table in FACTS}


def models_in(usage: pa.Table) -> set[str]:
    """Return the names of the models that served, those of single inferences too."""
    names = set(usage.column("model").unique().to_pylist())
    for text in usage.column("iterations").unique().to_pylist():
        if text and '"model"' in text:
            told = [item.get("model") for item in loads(text) if isinstance(item, dict)]
            names.update(name for name in told if isinstance(name, str))
    return names - {None}
