"""One run, top to bottom: discover, resume, build every part with news, commit, views."""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from etl import (
    __version__,
    around,
    build,
    discover,
    ledger,
    peek,
    pricing,
    resume,
    runs,
    tasks,
    views,
    workers,
    write,
)
from etl.build import PartResult, PartTask
from etl.commit import State, StoredFile, Warehouse
from etl.config import Settings
from etl.errors import StorageError
from etl.follow import FileOutcome
from etl.ledger import LedgerRow
from etl.parse import objects_of, parse_line
from etl.parts import Slot
from etl.read import LogReader
from etl.tables import (
    AROUND_TABLES,
    BOOKS,
    PRICE_TABLES,
    SOURCE_FILES,
    SYNC_RUNS,
    Table,
)


@dataclass(slots=True)
class RunSummary:
    """What one sync did, as it is shown, kept in last_run.json and in sync_runs."""

    run_id: str
    source: str
    started_at: int
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


def sync(settings: Settings, *, executor: Executor | None = None) -> RunSummary:
    """Bring the warehouse up to date with the logs. Safe to run again at any time."""
    warehouse = Warehouse(settings.warehouse)
    try:
        warehouse.create_folders()
        with warehouse.lock():
            return _sync_locked(settings, warehouse, executor)
    except OSError as error:
        raise StorageError(
            f"cannot sync into '{settings.warehouse}': {error.strerror or error}"
            + (f" ('{error.filename}')" if error.filename else ""),
            hint="nothing was committed; free space or fix the folder and run again",
        ) from error


def _sync_locked(settings: Settings, warehouse: Warehouse, executor: Executor | None) -> RunSummary:
    run = RunSummary(uuid4().hex, settings.source, _now())
    run.price_book_hash = settings.book.content_hash
    state = warehouse.load()
    warehouse.recover(state)
    known = _stored_ledger(warehouse, state)
    walk = discover.walk(settings.roots, settings.configs)
    run.files, run.problems, run.events = len(walk.files), [*walk.problems], [*walk.events]

    plan = resume.plan(
        walk.files,
        [row for row in known if row.source == settings.source],
        walked_roots=frozenset(map(str, settings.roots + settings.configs)) - walk.failed_roots,
        is_moved=_is_moved,
    )
    rows = _rows_to_look_at(plan.looks, known, settings.source, run)
    gone = [row if row.gone_at else replace(row, gone_at=run.started_at) for row in plan.gone]
    run.events += [(row.path, "gone") for row in plan.gone if not row.gone_at]
    rows = tasks.with_slots([*rows, *filter(_has_whole_tail, gone)], known)
    gone = [row for row in gone if not _has_whole_tail(row)]
    work = list(tasks.part_tasks(rows, state, warehouse))
    results = list(_run_tasks(work, settings.jobs, executor))
    beside = _read_around(rows, warehouse, state)

    looked = _settled(rows, [*_outcomes(results), *beside.outcomes], run)
    others = [row for row in known if row.source != settings.source]
    now_known = [*others, *plan.unchanged, *gone, *looked]
    logged = {model for result in results for model in result.models}
    prices = pricing.news(settings.book, logged, _stored(warehouse, state, PRICE_TABLES))
    if prices and state.number and not logged:
        run.events.append(("price book", "changed"))
    if _has_news(known, now_known, results) or (prices and state.number):
        books = {SOURCE_FILES.name: ledger.to_arrow(now_known), **beside.tables, **prices}
        state = _commit(warehouse, state, results, books, run)
    run.commit, run.ended_at = state.number, _now()
    _show(warehouse, state, run)
    return run


def _stored_ledger(warehouse: Warehouse, state: State) -> list[LedgerRow]:
    stored = _stored(warehouse, state, (SOURCE_FILES,))
    return ledger.from_arrow(stored[SOURCE_FILES.name]) if stored else []


def _stored(warehouse: Warehouse, state: State, tables: tuple[Table, ...]) -> dict[str, pa.Table]:
    """Return those tables of the last commit that are kept whole."""
    names = {table.name for table in tables}
    return {
        file.table: write.read_table(warehouse.files / file.name)
        for file in state.files
        if file.table in names
    }


def _is_moved(file: discover.FoundFile, row: LedgerRow) -> bool:
    """Say whether a file is a known one in a new place: same bytes, and the old place empty."""
    if Path(row.root, row.path).exists():
        return False
    try:
        with closing(LogReader(file.full_path())) as reader:
            return reader.prefix_matches(row.offset, row.prefix_hash)
    except OSError:
        return False  # The look itself will open it again, and report why it cannot.


def _has_whole_tail(row: LedgerRow) -> bool:
    """Say whether what waits for its newline is all there: it is read once its file is gone."""
    return row.is_of_a_part() and bool(row.pending and objects_of(parse_line(row.pending)))


def _rows_to_look_at(
    looks: Iterable[resume.Look], known: list[LedgerRow], source: str, run: RunSummary
) -> list[LedgerRow]:
    """Return a ledger row for every file to open: a new one, or the known one as it is now."""
    taken = {row.file_id for row in known}
    rows = []
    for look in looks:
        if look.why == "moved":
            run.events.append((look.found.path, "moved"))
        row = look.known or ledger.new_row(look.found, source, taken, run.started_at)
        taken.add(row.file_id)
        rows.append(ledger.seen_now(row, look.found))
    return rows


def _read_around(rows: list[LedgerRow], warehouse: Warehouse, state: State) -> around.News:
    """Read the files around the logs that have changed; without one, no table is opened."""
    files = [(row.kind, tasks.file_task(row)) for row in rows if row.is_around()]
    stored = _stored(warehouse, state, AROUND_TABLES) if files else {}
    return around.read(files, stored)


def _run_tasks(work: list[PartTask], jobs: int, executor: Executor | None) -> Iterator[PartResult]:
    """Build the parts, largest first: here, in processes of our own, or on what was passed in."""
    if executor is not None:
        return executor.map(build.build_part, work)
    if jobs == 1 or len(work) <= 1:
        return map(build.build_part, work)
    return workers.run(build.build_part, work, processes=min(jobs, len(work)))


def _outcomes(results: list[PartResult]) -> list[FileOutcome]:
    return [outcome for result in results for outcome in result.outcomes]


def _settled(
    rows: list[LedgerRow], outcomes: list[FileOutcome], run: RunSummary
) -> list[LedgerRow]:
    """Return the looked-at rows with what became of them; torn and unreadable ones as they were."""
    by_file = {outcome.file_id: outcome for outcome in outcomes}
    return [_after(row, by_file.get(row.file_id), run) for row in rows]


def _after(row: LedgerRow, outcome: FileOutcome | None, run: RunSummary) -> LedgerRow:
    if row.is_only_listed():
        return row
    if outcome is None:
        if row.part is None:
            return peek.with_pending(row, run.problems, run.events)
        run.events.append((row.path, "torn"))
        return replace(row, ctime_ns=0)
    if outcome.problem:
        run.problems.append((row.path, outcome.problem))
        return replace(row, ctime_ns=0)  # So that the next run looks again.
    if outcome.event:
        run.events.append((row.path, outcome.event))
    run.files_read += bool(outcome.bytes_read)
    run.bytes += outcome.bytes_read
    run.lines += outcome.lines_read
    run.entries += outcome.entries
    run.rejects += outcome.rejects
    return replace(
        row,
        generation=outcome.generation,
        offset=outcome.offset,
        line_count=outcome.line_count,
        blank_bytes=outcome.blank_bytes,
        pending=outcome.pending,
        prefix_hash=outcome.prefix_hash,
    )


def _has_news(before: list[LedgerRow], after: list[LedgerRow], results: list[PartResult]) -> bool:
    """Say whether there is anything to commit: rows, or a ledger that says something else.

    A file that was only touched is no news; it is looked at again next time, and that is cheap.
    """
    if any(result.written for result in results):
        return True
    return {_told_by(row) for row in before} != {_told_by(row) for row in after}


def _told_by(row: LedgerRow) -> LedgerRow:
    size = row.size if row.is_only_listed() else 0
    return replace(row, size=size, mtime_ns=0, ctime_ns=0, device=0, inode=0)


def _commit(
    warehouse: Warehouse,
    state: State,
    results: list[PartResult],
    books: dict[str, pa.Table],
    run: RunSummary,
) -> State:
    run.is_committed, run.ended_at = True, _now()
    run.parts_written = sum(bool(result.written) for result in results)
    fresh = [
        _stored_file(file, run.source, result.slot, segment, raw_bytes)
        for result in results
        for segment, raw_bytes, file in result.written
    ]
    written = [file for result in results for _, _, file in result.written]
    earlier = [*_stored(warehouse, state, (SYNC_RUNS,)).values()]
    books = {**books, SYNC_RUNS.name: runs.with_run(earlier, asdict(run), __version__)}
    for table in BOOKS:
        if table.name in books:
            book = write.write_table(table, books[table.name], warehouse.staging)
            written.append(book)
            fresh.append(StoredFile(**asdict(book)))
    replaced = {file.published_path() for file in fresh}
    kept = [file for file in state.files if file.published_path() not in replaced]
    files = sorted([*kept, *fresh], key=lambda file: file.published_path())
    return warehouse.commit(state, files, written, {"run_id": run.run_id})


def _stored_file(
    file: write.WrittenFile, source: str, slot: Slot, segment: int, raw_bytes: int
) -> StoredFile:
    return StoredFile(
        **asdict(file),
        source=source,
        month=slot.month,
        part=slot.part,
        segment=segment,
        raw_bytes=raw_bytes,
    )


def _show(warehouse: Warehouse, state: State, run: RunSummary) -> None:
    """Let readers see the commit. What fails here is a problem, but no row is lost by it."""
    try:
        if run.is_committed:
            warehouse.publish(state)
            warehouse.retire(time.time())
        views.refresh(warehouse, is_empty=state.number == 0)
        warehouse.note_run(asdict(run))
    except (OSError, StorageError) as error:
        problem = f"commit {state.number} is safe, but showing it failed: {error}"
        run.problems.append((str(warehouse.folder), f"{problem}; the next run tries again"))


def _now() -> int:
    return time.time_ns() // 1000
