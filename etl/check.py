"""Prove the promise from the warehouse alone, and with the logs that are still there: `check`.

Nothing is changed and no lock is taken: a check may run beside a sync, over one whole commit.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from etl import access, build, chain, compare, derive, sqlfiles, tasks, views, write
from etl.chain import State, StoredFile
from etl.commit import Warehouse
from etl.content import Keeping
from etl.counts import counted
from etl.errors import BusyError, CclakeError, StateError
from etl.sqlfiles import SqlFile
from etl.tables import DERIVED, FACTS, LEDGER_TABLES, SOURCE_FILES, SYNC_RUNS

ERROR, WARNING = "error", "warning"
_MISSING = "is missing"
_MOST_ROWS = 20
# What many views are made of and several checks read, each after those it is made of itself.
_SHARED = ("usage", "tool_calls", "token_spend", "turns", "sessions")
_PLACES = ("path", "byte_start")
_LOGS = """
select file_id, generation, root, path, "offset", prefix_hash, size, mtime_ns, ctime_ns
from source_files
where "offset" > 0 and gone_at is null and kind in ('main', 'agent', 'other')
order by root, path
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was promised: how bad, which check says so, where, and what."""

    severity: str
    check: str
    where: str
    what: str
    byte: int | None = None


@dataclass(slots=True)
class Report:
    """What was looked at, and what was found."""

    commit: int = 0
    commits: int = 0
    files: int = 0
    entries: int = 0
    logs: int = 0
    bytes: int = 0
    is_deep: bool = False
    findings: list[Finding] = field(default_factory=list)

    def is_broken(self) -> bool:
        """Say whether the promise is broken."""
        return any(one.severity == ERROR for one in self.findings)


def check(warehouse: Warehouse, *, deep: bool = False) -> Report:
    """Look at everything that was promised of a warehouse; deep reads every byte of it."""
    report = _looked_at(warehouse, deep=deep)
    if report.commit and report.commit not in warehouse.commit_numbers():
        raise BusyError(
            f"commit {report.commit} of '{warehouse.folder}' was retired while it was checked",
            hint="run the check again; it looks at the newest commit",
        )
    return report


def _looked_at(warehouse: Warehouse, *, deep: bool) -> Report:
    report = Report(is_deep=deep)
    state, refusal = _newest(warehouse)
    report.findings += _of_modes(warehouse)
    report.findings += _of_commits(warehouse, report, deep=deep)
    # What is wrong with one document is told under its own name.
    if refusal and refusal not in {one.what for one in report.findings}:
        report.findings.append(Finding(ERROR, "chain", str(warehouse.commits), refusal))
    if not state.number:
        return report
    report.commit = state.number
    report.findings += _of_parts(state)
    if state.format < chain.FORMAT:
        old = "written by an older cclake; the next sync upgrades it"
        report.findings.append(Finding(WARNING, "format", str(warehouse.folder), old))
    elif not report.is_broken():
        report.findings += _of_published(warehouse, state, deep=deep)
        report.findings += _of_rows(warehouse, state, report, deep=deep)
    return report


def _newest(warehouse: Warehouse) -> tuple[State, str | None]:
    try:
        return warehouse.load_document(), None
    except StateError as error:
        return State(), str(error)


def _of_modes(warehouse: Warehouse) -> Iterator[Finding]:
    if loose := sum(1 for _ in access.loose_below(warehouse.folder)):
        many = counted(loose, "file or folder", "files and folders")
        keep = f"chmod -R go-rwx {shlex.quote(str(warehouse.folder))}"
        told = f"others can get at {many} in it; to keep them yours: {keep}"
        yield Finding(WARNING, "modes", str(warehouse.folder), told)


def _of_commits(warehouse: Warehouse, report: Report, *, deep: bool) -> Iterator[Finding]:
    """Read every commit that is kept, and look at each file that one of them names, once."""
    seen: set[str] = set()
    before: State | None = None
    for number in warehouse.commit_numbers():
        report.commits += 1
        state = _document(warehouse, number)
        if isinstance(state, Finding):
            yield state
        if not isinstance(state, State):
            continue
        if before is not None and state.parent_sha256 != before.sha256:
            told = f"does not follow commit {before.number}; cclake repair moves that one aside"
            yield Finding(WARNING, "chain", f"commit {number}", told)
        before = state
        for file in state.files:
            if file.name not in seen:
                seen.add(file.name)
                yield from _of_file(warehouse, file, number, deep=deep)
    report.files = len(seen)


def _document(warehouse: Warehouse, number: int) -> State | Finding | None:
    try:
        return chain.read(warehouse.commits, number)
    except FileNotFoundError:
        return None  # A sync has retired it meanwhile.
    except StateError as error:
        return Finding(ERROR, "chain", f"commit {number}", str(error))


def _of_file(
    warehouse: Warehouse, file: StoredFile, number: int, *, deep: bool
) -> Iterator[Finding]:
    path = warehouse.files / file.name
    told = _wrong_with(path, file, deep=deep)
    # What a sync has retired meanwhile is missing by right.
    if told and (told != _MISSING or number in warehouse.commit_numbers()):
        where = f"{path} ({file.published_path()} of commit {number})"
        yield Finding(ERROR, "files", where, told)


def _wrong_with(path: Path, file: StoredFile, *, deep: bool) -> str | None:
    try:
        size = path.stat().st_size
        if size != file.size:
            return f"has {counted(size, 'byte')}, not {file.size:,}"
        if deep and write.hash_file(path) != file.content_hash:
            return "is not what was written: its hash is another"
    except FileNotFoundError:
        return _MISSING
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None


def _of_parts(state: State) -> Iterator[Finding]:
    """Every part has all its tables, its facts the same segments, and the books are there."""
    # An older format may lack a derived table of today; the upgrade makes all of them anew.
    tables_of_a_part = FACTS if state.format < chain.FORMAT else (*FACTS, *DERIVED)
    segments: dict[tuple[str | None, int], dict[str, set[int]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for file in state.files:
        if file.part is not None:
            segments[file.source, file.part][file.table].add(file.segment)
    for (source, part), tables in sorted(segments.items(), key=str):
        where = f"part {part} of {source}"
        yield from (
            Finding(ERROR, "tables", where, f"has no {table.name}")
            for table in tables_of_a_part
            if table.name not in tables
        )
        if len({frozenset(tables[table.name]) for table in FACTS}) > 1:
            yield Finding(ERROR, "tables", where, "has not the same segments in all its facts")
    books = {file.table for file in state.files if file.part is None}
    yield from (
        Finding(ERROR, "tables", "the books", f"have no {table.name}")
        for table in LEDGER_TABLES
        if table in {SOURCE_FILES, SYNC_RUNS} and table.name not in books
    )


def _of_published(warehouse: Warehouse, state: State, *, deep: bool) -> Iterator[Finding]:
    is_shown = warehouse.is_published(state)
    tree = warehouse.tree_of(state)
    for file in state.files if tree.is_dir() else ():
        shown = tree / file.published_path()
        if not shown.is_file():
            yield Finding(WARNING, "published", str(shown), "is missing; the next sync shows it")
        elif shown.stat().st_size != file.size or (
            # A warehouse that was copied may have two files where there was one.
            deep
            and not shown.samefile(warehouse.files / file.name)
            and write.hash_file(shown) != file.content_hash
        ):
            yield Finding(ERROR, "published", str(shown), "is not the file of the commit")
    # Beside a sync there may be a later one by now, which is what `current` leads to.
    if not is_shown and state.number == warehouse.commit_numbers()[-1]:
        told = f"does not lead to commit {state.number}; the next sync mends it"
        yield Finding(WARNING, "published", str(warehouse.current), told)


@contextmanager
def _laid_out(warehouse: Warehouse, state: State) -> Iterator[Path]:
    """Lay out a commit as readers find it: a run that was killed may not have come to that."""
    with TemporaryDirectory(prefix="cclake-") as folder:
        for file in state.files:
            link = Path(folder, file.published_path())
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(warehouse.files / file.name)
        yield Path(folder)


def _of_rows(
    warehouse: Warehouse, state: State, report: Report, *, deep: bool
) -> Iterator[Finding]:
    try:
        with (
            _laid_out(warehouse, state) as tree,
            closing(views.connect_to(warehouse, tree, time_zone="UTC")) as con,
        ):
            (report.entries,) = con.execute("select count(*) from raw.entries").fetchall()[0]
            yield from _of_counts(con, state)
            for view in _SHARED:
                views.settle(con, view)
            for query in sqlfiles.load("checks"):
                yield from _of_query(con, query)
            if deep:
                yield from _of_derived(warehouse, state)
                keeping = Keeping(state.content, state.redact, state.key)
                yield from _of_logs(con, keeping, report)
    except (CclakeError, OSError, duckdb.Error) as error:
        yield Finding(ERROR, "rows", str(warehouse.folder), f"cannot be read: {error}")


def _of_counts(con: duckdb.DuckDBPyConnection, state: State) -> Iterator[Finding]:
    """A table that is read gives as many rows as the commit says were written."""
    written: dict[str, int] = defaultdict(int)
    for file in state.files:
        written[file.table] += file.rows
    for table, rows in sorted(written.items()):
        count = f"select count(*) from {views.physical(table)}"  # noqa: S608 - our own names
        (found,) = con.execute(count).fetchall()[0]
        if found != rows:
            yield Finding(ERROR, "rows", table, f"has {counted(found, 'row')}, not {rows:,}")


def _of_query(con: duckdb.DuckDBPyConnection, query: SqlFile) -> Iterator[Finding]:
    rows = con.execute(query.query)
    names = [column[0] for column in rows.description or ()]
    found = [dict(zip(names, row, strict=True)) for row in rows.fetchall()]
    for row in found[:_MOST_ROWS]:
        told = ", ".join(f"{name} {row[name]}" for name in row if name not in _PLACES)
        where = str(row.get("path") or query.name)
        yield Finding(
            query.severity, query.name, where, told or query.summary, row.get("byte_start")
        )
    if len(found) > _MOST_ROWS:
        told = f"{counted(len(found) - _MOST_ROWS, 'more row')} like these"
        yield Finding(query.severity, query.name, query.name, told)


def _of_derived(warehouse: Warehouse, state: State) -> Iterator[Finding]:
    """Derive every part once more, and hold the tables beside those that are stored."""
    for slot in sorted(tasks.slots_of(state), key=lambda one: one.part):
        segments = tasks.segments_of(state, slot, warehouse)
        narrow = [build.narrow_facts(segment) for segment in segments]
        facts = {one.name: pa.concat_tables([part[one.name] for part in narrow]) for one in FACTS}
        try:
            tables = derive.derive(facts)
        except derive.DeriveError as error:
            yield Finding(ERROR, "derived", f"part {slot.part}", str(error))
            continue
        for file in state.files:
            if file.part == slot.part and file.table in tables:
                stored = write.read_table(warehouse.files / file.name)
                if not tables[file.table].equals(stored):
                    told = "is not what its facts give; cclake repair derives it anew"
                    yield Finding(ERROR, "derived", file.published_path(), told)


def _of_logs(con: duckdb.DuckDBPyConnection, keeping: Keeping, report: Report) -> Iterable[Finding]:
    """Hold every log that is still there beside its rows, line by line."""
    for row in con.execute(_LOGS).fetchall():
        log = compare.KnownLog(*row)
        for difference in compare.differences(con, log, keeping):
            severity = WARNING if difference.is_news else ERROR
            yield Finding(severity, "logs", log.full_path(), difference.what, difference.byte)
        report.logs += 1
        report.bytes += log.offset
