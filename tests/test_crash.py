"""Syncs that are stopped at a step of their own, for whoever needs one; the sweep is in faults/."""

import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import pyarrow as pa

from etl import write
from etl.commit import KEPT_COMMITS, KEPT_SECONDS, Warehouse
from tests.sessions import append, assistant, run_sync, tool_result, tool_use, user, write_log

TOP = Path(__file__).resolve().parent.parent
CHANGES = frozenset({"os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"})
WITH_TARGET = frozenset({"os.link", "os.rename", "os.symlink"})
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

# Each doomed sync is a process of its own, forked from one that has the imports behind it.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.test_crash"])

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


# ---- What is struck, and what must be there afterwards.


Tables = dict[str, pa.Table]


@dataclass(frozen=True, slots=True)
class Scene:
    logs: Path
    start: Path | None
    before: Tables
    after: Tables

    def reset(self, lake: Path) -> None:
        shutil.rmtree(lake, ignore_errors=True)
        if self.start:
            shutil.copytree(self.start, lake, symlinks=True)


LINES = [
    user("Count the trees", "u1", 0),
    assistant(tool_use("toolu_1"), uuid="a1", second=1, stop="tool_use"),
    tool_result("toolu_1", "three", uuid="r1", second=2),
    assistant(uuid="a2", second=3, message_id="msg_2", request="req_2", stop="end_turn"),
]


def first_sync(folder: Path) -> Scene:
    logs, lake = folder / "logs", folder / "lake"
    write_log(logs, LINES)
    run_sync(logs, lake)
    return Scene(logs, None, {}, published_tables(lake))


def later_sync(folder: Path) -> Scene:
    """A sync that adds to a part, and has a commit to retire."""
    logs, lake = folder / "logs", folder / "lake"
    log = write_log(logs, LINES[:1])
    for number in range(KEPT_COMMITS):
        append(log, user("Go on", f"u-{number}", 10 + number))
        run_sync(logs, lake)
    for commit in Warehouse(lake).commits.iterdir():
        when = commit.stat().st_mtime - 2 * KEPT_SECONDS
        os.utime(commit, (when, when))
    start = Path(shutil.copytree(lake, folder / "start", symlinks=True))
    append(log, *LINES[1:], b'{"torn')
    run_sync(logs, lake)
    return Scene(logs, start, published_tables(start), published_tables(lake))


def sync_after_a_kill(folder: Path) -> Scene:
    """A sync that finds a commit which nobody was shown, and its tree of links half made."""
    scene, lake = later_sync(folder), folder / "lake"
    half_way = steps_of(scene, lake).index("os.link _store/staging/tree-*") + 10
    scene.reset(lake)
    assert exit_code_of(doomed_sync, scene.logs, lake, half_way) == -signal.SIGKILL
    return replace(scene, start=Path(shutil.copytree(lake, folder / "left", symlinks=True)))


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


def published_tables(lake: Path) -> Tables:
    """Return what a reader of `current` sees, by file, without clocks."""
    current = (lake / "current").resolve()
    return {
        str(path.relative_to(current)): without_clocks(write.read_table(path))
        for path in current.rglob("*.parquet")
        if path.stem != "sync_runs"
    }


def without_clocks(rows: pa.Table) -> pa.Table:
    return rows.drop_columns([name for name in rows.column_names if name == "first_seen_at"])


def wrong_after_a_kill(lake: Path, scene: Scene) -> Iterator[str]:
    if published_tables(lake) not in (scene.before, scene.after):
        yield "readers saw half a snapshot"
    run_sync(scene.logs, lake)
    if published_tables(lake) != scene.after:
        yield "the next run gave other tables than a clean run"
    yield from leftovers(Warehouse(lake))


def leftovers(warehouse: Warehouse) -> list[str]:
    """Return what lies in staging, and stored files that no commit names."""
    states = [warehouse.read_commit(number) for number in warehouse.commit_numbers()]
    named = {file.name for state in states for file in state.files}
    stored = {path.name for path in warehouse.files.iterdir()}
    return sorted({path.name for path in warehouse.staging.iterdir()} | stored - named)


# ---- Refused.


def cclake(*arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, which does something else first."""
    script = f"{before}\nfrom etl.cli import main\nmain()"
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)


def sync_options(logs: Path, lake: Path) -> list[str]:
    return ["sync", "--logs", str(logs), "--warehouse", str(lake), "--source", "laptop"]


def test_a_sync_beside_one_that_holds_the_lock_exits_3_and_the_first_goes_on(
    tmp_path: Path,
) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    write_log(logs, LINES)
    script = (
        "import sys; from pathlib import Path; from tests.test_crash import stopped_sync\n"
        "stopped_sync(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    first = subprocess.Popen([sys.executable, "-c", script, str(logs), str(lake)], cwd=TOP)
    try:
        _, status = os.waitpid(first.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        second = cclake(*sync_options(logs, lake))
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
