"""A clock that jumps changes no row, and takes no commit before its number and its age are up."""

import os
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from etl.commit import KEPT_COMMITS, KEPT_SECONDS, Warehouse
from tests.benchmarks.pictures import differences, picture_of
from tests.faults.disks import need
from tests.faults.tally import Tally
from tests.faults.traces import TOP
from tests.sessions import append, assistant, run_sync, user, write_log

# As faketime takes them: from now, or an instant in Berlin, before and after its clocks change.
JUMPS = ["-10y", "+10y", "@1970-01-01 01:00:10", "+0", "@2026-03-29 01:59:59"]
JUMPS += ["@2026-03-29 03:00:01", "@2026-10-25 02:59:59", "@2026-10-25 02:00:01", "+10y", "-10y"]
NOT_LATER = {"-10y", "+0", "@1970-01-01 01:00:10"}
YEAR_SECONDS = 365 * 86_400


def sync_at(jump: str, logs: Path, lake: Path) -> int:
    """Sync with a clock that says something else; files keep the times that the kernel gives."""
    faketime = shutil.which("faketime")
    assert faketime
    places = ["--logs", str(logs), "--warehouse", str(lake)]
    command = [sys.executable, "-m", "etl", "sync", *places, "--source", "laptop", "--jobs", "1"]
    environment = os.environ | {"NO_FAKE_STAT": "1", "TZ": "Europe/Berlin"}
    return subprocess.run(
        [faketime, "-f", jump, *command], cwd=TOP, env=environment, check=False, timeout=120
    ).returncode


def set_ages(lake: Warehouse, *ages_seconds: float) -> None:
    """Make the commits, oldest first, so old; a negative age is one of the future."""
    now = time.time()
    for number, age in zip(lake.commit_numbers(), ages_seconds, strict=False):
        os.utime(lake.commits / f"{number:010d}.json", (now - age, now - age))


def are_contiguous(numbers: list[int]) -> bool:
    return all(following == number + 1 for number, following in pairwise(numbers))


@pytest.mark.slow
def test_a_clock_that_jumps_changes_no_row(tmp_path: Path, logs: Path, tally: Tally) -> None:
    need("faketime")
    log, lake = write_log(logs, [user("Go on", "u0")]), Warehouse(tmp_path / "lake")
    kept = list[int]()
    for number, jump in enumerate(JUMPS, 1):
        append(log, user("Go on", f"u{number}", number))
        append(log, assistant(uuid=f"a{number}", second=number, message_id=f"msg_{number}"))
        assert sync_at(jump, logs, lake.folder) == 0
        tally.injected += 1
        before, kept = kept, lake.commit_numbers()
        assert kept[-1] == number
        assert are_contiguous(kept)
        # What was made just now is ten years old to one clock, and of the future to the others.
        if jump == "+10y":
            assert len(kept) == min(number, KEPT_COMMITS)
        elif jump in NOT_LATER:
            assert kept == [*before, number]
    run_sync(logs, tmp_path / "clean")
    assert differences(picture_of(lake.folder), picture_of(tmp_path / "clean")) == []


@pytest.mark.slow
def test_a_commit_is_dropped_by_number_and_age_together_and_never_out_of_turn(
    tmp_path: Path, logs: Path, tally: Tally
) -> None:
    log, lake = write_log(logs, []), Warehouse(tmp_path / "lake")
    for number in range(KEPT_COMMITS + 2):
        append(log, user("Go on", f"u{number}", number))
        run_sync(logs, lake.folder)
    old, new, future = 2 * KEPT_SECONDS, 0.0, -10.0 * YEAR_SECONDS
    for ages, kept in [
        ((new,) * 5, [1, 2, 3, 4, 5]),
        ((future, old, old, old, old), [1, 2, 3, 4, 5]),
        ((old, future, old, old, old), [2, 3, 4, 5]),
        ((10 * YEAR_SECONDS,) * 4, [3, 4, 5]),
        ((10 * YEAR_SECONDS,) * 3, [3, 4, 5]),
    ]:
        set_ages(lake, *ages)
        lake.retire(lake.load(), time.time())
        tally.injected += 1
        assert lake.commit_numbers() == kept
