"""What a sync asks of the kernel, and in which order: durable first, sources only read, no talk."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from etl.commit import Warehouse
from tests.faults import disks, mutants
from tests.faults.tally import Tally
from tests.faults.traces import (
    Trace,
    careless_opens,
    changes_below,
    not_durable,
    talk,
    trace_of_files,
    traced,
)
from tests.sessions import SESSION, append, run_sync, user, value, write_log

LATER = "2026-05-01T08:00:00.000Z"  # another month, so another part, for another process
# What the lint must say of each mutant.
WORDS = {
    "any": "the commit was linked, and its folder not synced",
    "parquet": "usage was not synced after its last write",
    "folder": "usage was moved, and its folder not synced before the commit",
    "document": "the commit document was not synced after its last write",
    mutants.TOO_EARLY: "usage was not synced after its last write",
}


class Traced(NamedTuple):
    """A first sync and what it did."""

    logs: Path
    lake: Warehouse
    first: Trace


def write_logs(logs: Path) -> Path:
    write_log(logs, [user("Go on", "u1")])
    session = SESSION.replace("1", "2")
    line = user("Go on", "u2", sessionId=session, timestamp=LATER)
    return write_log(logs, [line], f"-kiln/{session}.jsonl")


def options(logs: Path, lake: Path) -> list[str]:
    places = ["--logs", str(logs), "--warehouse", str(lake)]
    return ["sync", *places, "--source", "laptop", "--jobs", "2"]


@pytest.fixture(scope="module")
def sync(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    folder = tmp_path_factory.mktemp("traced")
    logs, lake = folder / "logs", folder / "in" / "new" / "lake"
    write_logs(logs)
    code, trace = traced(folder / "trace", "-m", "etl", *options(logs, lake))
    assert code == 0
    return Traced(logs, Warehouse(lake), trace)


def test_what_a_first_commit_names_is_durable_before_it(sync: Traced) -> None:
    assert not_durable(sync.first, sync.lake) == []
    assert sync.lake.commit_numbers() == [1]


def test_a_sync_only_reads_the_logs_and_follows_no_link_to_them(sync: Traced) -> None:
    assert len(trace_of_files(sync.first, sync.logs)) > 1
    assert changes_below(sync.first, sync.logs) == []
    assert careless_opens(sync.first, sync.logs) == []


def test_a_sync_talks_to_nobody(sync: Traced) -> None:
    assert talk(sync.first) == []


def test_whoever_writes_logs_or_talks_is_noticed(tmp_path: Path, tally: Tally) -> None:
    log = write_logs(tmp_path)
    script = (
        "import fcntl, os, socket, sys; log = sys.argv[1]\n"
        "sink = open(log, 'ab'); sink.write(b'x'); sink.flush(); fcntl.flock(sink, fcntl.LOCK_SH)\n"
        "os.utime(log); os.rename(log, log + 'x'); open(log + 'x').close()\n"
        "socket.socket().connect_ex(('127.0.0.1', 9))"
    )
    code, trace = traced(tmp_path / "trace", "-c", script, str(log))
    tally.mutants_planted += 3
    told = " ".join(changes_below(trace, tmp_path / "projects"))
    assert code == 0
    assert all(f"{name} " in told for name in ("openat", "write", "flock", "utimensat", "rename"))
    assert f"{log}x" in careless_opens(trace, tmp_path)
    assert any("AF_INET" in one for one in talk(trace))
    tally.mutants_caught += 3


@pytest.mark.slow
def test_what_a_later_commit_names_is_durable_before_it(tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    log = write_logs(logs)
    run_sync(logs, lake)
    append(log, user("Go on", "u3"))
    code, trace = traced(tmp_path / "trace", "-m", "etl", *options(logs, lake))
    assert (code, Warehouse(lake).commit_numbers()) == (0, [1, 2])
    assert not_durable(trace, Warehouse(lake)) == []
    assert changes_below(trace, logs) == careless_opens(trace, logs) == []


@pytest.mark.slow
@pytest.mark.parametrize("mutant", WORDS)
def test_an_fsync_left_out_or_too_early_is_noticed(
    mutant: str, tmp_path: Path, tally: Tally
) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    write_logs(logs)
    command = ["-m", "tests.faults.mutants", mutant, *options(logs, lake)]
    tally.mutants_planted += 1
    code, trace = traced(tmp_path / "trace", *command)
    assert code == 0
    assert WORDS[mutant] in not_durable(trace, Warehouse(lake))
    tally.mutants_caught += 1


@pytest.mark.slow
@pytest.mark.parametrize("command", [["query", "select count(*) from daily_spend"], ["status"]])
def test_who_asks_talks_to_nobody_and_changes_nothing(command: list[str], tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    write_logs(logs)
    run_sync(logs, lake)
    code, trace = traced(
        tmp_path / "trace", "-m", "etl", *command, "--warehouse", str(lake.resolve())
    )
    assert (code, talk(trace)) == (0, [])
    assert changes_below(trace, lake) == []


@pytest.mark.slow
def test_logs_on_a_disk_that_cannot_be_written_are_read(tmp_path: Path) -> None:
    log = write_logs(tmp_path / "logs")
    with disks.read_only(tmp_path / "logs", tmp_path / "shown") as shown:
        assert run_sync(shown, tmp_path / "lake").exit_code() == 0
        append(log, user("Go on", "u3"))
        assert run_sync(shown, tmp_path / "lake").exit_code() == 0
        with pytest.raises(OSError, match="Read-only"):
            os.utime(shown / "projects")
    assert value(tmp_path / "lake", "select count(*) from raw.entries") == 3
