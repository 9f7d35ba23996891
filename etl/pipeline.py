"""One run, top to bottom: discover, resume, build every part with news, commit, views."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from etl import (
    access,
    around,
    build,
    discover,
    freshness,
    ledger,
    peek,
    pricing,
    resume,
    runs,
    step,
    tasks,
    terms,
    workers,
)
from etl.build import PartResult
from etl.chain import State
from etl.commit import Warehouse
from etl.config import Settings
from etl.content import Keeping
from etl.errors import StorageError
from etl.follow import FileOutcome
from etl.ledger import LedgerRow
from etl.parse import objects_of, parse_line
from etl.read import LogReader
from etl.step import RunSummary
from etl.tables import AROUND_TABLES, PAST_GENERATIONS, PRICE_TABLES, SOURCE_FILES

Task = TypeVar("Task")


def sync(settings: Settings, *, executor: Executor | None = None) -> RunSummary:
    """Bring the warehouse up to date with the logs. Safe to run again at any time."""
    warehouse = Warehouse(settings.warehouse)
    try:
        access.refuse_if_shared(warehouse)
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
    state = warehouse.load()
    run = _begun(settings, warehouse, state)
    work_on = partial(_run_tasks, settings.jobs, executor)
    state = terms.settled(warehouse, state, settings, run, work_on)
    keeping = terms.keeping_of(warehouse, state)
    known = _stored_ledger(warehouse, state)
    walk = discover.walk(settings.roots, settings.configs)
    run.files = len(walk.files)
    run.problems += walk.problems
    run.events += walk.events

    plan = resume.plan(
        [file for file in walk.files if not keeping.forgets(file.place.session_id)],
        [row for row in known if row.source == settings.source],
        walked_roots=frozenset(map(str, settings.roots + settings.configs)) - walk.failed_roots,
        is_moved=_is_moved,
    )
    rows = _rows_to_look_at(plan.looks, known, settings.source, run)
    gone = [row if row.gone_at else replace(row, gone_at=run.started_at) for row in plan.gone]
    run.events += [(row.path, "gone") for row in plan.gone if not row.gone_at]
    rows = tasks.with_slots([*rows, *filter(_has_whole_tail, gone)], known)
    rows = [row for row in rows if not keeping.forgets(row.session_id)]
    gone = [row for row in gone if not _has_whole_tail(row)]
    work = list(tasks.part_tasks(rows, state, warehouse, keeping))
    results = list(work_on(build.build_part, work))
    beside = _read_around(rows, warehouse, state, keeping)

    looked = _settled(rows, [*_outcomes(results), *beside.outcomes], run, keeping)
    others = [row for row in known if row.source != settings.source]
    now_known = [*others, *plan.unchanged, *gone, *looked]
    logged = {model for result in results for model in result.models}
    prices = pricing.news(settings.book, logged, step.stored_books(warehouse, state, PRICE_TABLES))
    if prices and runs.last_book(runs.stored(warehouse)) not in {None, run.price_book_hash}:
        run.events.append(("price book", "changed"))
    run.commit = state.number
    # Terms that were asked for must hold from now on, even if there is nothing to keep yet.
    is_first_word = keeping.hides() and not state.number
    if _has_news(known, now_known, results) or (prices and state.number) or is_first_word:
        past = _past_generations(known, looked, run.started_at)
        books = {**_books(warehouse, state, now_known, past), **beside.tables, **prices}
        state = step.commit(warehouse, state, results, books, run)
    run.ended_at = step.now()
    step.show(warehouse, state, run, settings.configs)
    return run


def _begun(settings: Settings, warehouse: Warehouse, state: State) -> RunSummary:
    """Begin a run where the last one ended, and tell what was odd about that."""
    run = RunSummary(uuid4().hex, settings.source, step.now())
    run.price_book_hash = settings.book.content_hash
    was_shown = not state.number or warehouse.is_published(state)
    if warehouse.recover(state):
        run.events.append((str(warehouse.folder), "cleared what an interrupted run had left"))
    if not was_shown:
        late = f"commit {state.number} is shown only now: the run that made it was interrupted"
        run.events.append((str(warehouse.folder), late))
    before = freshness.last_success(warehouse, run.source)
    days = freshness.cleanup_days(settings.configs)
    run.events += [("last sync", odd) for odd in freshness.odd_since(before, run.started_at, days)]
    return run


def _stored_ledger(warehouse: Warehouse, state: State) -> list[LedgerRow]:
    stored = step.stored_books(warehouse, state, (SOURCE_FILES,))
    return ledger.from_arrow(stored[SOURCE_FILES.name]) if stored else []


def _books(
    warehouse: Warehouse, state: State, rows: list[LedgerRow], past: list[LedgerRow]
) -> step.Books:
    """Return the ledger, and the generations that ended if there are new ones."""
    books = {SOURCE_FILES.name: ledger.to_arrow(rows)}
    if past:
        stored = step.stored_books(warehouse, state, (PAST_GENERATIONS,))
        books |= {PAST_GENERATIONS.name: ledger.with_past(stored.get(PAST_GENERATIONS.name), past)}
    return books


def _past_generations(
    before: list[LedgerRow], after: list[LedgerRow], ended_at: int
) -> list[LedgerRow]:
    """Return the rows of logs that were read anew, as they were, with the time of their end."""
    generations = {row.file_id: row.generation for row in after}
    return [
        replace(row, gone_at=ended_at)
        for row in before
        if row.line_count and generations.get(row.file_id, row.generation) > row.generation
    ]


def _is_moved(file: discover.FoundFile, row: LedgerRow) -> bool:
    """Say whether a file is a known one in a new place: same bytes, no other in the old place."""
    old = Path(row.root, row.path)
    try:
        if old.exists() and not old.samefile(file.full_path()):
            return False
        with closing(LogReader(file.full_path(), (file.device, file.inode))) as reader:
            if row.offset == 0:
                return reader.head(len(row.pending)) == row.pending
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
        if look.known and look.known.gone_at:
            run.events.append((look.found.path, "came back"))
        row = look.known or ledger.new_row(look.found, source, taken, run.started_at)
        taken.add(row.file_id)
        rows.append(ledger.seen_now(row, look.found))
    return rows


def _read_around(
    rows: list[LedgerRow], warehouse: Warehouse, state: State, keeping: Keeping
) -> around.News:
    """Read the files around the logs that have changed; without one, no table is opened."""
    files = [(row.kind, tasks.file_task(row)) for row in rows if row.is_around()]
    stored = step.stored_books(warehouse, state, AROUND_TABLES) if files else {}
    return around.read(files, stored, keeping)


def _run_tasks(
    jobs: int, executor: Executor | None, work: Callable[[Task], PartResult], tasks: Sequence[Task]
) -> Iterator[PartResult]:
    """Work on the parts, largest first: here, in our own processes, or on what was passed in."""
    if executor is not None:
        return executor.map(work, tasks)
    if jobs == 1 or len(tasks) <= 1:
        return map(work, tasks)
    return workers.run(work, tasks, processes=min(jobs, len(tasks)))


def _outcomes(results: list[PartResult]) -> list[FileOutcome]:
    return [outcome for result in results for outcome in result.outcomes]


def _settled(
    rows: list[LedgerRow], outcomes: list[FileOutcome], run: RunSummary, keeping: Keeping
) -> list[LedgerRow]:
    """Return the looked-at rows with what became of them; torn and unreadable ones as they were."""
    by_file = {outcome.file_id: outcome for outcome in outcomes}
    settled = [_after(row, by_file.get(row.file_id), run) for row in rows]
    return [replace(row, pending=keeping.tail(row.pending)) for row in settled]


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
    One that cannot be read any more is, once, and so is one that can be read again.
    """
    if any(result.written for result in results):
        return True
    return {_told_by(row) for row in before} != {_told_by(row) for row in after}


def _told_by(row: LedgerRow) -> LedgerRow:
    size = row.size if row.is_only_listed() else 0
    could_be_read = int(row.ctime_ns != 0)
    return replace(row, size=size, mtime_ns=0, ctime_ns=could_be_read, device=0, inode=0)
