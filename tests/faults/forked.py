"""Syncs that are stopped at a step of their own, for whoever needs one; the sweep is in faults/."""

import json
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from etl.commit import Warehouse
from tests.faults.scenes import Scene, leftovers, published_tables
from tests.sessions import run_sync

CHANGES = frozenset({"os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"})
WITH_TARGET = frozenset({"os.link", "os.rename", "os.symlink"})
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

# Each doomed sync is a process of its own, forked from one that has the imports behind it.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.faults.forked"])

# ---- A process that is struck at a step of its own.


def at_each_step(folder: Path, act: Callable[[str], None]) -> None:
    """Call `act` before each change this process makes to a file or folder in there."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in CHANGES or (event == "open" and is_writing(arguments[2])):
            path = str(arguments[event in WITH_TARGET])
            # `rmtree` names what it removes from its folder's descriptor.
            if path.startswith(str(folder)) or event in {"os.remove", "os.rmdir"}:
                act(f"{event} {place_of(path, folder)}")

    sys.addaudithook(hook)


def is_writing(flags: object) -> bool:
    return isinstance(flags, int) and bool(flags & WRITING)


def place_of(path: str, folder: Path) -> str:
    """Name a step's place; the many files of a commit, or of a tree, go by one name."""
    if not path.startswith("/"):
        return "below a tree"
    inside = path.removeprefix(str(folder)).strip("/")
    return re.sub(r"[a-z_]+-[0-9a-f]{32}\.parquet|(?<=tree-)\d+.*", "*", inside)


def doomed_sync(logs: Path, lake: Path, step: int) -> None:
    """Sync, and die by SIGKILL just before the step of that number."""
    left = step

    def strike(_: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    at_each_step(lake, strike)
    run_sync(logs, lake)


def stopped_sync(logs: Path, lake: Path) -> None:
    """Sync, and stop just before the commit until SIGCONT comes."""

    def stop(step: str) -> None:
        if step.startswith("os.link _store/commits/"):
            os.kill(os.getpid(), signal.SIGSTOP)

    at_each_step(lake, stop)
    run_sync(logs, lake)


def noted_sync(logs: Path, lake: Path, notes: Path) -> None:
    """Sync, and note the names of all steps."""
    names: list[str] = []
    at_each_step(lake, names.append)
    run_sync(logs, lake)
    notes.write_text(json.dumps(names))


def exit_code_of(target: Callable[..., None], *arguments: object) -> int | None:
    process = FORKS.Process(target=target, args=arguments)
    process.start()
    process.join()
    exit_code = process.exitcode
    process.close()
    return exit_code


# ---- Its steps, and what must be there afterwards.


def steps_of(scene: Scene, lake: Path) -> list[str]:
    """Return the steps of a sync that nobody disturbs, by name."""
    scene.reset(lake)
    notes = lake.with_suffix(".json")
    assert exit_code_of(noted_sync, scene.logs, lake, notes) == 0
    names: list[str] = json.loads(notes.read_text())
    return names


def struck_steps(steps: list[str], *, is_first_sync: bool) -> Iterator[int]:
    """Yield every step by number; of many in one place only the first and the last."""
    # A later sync finds its folders made, and changes nothing before it opens the lock.
    begin = 0 if is_first_sync else steps.index("open _store/lock")
    numbered = list(enumerate(steps, 1))[begin:]
    for _, group in groupby(numbered, key=lambda one: one[1].partition(" ")[2]):
        numbers = [number for number, _ in group]
        yield from sorted({numbers[0], numbers[-1]})


def wrong_after_a_kill(lake: Path, scene: Scene) -> Iterator[str]:
    if published_tables(lake) not in (scene.before, scene.after):
        yield "readers saw half a snapshot"
    run_sync(scene.logs, lake)
    if published_tables(lake) != scene.after:
        yield "the next run gave other tables than a clean run"
    yield from leftovers(Warehouse(lake))
