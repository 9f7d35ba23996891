"""The same sweep for truth: the kernel kills or refuses the real system calls of the command.

A first run under strace tells which calls, counted by name and process, touch the warehouse; those
are struck one by one. The calls before them are Python's own and are the same in every run.
"""

import re
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from etl.commit import Warehouse
from tests.faults.scenes import (
    Scene,
    complaints,
    first_sync,
    leftovers,
    published_tables,
    two_workers,
)
from tests.faults.strikes import place_of, sync_options
from tests.faults.tally import Tally

TOP = Path(__file__).resolve().parents[2]
CALLS = (
    "write,pwrite64,fsync,link,linkat,rename,renameat,renameat2,mkdir,mkdirat,symlink,symlinkat"
    ",unlink,unlinkat,rmdir,chmod,sendfile"
)
FAULTS = {
    "kill": "signal=SIGKILL",
    "eio": "error=EIO",
    "enospc": "error=ENOSPC",
}
WORDS = {"eio": "Input/output error", "enospc": "No space left on device"}
Point = tuple[str, int, str]  # a call's name, its number in its process, what it touches

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace"),
]


def traced(
    scene: Scene, lake: Path, calls: str, *options: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the real command under strace, and return what became of it and its trace."""
    scene.reset(lake)
    strace, trace = shutil.which("strace"), lake.with_suffix(".trace")
    assert strace
    listen = [strace, "-f", "-y", "-qq", "-s", "0", "-o", str(trace), "-e", f"trace={calls}"]
    command = [sys.executable, "-B", "-m", "etl", *sync_options(scene.logs, lake)]
    done = subprocess.run(
        [*listen, *options, *command, "--jobs", str(scene.jobs)],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    return done, trace.read_text().splitlines()


def points_of(trace: list[str], lake: Path, most: int) -> Iterator[Point]:
    """Yield the calls that touch the warehouse; of those alike the first, the last and so on."""
    numbers: Counter[tuple[str, str]] = Counter()
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for line in trace:
        found = re.match(r"(\d+) +(\w+)\((.*)", line)
        if not found:
            continue  # The second half of a call that another one interrupted, or an exit.
        process, call, arguments = found.groups()
        numbers[process, call] += 1
        touched = re.findall(rf"{re.escape(str(lake))}[^\">]*", arguments)
        if touched:
            places[call, place_of(touched[-1], str(lake))].append(numbers[process, call])
    for (call, place), alike in places.items():
        different = sorted(set(alike))
        count = min(most, len(different))
        for one in range(count):
            yield call, different[one * (len(different) - 1) // max(1, count - 1)], place


def wrong_end(
    done: subprocess.CompletedProcess[str], fault: str, scene: Scene, lake: Path
) -> Iterator[str]:
    """Tell what is wrong with how a struck run ended, by what is in the warehouse now."""
    code, has_committed = done.returncode, bool(Warehouse(lake).commit_numbers())
    if fault == "kill":
        if code not in {-signal.SIGKILL, 5 if scene.jobs > 1 else -signal.SIGKILL}:
            yield f"exit code {code} after a kill: {done.stderr}"
    elif code == 0:
        if published_tables(lake) != scene.after or leftovers(Warehouse(lake)):
            yield "exit code 0, but not all is done"
    elif code not in ({1, 5} if has_committed else {5}):
        yield f"exit code {code}: {done.stderr}"
    elif WORDS[fault] not in done.stderr or "Traceback" in done.stderr:
        yield f"the words do not name the error: {done.stderr}"
    elif has_committed and "nothing was committed" in done.stderr:
        yield f"the words deny the commit: {done.stderr}"


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("make_scene", "most"), [(first_sync, 3), (two_workers, 1)])
def test_a_system_call_that_is_struck_leaves_a_whole_snapshot_and_the_next_run_heals(
    make_scene: Callable[[Path], Scene], most: int, fault: str, tmp_path: Path, tally: Tally
) -> None:
    scene, lake = make_scene(tmp_path), tmp_path / "lake"
    done, trace = traced(scene, lake, CALLS)
    assert done.returncode == 0, done.stderr
    broken = {}
    for call, number, place in points_of(trace, lake, most):
        strike = f"inject={call}:{FAULTS[fault]}:when={number}"
        done, _ = traced(scene, lake, call, "-e", strike)
        tally.injected += 1
        tally.ended += done.returncode != 0
        wrong = [*wrong_end(done, fault, scene, lake), *complaints(scene, lake)]
        if wrong:
            broken[f"{call} {number}, {place}"] = wrong
    tally.violations += len(broken)
    assert broken == {}
    assert tally.ended > tally.injected / 2
