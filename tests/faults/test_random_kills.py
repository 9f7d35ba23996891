"""Syncs killed at random moments, beside a process that goes on writing logs: nothing is lost.

The warehouse is never reset: each kill meets what the kills before it left behind.
"""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import pytest

from etl import sqlfiles, views
from etl.commit import Warehouse
from tests.faults.scenes import leftovers
from tests.faults.strikes import doomed_sync
from tests.faults.tally import Tally
from tests.sessions import rows, run_sync

LONGEST_SECONDS = 120.0
RUNS_PER_ACKNOWLEDGED = 10
TOP = Path(__file__).resolve().parents[2]
LINES = """
select path, entries.generation, byte_start, byte_end, uuid
from raw.entries join source_files using (file_id)
"""
Stored = tuple[str, int, int, int, str]


@contextmanager
def live_appender(logs: Path, seed: int) -> Iterator[None]:
    """Let another process write logs in there: whole lines, torn lines, new files."""
    command = [sys.executable, "-m", "tests.faults.appender", str(logs), str(seed)]
    process = subprocess.Popen(command, cwd=TOP)
    try:
        patience_ends = time.monotonic() + LONGEST_SECONDS
        while not any(logs.rglob("*.jsonl")) and time.monotonic() < patience_ends:
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def standing_lines(logs: Path) -> set[Stored]:
    """Return every complete line that stands in the logs, with its place."""
    found = set()
    projects = logs / "projects"
    for log in projects.rglob("*.jsonl"):
        start = 0
        for line in log.read_bytes().split(b"\n")[:-1]:
            end = start + len(line) + 1
            uuid = line.partition(b'"uuid":"')[2].partition(b'"')[0].decode()
            found.add((str(log.relative_to(projects)), 0, start, end, uuid))
            start = end
    return found


def complaints_after(logs: Path, lake: Path, tally: Tally) -> Iterator[str]:
    """Sync once more, undisturbed, and hold the warehouse beside the logs, line by line."""
    if problems := run_sync(logs, lake).problems:
        yield f"the last run had problems: {problems}"
    stored, standing = rows(lake, LINES), standing_lines(logs)
    tally.bytes_unaccounted += sum(end - start for _, _, start, end, _ in standing - set(stored))
    if len(stored) != len(set(stored)):
        yield "lines are there twice"
    if set(stored) != standing:
        yield f"{len(standing - set(stored))} lines are missing, {len(set(stored) - standing)} more"
    with closing(views.connect(Warehouse(lake))) as con:
        loud = [one.name for one in sqlfiles.load("checks") if con.execute(one.query).fetchall()]
    if loud:
        yield f"checks are not silent: {loud}"
    yield from leftovers(Warehouse(lake))


def kill_at_random(
    logs: Path, lake: Path, kills: int, tally: Tally, stop: signal.Signals = signal.SIGKILL
) -> Iterator[str]:
    """Kill so many syncs, at moments spread over a whole run; tell what readers then see wrong."""
    dice = random.Random(kills)  # noqa: S311 - moments, not secrets
    acknowledged = seen = 0
    usual_seconds = LONGEST_SECONDS
    for number in count():
        if tally.ended == kills:
            return
        # Now and then one is left alone: it tells how long a run takes, and acknowledges.
        is_spared = number % RUNS_PER_ACKNOWLEDGED == 0
        moment = LONGEST_SECONDS if is_spared else dice.random() * usual_seconds
        started = time.perf_counter()
        exit_code = doomed_sync(logs, lake, dice.choice([1, 2]), moment, stop)
        tally.injected += not is_spared
        if exit_code not in {0, 1, 5, -stop}:
            yield f"exit code {exit_code} after {stop.name}"  # 3, if the lock outlived its holder.
        if exit_code in {0, 1}:
            # It was done before the kill, and has said so: this commit must never go.
            acknowledged = max(Warehouse(lake).commit_numbers())
            usual_seconds = time.perf_counter() - started if is_spared else usual_seconds
        else:
            tally.ended += 1
        numbers = Warehouse(lake).commit_numbers() if Warehouse(lake).exists() else [0]
        if max(numbers, default=0) < acknowledged:
            tally.commits_lost += 1
            yield f"commit {acknowledged} was acknowledged and is gone"
        now = readable_lines(lake)
        if now < seen:
            yield f"readers saw {seen} lines, and then {now}"
        seen = now


def readable_lines(lake: Path) -> int:
    """Count the lines that a reader of `current` finds, each once."""
    if not (lake / "current").exists():
        return 0
    found = rows(lake, "select count(*), count(distinct (file_id, byte_start)) from raw.entries")
    lines, different = found[0]
    assert lines == different
    return int(lines)


@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=pytest.mark.slow)])
def test_syncs_killed_at_random_beside_a_writer_lose_no_line_and_store_none_twice(
    kills: int, tmp_path: Path, tally: Tally
) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    with live_appender(logs, seed=kills):
        wrong = list(kill_at_random(logs, lake, kills, tally))
    wrong += complaints_after(logs, lake, tally)
    tally.violations += len(wrong)
    assert wrong == []
    assert len(standing_lines(logs)) > kills


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.skipif(find_spec("etl.stopping") is None, reason="a sync cannot be told to stop yet")
def test_syncs_told_to_stop_at_random_moments_end_with_5_and_leave_no_lock(
    stop: signal.Signals, tmp_path: Path, tally: Tally
) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    with live_appender(logs, seed=stop):
        wrong = list(kill_at_random(logs, lake, 20, tally, stop))
    wrong += complaints_after(logs, lake, tally)
    tally.violations += len(wrong)
    assert wrong == []
