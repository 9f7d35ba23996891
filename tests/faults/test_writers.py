"""Two syncs at once: one works and the other exits with 3, also where the lock locks nobody out."""

import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from etl.commit import Warehouse
from tests.faults.forked import (
    FORKS,
    at_each_step,
    steps_of,
    struck_steps,
    wrong_after_a_kill,
)
from tests.faults.looks import damaged_files, failing, what_readers_see
from tests.faults.pauses import LONGEST_SECONDS, Paused, end_with_sync, paused, waiting
from tests.faults.scenes import LINES, Scene, first_sync, later_sync, leftovers
from tests.faults.strikes import sync_options
from tests.faults.tally import Tally
from tests.sessions import append, run_sync, user, write_log

TOP = Path(__file__).resolve().parent.parent.parent
SOAK_SECONDS = 30
PAIRS = 25
DONE, NOT_SHOWN, BUSY = 0, 1, 3

# ---- The processes.


def racing_sync(start: Barrier, logs: Path, lake: Path) -> None:
    start.wait(LONGEST_SECONDS)
    end_with_sync(logs, lake)


def unlocked_sync(talk: Connection, logs: Path, lake: Path, place: str, count: int) -> None:
    """Sync on a file system that locks for everybody; wait before a step until told to go on."""
    vars(fcntl)["flock"] = lambda _descriptor, _how: None
    at_each_step(lake, waiting(talk, place, count))
    end_with_sync(logs, lake)


def unlocked(
    logs: Path, lake: Path, place: str = "-", count: int = 1
) -> AbstractContextManager[Paused]:
    """Start a sync without a lock, and let it come to a step; without one, to its end."""
    return paused(unlocked_sync, logs, lake, place, count)


def whole_unlocked_sync(logs: Path, lake: Path) -> int | None:
    with unlocked(logs, lake) as other:
        return other.process.exitcode


# ---- With the lock.


def exit_codes_of_a_pair(logs: Path, lake: Path) -> list[int]:
    start = FORKS.Barrier(2)
    pair = [FORKS.Process(target=racing_sync, args=(start, logs, lake)) for _ in range(2)]
    try:
        for one in pair:
            one.start()
        for one in pair:
            one.join(LONGEST_SECONDS)
        return sorted(one.exitcode for one in pair if one.exitcode is not None)
    finally:
        for one in pair:
            one.kill()


@pytest.mark.parametrize("seconds", [0, pytest.param(SOAK_SECONDS, marks=pytest.mark.slow)])
def test_of_two_syncs_at_once_one_works_and_no_line_is_doubled(
    seconds: int, logs: Path, lake: Path, tally: Tally
) -> None:
    log, ends, uuids = write_log(logs, []), time.monotonic() + seconds, []
    while tally.injected < 3 or time.monotonic() < ends:
        uuids.append(f"u{tally.injected}")
        append(log, user("Go on", uuids[-1], tally.injected))
        codes = exit_codes_of_a_pair(logs, lake)
        tally.injected += 1
        tally.ended += BUSY in codes
        assert codes in ([DONE, BUSY], [DONE, DONE])
        seen, wrong = what_readers_see(Warehouse(lake), "every_byte_is_accounted_for")
        assert (sorted(seen), wrong) == (sorted(uuids), [])
    assert not seconds or tally.ended
    assert what_readers_see(Warehouse(lake))[1] == []
    assert leftovers(Warehouse(lake)) == []


# ---- Where the lock locks nobody out.


STEPS = {
    "before its second file": ("open _store/staging/*", 2),
    "between moving its files in": ("os.rename _store/files/*", 5),
    "before it writes its commit": ("open _store/staging/commit-", 1),
    "before it links its commit": ("os.link _store/commits/", 1),
}


def wrong_after_a_race(lake: Path, scene: Scene) -> list[str]:
    return [
        *failing(lambda: damaged_files(Warehouse(lake))),
        *failing(lambda: wrong_after_a_kill(lake, scene)),
    ]


@pytest.mark.parametrize(
    ("make_scene", "step"),
    [
        pytest.param(make, step, marks=() if one_is_fast else pytest.mark.slow)
        for make in (first_sync, later_sync)
        for step in STEPS
        for one_is_fast in [make is later_sync and step == "before it links its commit"]
    ],
)
def test_without_a_lock_one_of_two_makes_the_commit_and_the_other_exits_with_3(
    make_scene: Callable[[Path], Scene], step: str, tmp_path: Path, tally: Tally
) -> None:
    scene, lake = make_scene(tmp_path), tmp_path / "lake"
    scene.reset(lake)
    before = max(Warehouse(lake).commit_numbers(), default=0)
    with unlocked(scene.logs, lake, *STEPS[step]) as first:
        assert first.process.is_alive()
        assert whole_unlocked_sync(scene.logs, lake) == DONE
        assert first.go_on() == BUSY
    tally.injected, tally.ended = 1, 1
    assert max(Warehouse(lake).commit_numbers()) == before + 1
    assert wrong_after_a_race(lake, scene) == []


@pytest.mark.slow
@pytest.mark.parametrize("step", ["os.link _store/staging/tree-", "os.rename current", "open _st"])
def test_without_a_lock_one_that_tidies_up_takes_nothing_from_one_that_is_at_work(
    step: str, logs: Path, lake: Path, tally: Tally
) -> None:
    log = write_log(logs, [user("Go on", "u1")])
    with unlocked(logs, lake, step) as first:
        append(log, user("Go on", "u2", 1))
        with unlocked(logs, lake, *STEPS["before it links its commit"]) as second:
            codes = [first.go_on(), second.go_on()]
    tally.injected += 1
    tally.ended += BUSY in codes
    assert codes in ([DONE, DONE], [DONE, BUSY], [BUSY, DONE])
    assert failing(lambda: damaged_files(Warehouse(lake))) == []
    run_sync(logs, lake)
    assert sorted(what_readers_see(Warehouse(lake))[0]) == ["u1", "u2"]


@pytest.mark.slow
def test_without_a_lock_a_sync_may_wait_at_any_step_while_another_runs(
    tmp_path: Path, tally: Tally
) -> None:
    scene, lake = later_sync(tmp_path), tmp_path / "lake"
    steps = steps_of(scene, lake)
    broken = {}
    for number in struck_steps(steps, is_first_sync=False):
        scene.reset(lake)
        with unlocked(scene.logs, lake, "", number) as first:
            codes = [whole_unlocked_sync(scene.logs, lake), first.go_on()]
        tally.injected += 1
        tally.ended += BUSY in codes
        wrong = [] if set(codes) <= {DONE, NOT_SHOWN, BUSY} else [f"exit codes {codes}"]
        if wrong := [*wrong, *wrong_after_a_race(lake, scene)]:
            broken[f"{number}: {steps[number - 1]}"] = wrong
    tally.violations += len(broken)
    assert broken == {}


@pytest.mark.slow
def test_without_a_lock_two_syncs_may_wait_for_each_other_anywhere(
    tmp_path: Path, tally: Tally
) -> None:
    scene, lake = later_sync(tmp_path), tmp_path / "lake"
    steps = steps_of(scene, lake)
    log = next(scene.logs.rglob("*.jsonl"))
    written = log.read_bytes().rpartition(b"\n")[0] + b"\n"
    dice = random.Random(3)  # noqa: S311 - moments, not secrets
    broken = {}
    for _ in range(PAIRS):
        scene.reset(lake)
        log.write_bytes(written)
        one, other = dice.randint(1, len(steps)), dice.randint(1, len(steps))
        with unlocked(scene.logs, lake, "", one) as first:
            append(log, user("Go on", "late", 60))
            with unlocked(scene.logs, lake, "", other) as second:
                codes = [first.go_on(), second.go_on()]
        tally.injected += 1
        tally.ended += BUSY in codes
        wrong = [] if set(codes) <= {DONE, NOT_SHOWN, BUSY} else [f"exit codes {codes}"]
        wrong += failing(lambda: wrong_after_two(scene.logs, lake, written))
        if wrong:
            broken[f"{one}: {steps[one - 1]}, {other}: {steps[other - 1]}"] = wrong
    tally.violations += len(broken)
    assert broken == {}


def wrong_after_two(logs: Path, lake: Path, written: bytes) -> Iterator[str]:
    yield from damaged_files(Warehouse(lake))
    run_sync(logs, lake)
    seen, wrong = what_readers_see(Warehouse(lake))
    if (len(seen), len(set(seen))) != (written.count(b"\n") + 1,) * 2:
        yield "the next sync did not give every line exactly once"
    yield from wrong


def test_a_sync_beside_one_that_holds_the_lock_exits_3_and_the_first_goes_on(
    tmp_path: Path,
) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    write_log(logs, LINES)
    script = (
        "import sys; from pathlib import Path; from tests.faults.forked import stopped_sync\n"
        "stopped_sync(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    first = subprocess.Popen([sys.executable, "-c", script, str(logs), str(lake)], cwd=TOP)
    try:
        _, status = os.waitpid(first.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        command = [sys.executable, "-m", "etl", *sync_options(logs, lake)]
        second = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
        assert (second.returncode, second.stdout) == (3, "")
        assert "another sync is at work" in second.stderr
        assert Warehouse(lake).commit_numbers() == []
        first.send_signal(signal.SIGCONT)
        assert first.wait() == 0
    finally:
        first.kill()
        first.wait()
    assert Warehouse(lake).commit_numbers() == [1]
    assert leftovers(Warehouse(lake)) == []
