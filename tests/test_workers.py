"""Processes that work for a run: they answer in order, and none outlives it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from etl import workers
from etl.commit import Warehouse
from etl.errors import BusyError, StorageError

TOP = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 30

ORPHANING_RUN = """
import sys
from pathlib import Path
from etl import workers
from etl.commit import Warehouse
from tests.test_workers import kill_the_parent

lake = Warehouse(Path(sys.argv[1]))
lake.create_folders()
with lake.lock():
    list(workers.run(kill_the_parent, [sys.argv[2]] * 2, processes=2))
"""


def slow_square(number: int) -> int:
    time.sleep(0.05 if number == 0 else 0)
    return number * number


def kill_self(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_the_parent(notes: str) -> None:
    """Leave a note of who is at work, then orphan everybody and go on working."""
    (Path(notes) / str(os.getpid())).touch()
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(10 * PATIENCE_SECONDS)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # An orphan that has ended may wait for init to notice.
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def test_results_come_in_the_order_of_the_tasks() -> None:
    assert list(workers.run(slow_square, range(6), processes=2)) == [0, 1, 4, 9, 16, 25]


def test_a_killed_worker_is_told_in_a_sentence() -> None:
    with pytest.raises(StorageError, match="a worker process was killed") as caught:
        list(workers.run(kill_self, range(2), processes=2))
    assert "--jobs 1" in str(caught.value.hint)


def test_workers_of_a_killed_run_end_and_leave_no_lock(tmp_path: Path) -> None:
    notes, lake = tmp_path / "notes", tmp_path / "lake"
    notes.mkdir()
    killed = subprocess.run(
        [sys.executable, "-c", ORPHANING_RUN, str(lake), str(notes)], cwd=TOP, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(is_alive(int(note.name)) for note in notes.iterdir()):
        assert time.monotonic() < deadline, "a worker outlived its run"
        time.sleep(0.01)
    assert list(notes.iterdir())
    with Warehouse(lake).lock():
        pass


def test_a_worker_holds_no_lock_of_its_parent(tmp_path: Path) -> None:
    lake = Warehouse(tmp_path / "lake")
    lake.create_folders()
    with lake.lock():
        assert list(workers.run(lock_state, [str(lake.folder)] * 2, processes=2)) == ["busy"] * 2
    with lake.lock():
        pass


def lock_state(folder: str) -> str:
    try:
        with Warehouse(Path(folder)).lock():
            return "free"
    except BusyError:
        return "busy"
