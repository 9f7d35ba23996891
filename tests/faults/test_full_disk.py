"""No room: on the disk, in one file, for open files, in memory. It is said, and healed later."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from etl.commit import Warehouse
from tests.faults.full_disks import enlarge, needs_mounts, small_disk, used_kilobytes
from tests.faults.scenes import (
    LINES,
    Scene,
    complaints,
    first_sync,
    later_sync,
    leftovers,
    published_tables,
)
from tests.faults.strikes import Strike, struck_sync, sync_options
from tests.faults.tally import Tally
from tests.sessions import ask_everything, run_sync, write_log

TOP = Path(__file__).resolve().parents[2]
SIZES = 24
AMPLE_KILOBYTES = 65_536
# Set once everything is imported: Python itself, too, must open files and take memory.
LIMITED = """
import resource, sys
import tests.faults.preloaded
from etl.cli import main
{limit}
main(sys.argv[1:])
"""


def on_a_disk_of(
    scene: Scene, lake: Path, kilobytes: int, tally: Tally
) -> tuple[int | None, list[str]]:
    """Sync on a disk of that size; then on an ample one. Return the exit code and complaints."""
    wrong = []
    with small_disk(lake, AMPLE_KILOBYTES):
        if scene.start:
            shutil.copytree(scene.start, lake, symlinks=True, dirs_exist_ok=True)
        enlarge(lake, max(kilobytes, used_kilobytes(lake)))
        before = Warehouse(lake).commit_numbers()
        struck = struck_sync(scene.logs, lake, Strike())
        tally.injected += 1
        tally.ended += struck.exit_code != 0
        has_committed = Warehouse(lake).commit_numbers() > before
        expected = {0, 1} if has_committed else {5}
        if struck.exit_code not in expected:
            wrong.append(f"exit code {struck.exit_code}: {struck.words}")
        if struck.exit_code and "No space left on device" not in struck.words:
            wrong.append(f"says nothing of the full disk: {struck.words}")
        if published_tables(lake) not in (scene.before, scene.after):
            wrong.append("readers saw half a snapshot")
        enlarge(lake, AMPLE_KILOBYTES)
        wrong += complaints(scene, lake)
    tally.violations += len(wrong)
    return struck.exit_code, wrong


def kilobytes_of(scene: Scene, lake: Path) -> int:
    """Return how much an undisturbed sync leaves on a disk of its own."""
    with small_disk(lake, AMPLE_KILOBYTES):
        if scene.start:
            shutil.copytree(scene.start, lake, symlinks=True, dirs_exist_ok=True)
        assert struck_sync(scene.logs, lake, Strike()).exit_code == 0
        assert ask_everything(lake) == []
        return used_kilobytes(lake)


@pytest.mark.slow
@needs_mounts
@pytest.mark.parametrize("make_scene", [first_sync, later_sync])
def test_a_disk_of_any_size_commits_all_or_nothing_and_the_next_run_with_room_heals(
    make_scene: Callable[[Path], Scene], tmp_path: Path, tally: Tally
) -> None:
    scene, lake = make_scene(tmp_path), tmp_path / "lake"
    shutil.rmtree(lake)
    enough = kilobytes_of(scene, lake) * 8 // 5  # Retiring comes last.
    begin = 4 if scene.start is None else enough // 2
    sizes = [begin + (enough - begin) * number // (SIZES - 1) for number in range(SIZES)]
    codes, broken = set(), {}
    for size in sizes:
        code, wrong = on_a_disk_of(scene, lake, size, tally)
        codes.add(code)
        if wrong:
            broken[f"{size} kB"] = wrong
    assert broken == {}
    assert codes >= {0, 5}  # From too small to enough.


def limited(limit: str, logs: Path, lake: Path) -> subprocess.CompletedProcess[str]:
    """Run a sync in a process that sets itself a limit first."""
    script = LIMITED.format(limit=limit)
    command = [sys.executable, "-c", script, *sync_options(logs, lake), "--jobs", "1"]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)


def limit_of(what: str, size: int | str) -> str:
    return f"resource.setrlimit(resource.{what}, ({size}, {size}))"


@pytest.mark.parametrize("limit", [0, pytest.param(2000, marks=pytest.mark.slow), 6000])
def test_a_limit_of_file_sizes_commits_nothing_and_the_next_run_heals(
    limit: int, tmp_path: Path, tally: Tally
) -> None:
    scene, lake = later_sync(tmp_path), tmp_path / "lake"
    scene.reset(lake)
    before = Warehouse(lake).commit_numbers()
    full = limited(limit_of("RLIMIT_FSIZE", limit), scene.logs, lake)
    tally.injected, tally.ended = 1, 1
    assert (full.returncode, full.stdout) == (5, "")
    assert re.search(r"File too large.*" + re.escape(str(lake)), full.stderr) or (
        re.search(re.escape(str(lake)) + r".*File too large", full.stderr)
    )
    assert "Traceback" not in full.stderr
    assert Warehouse(lake).commit_numbers() == before
    assert list(complaints(scene, lake)) == []


def test_a_limit_that_is_met_after_the_commit_keeps_it_and_the_next_run_shows_it(
    tmp_path: Path, tally: Tally
) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    write_log(logs, LINES)
    full = limited(limit_of("RLIMIT_FSIZE", 50_000), logs, lake)
    tally.injected, tally.ended = 1, 1
    assert (full.returncode, Warehouse(lake).commit_numbers()) == (1, [1])
    assert "commit 1 is safe" in full.stderr
    assert "Traceback" not in full.stderr
    assert run_sync(logs, lake).exit_code() == 0
    assert leftovers(Warehouse(lake)) == []


OPEN_FILES = "len(os.listdir('/proc/self/fd')) - 1"
MEMORY = "int(open('/proc/self/statm').read().split()[0]) * 4096"
# A library that is refused memory may end the process itself, which is a kill like any other.
ENDED_BY_A_LIBRARY = {-signal.SIGSEGV, -signal.SIGABRT}


@pytest.mark.slow
def test_a_limit_of_open_files_is_said_and_healed(tmp_path: Path, tally: Tally) -> None:
    limits = {
        f"{more} more": f"import os; {limit_of('RLIMIT_NOFILE', f'{OPEN_FILES} + {more}')}"
        for more in range(2, 12)
    }
    assert broken_by(limits, {5}, tmp_path, tally) == {}


@pytest.mark.slow
def test_a_limit_of_memory_is_said_and_healed(tmp_path: Path, tally: Tally) -> None:
    limits = {
        f"{megabytes} MB more": limit_of("RLIMIT_AS", f"{MEMORY} + {megabytes << 20}")
        for megabytes in (0, 4, 8, 16, 32, 64, 128, 256)
    }
    assert broken_by(limits, {5} | ENDED_BY_A_LIBRARY, tmp_path, tally) == {}


def broken_by(
    limits: dict[str, str], codes: set[int], folder: Path, tally: Tally
) -> dict[str, list[str]]:
    """Sync under each limit: the exit code says what became of it, and the next run heals."""
    scene, lake = first_sync(folder), folder / "lake"
    broken = {}
    for name, limit in limits.items():
        scene.reset(lake)
        done = limited(limit, scene.logs, lake)
        tally.injected += 1
        tally.ended += done.returncode != 0
        wrong = []
        has_committed = Warehouse(lake).exists() and Warehouse(lake).commit_numbers()
        if done.returncode not in ({0, 1} | codes - {5} if has_committed else {1} | codes):
            wrong.append(f"exit code {done.returncode}")
        if "Traceback" in done.stderr or (done.returncode > 0 and not done.stderr):
            wrong.append(f"words: {done.stderr}")
        run_sync(scene.logs, lake)
        if published_tables(lake) != scene.after or leftovers(Warehouse(lake)):
            wrong.append("the next run did not heal it")
        if wrong:
            broken[name] = wrong
    tally.violations += len(broken)
    return broken
