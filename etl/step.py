"""One durable step: what a run wrote becomes the next commit, together with the run's own row."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa

from etl import __version__, freshness, runs, stopping, views, write
from etl.build import PartResult
from etl.chain import State, StoredFile
from etl.commit import Warehouse
from etl.errors import StorageError
from etl.tables import BOOKS, SYNC_RUNS, Table

Books = dict[str, pa.Table]


@dataclass(slots=True)
class RunSummary:
    """What one run did, as it is shown, kept in last_run.json and in sync_runs."""

    run_id: str
    source: str
    started_at: int
    kind: str = "sync"
    ended_at: int = 0
    files: int = 0
    files_read: int = 0
    bytes: int = 0
    lines: int = 0
    entries: int = 0
    rejects: int = 0
    parts_written: int = 0
    commit: int = 0
    is_committed: bool = False
    price_book_hash: str | None = None
    problems: list[tuple[str, str]] = field(default_factory=list)
    events: list[tuple[str, str]] = field(default_factory=list)

    def exit_code(self) -> int:
        """Return 0, or 1 if some files could not be read."""
        return 1 if self.problems else 0


def now() -> int:
    """Return the instant in microseconds since 1970."""
    return time.time_ns() // 1000


def stored_books(warehouse: Warehouse, state: State, tables: Iterable[Table]) -> Books:
    """Return those tables of a commit that are kept whole."""
    names = {table.name for table in tables}
    return {
        file.table: write.read_table(warehouse.files / file.name, content_hash=file.content_hash)
        for file in state.files
        if file.table in names
    }


def commit(  # noqa: PLR0913 - what is committed, and how
    warehouse: Warehouse,
    state: State,
    results: Sequence[PartResult],
    books: Books,
    run: RunSummary,
    *,
    forgets: bool = False,
) -> State:
    """Make parts and books that a run wrote the next commit; what it did not write stays."""
    run.is_committed, run.ended_at = True, now()
    run.parts_written = sum(bool(result.written) for result in results)
    written = [file for result in results for _, _, file in result.written]
    fresh = [file for result in results for file in _stored_files(result, run.source)]
    earlier = books.get(SYNC_RUNS.name) or _earlier_runs(warehouse, state)
    books = {**books, SYNC_RUNS.name: runs.with_run(earlier, asdict(run), __version__)}
    for table in BOOKS:
        if table.name in books:
            book = write.write_table(table, books[table.name], warehouse.staging)
            written.append(book)
            fresh.append(StoredFile(**asdict(book)))
    replaced = {file.published_path() for file in fresh}
    kept = [file for file in state.files if file.published_path() not in replaced]
    files = sorted([*kept, *fresh], key=lambda file: file.published_path())
    told = {"run_id": run.run_id, "kind": run.kind}
    after = warehouse.commit(state, files, written, told, forgets=forgets)
    run.commit = after.number
    return after


def show(
    warehouse: Warehouse, state: State, run: RunSummary, read: Sequence[Path] | None = None
) -> None:
    """Let readers see the commit. What fails here is a problem, but no row is lost by it.

    A sync says which config directories it read; other runs do not count as one.
    """
    try:
        if run.is_committed:
            warehouse.publish(state)
            warehouse.retire(state, time.time())
            warehouse.clear_staging()
        views.refresh(warehouse, is_empty=state.number == 0)
        last_sync = freshness.noted(warehouse, run.source, run.ended_at, read)
        warehouse.note_run(asdict(run) | {"last_sync": last_sync})
    except (OSError, StorageError) as error:
        problem = f"commit {state.number} is safe, but showing it failed: {error}"
        run.problems.append((str(warehouse.folder), f"{problem}; the next run tries again"))
    if run.is_committed:
        stopping.go_on(state.number)


def _earlier_runs(warehouse: Warehouse, state: State) -> pa.Table | None:
    return stored_books(warehouse, state, (SYNC_RUNS,)).get(SYNC_RUNS.name)


def _stored_files(result: PartResult, source: str) -> Iterator[StoredFile]:
    for segment, raw_bytes, file in result.written:
        yield StoredFile(
            **asdict(file),
            source=result.source or source,
            month=result.slot.month,
            part=result.slot.part,
            segment=segment,
            raw_bytes=raw_bytes,
        )
