"""A reader beside syncs sees one whole snapshot: never an error, never a wrong count."""

import os
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb
import pytest

from etl import frames, views
from etl.commit import KEPT_COMMITS, KEPT_SECONDS, Warehouse
from etl.write import read_table
from tests.faults.forked import FORKS, at_each_step
from tests.faults.looks import FAILURES
from tests.faults.pauses import LONGEST_SECONDS, end_with_sync, paused, waiting
from tests.faults.tally import Tally
from tests.sessions import SESSION, append, run_sync, user, value, write_log

COUNT = "select count(*), count(distinct uuid) from {}"
LOOKS = frozenset({"open", "os.listdir", "os.scandir"})
LATER = "2026-05-01T08:00:00.000Z"  # another month, so another part


def write_logs(logs: Path) -> Path:
    """Write two sessions, whose rows lie in files of their own."""
    session = SESSION.replace("1", "2")
    line = user("Go on", "other", sessionId=session, timestamp=LATER)
    write_log(logs, [line], f"-kiln/{session}.jsonl")
    return write_log(logs, [user("Go on", "first")])


def append_and_sync(logs: Path, lake: Path, log: Path, seconds: float) -> None:
    """Sync again and again, each time with more lines, and let old commits retire."""
    ends, number = time.monotonic() + seconds, 0
    while number <= KEPT_COMMITS or time.monotonic() < ends:
        append(log, *(user("Go on", f"u{number}-{one}", number) for one in range(3)))
        number += 1
        assert run_sync(logs, lake).exit_code() == 0
        make_older(lake)


def make_older(lake: Path, keep: int = KEPT_COMMITS) -> None:
    """Let all commits but the newest be past the time for which they are kept."""
    for number in Warehouse(lake).commit_numbers()[:-keep]:
        commit = Warehouse(lake).commits / f"{number:010d}.json"
        when = time.time() - 2 * KEPT_SECONDS
        os.utime(commit, (when, when))


# ---- The ways to read.


def counted_pinned(lake: Path) -> tuple[int, int]:
    with closing(views.connect(Warehouse(lake))) as con:
        first = con.execute(COUNT.format("raw.entries")).fetchall()
        assert con.execute(COUNT.format("raw.entries")).fetchall() == first
        return int(first[0][0]), int(first[0][1])


def counted_by_name(lake: Path) -> tuple[int, int]:
    found = f"read_parquet('{lake}/current/entries/*/*/*.parquet')"
    with closing(duckdb.connect()) as con:
        rows, ids = con.execute(COUNT.format(found)).fetchall()[0]
    return int(rows), int(ids)


def counted_in_a_frame(lake: Path) -> tuple[int, int]:
    rows, ids = frames.query(COUNT.format("raw.entries"), warehouse=lake).row(0)
    return int(rows), int(ids)


WAYS = [counted_pinned, counted_by_name, counted_in_a_frame]


def wrong_with(read: Callable[[Path], tuple[int, int]], lake: Path, before: list[int]) -> str:
    """Read once more; say what is wrong, if anything is, and keep the count."""
    try:
        rows, ids = read(lake)
    except FAILURES as error:
        return f"{read.__name__}: {error}"
    least = before[-1]
    before.append(rows)
    return "" if rows == ids and rows >= least else f"{read.__name__}: {rows}, {ids}, {least}"


@pytest.mark.parametrize("seconds", [0, pytest.param(30, marks=pytest.mark.slow)])
def test_readers_beside_a_loop_of_syncs_see_counts_that_only_grow(
    seconds: int, logs: Path, lake: Path, tally: Tally
) -> None:
    log, counts, wrong = write_logs(logs), {read: [2] for read in WAYS}, list[str]()
    run_sync(logs, lake)
    writer = FORKS.Process(target=append_and_sync, args=(logs, lake, log, seconds))
    writer.start()
    try:
        while writer.is_alive():
            wrong += [wrong_with(read, lake, counts[read]) for read in WAYS]
            tally.injected += len(WAYS)
    finally:
        writer.join(LONGEST_SECONDS)
        writer.kill()
    wrong = list(filter(None, wrong))
    tally.violations += len(wrong)
    assert (writer.exitcode, wrong) == (0, [])
    assert [read(lake) for read in WAYS] == [(lines_of(logs),) * 2] * len(WAYS)


def lines_of(logs: Path) -> int:
    return sum(log.read_bytes().count(b"\n") for log in logs.rglob("*.jsonl"))


# ---- A reader that is slow, at any step of its own.


def slow_count(talk: Connection, lake: Path, number: int) -> None:
    """Count, and wait before one of the looks into the warehouse; the count is the exit code."""
    wait = waiting(talk, "", number)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in LOOKS and str(arguments[0]).startswith(str(lake)):
            wait(event)

    sys.addaudithook(hook)
    rows, ids = counted_pinned(lake)
    os._exit(rows if rows == ids else 0)


@pytest.mark.slow
def test_a_reader_may_be_overtaken_by_a_sync_at_any_step(
    logs: Path, lake: Path, tally: Tally
) -> None:
    log, rows, broken = write_logs(logs), 2, {}
    for _ in range(KEPT_COMMITS + 1):
        append(log, user("Go on", f"u{rows}", rows))
        run_sync(logs, lake)
        rows += 1
    for step in range(1, 100):
        with paused(slow_count, lake, step) as reader:
            if not reader.process.is_alive():
                assert reader.process.exitcode == rows
                break
            append(log, user("Go on", f"u{rows}", rows))
            make_older(lake)
            run_sync(logs, lake)
            rows += 1
            tally.injected += 1
            if (count := reader.go_on()) not in {rows - 1, rows}:
                broken[step] = count
    tally.violations += len(broken)
    assert tally.injected > 2
    assert broken == {}


def test_a_pinned_reader_sleeps_through_commits_and_wakes_to_an_error_when_its_time_is_over(
    logs: Path, lake: Path, tally: Tally
) -> None:
    log = write_logs(logs)
    run_sync(logs, lake)
    tree = Warehouse(lake).snapshot()
    assert tree
    listed = sorted(tree.glob("entries/*/*/*.parquet"))
    with closing(views.connect(Warehouse(lake))) as con:
        for number in range(KEPT_COMMITS + 1):
            append(log, user("Go on", f"u{number}", number))
            run_sync(logs, lake)
        assert sum(read_table(path).num_rows for path in listed) == len(listed) == 2
        assert con.execute(COUNT.format("raw.entries")).fetchall() == [(2, 2)]
        make_older(lake)
        append(log, user("Go on", "last", 9))
        run_sync(logs, lake)
        tally.injected += 1
        with pytest.raises(FileNotFoundError):
            read_table(listed[0])
        with pytest.raises(duckdb.IOException, match="No files found"):
            con.execute(COUNT.format("raw.entries")).fetchall()
    assert value(lake, "select count(*) from raw.entries") == 2 + KEPT_COMMITS + 2


def retiring_sync(talk: Connection, logs: Path, lake: Path, number: int) -> None:
    """Sync, and wait before one of the removals."""
    at_each_step(lake, waiting(talk, "os.remove", number))
    end_with_sync(logs, lake)


@pytest.mark.slow
def test_a_snapshot_that_is_just_being_retired_is_never_counted_by_half(
    logs: Path, lake: Path, tmp_path: Path, tally: Tally
) -> None:
    log, wrong = write_logs(logs), {}
    for number in range(KEPT_COMMITS):
        run_sync(logs, lake)
        append(log, user("Go on", f"u{number}", number))
    make_older(lake, keep=1)
    start = Path(shutil.copytree(lake, tmp_path / "start", symlinks=True))
    for step in range(1, 100):
        shutil.rmtree(lake)
        shutil.copytree(start, lake, symlinks=True)
        with (
            closing(pinned_to(Warehouse(lake).published / f"{1:010d}")) as pinned,
            paused(retiring_sync, logs, lake, step) as sync,
        ):
            if not sync.process.is_alive():
                break
            tally.injected += 1
            if (seen := counted_or_refused(pinned)) not in ([(2, 2)], None):
                wrong[step] = seen
            assert sync.go_on() == 0
    tally.violations += len(wrong)
    assert tally.injected > 2
    assert wrong == {}


def pinned_to(tree: Path) -> duckdb.DuckDBPyConnection:
    """Open a snapshot as readers do, but only its lines."""
    con = duckdb.connect()
    for statement in views.statements(tree, with_comments=False):
        if any(part in statement for part in ("snapshot() as", "schema", "view raw.entries ")):
            con.execute(statement)
    return con


def counted_or_refused(pinned: duckdb.DuckDBPyConnection) -> list[tuple[int, int]] | None:
    try:
        return pinned.execute(COUNT.format("raw.entries")).fetchall()
    except duckdb.Error:
        return None
