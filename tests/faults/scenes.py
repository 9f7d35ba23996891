"""What is struck, and what must be there afterwards."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa

from etl import write
from etl.commit import KEPT_COMMITS, KEPT_SECONDS, Warehouse
from tests.faults.strikes import Strike, Struck, struck_sync
from tests.sessions import (
    PROJECT,
    append,
    assistant,
    run_sync,
    tool_result,
    tool_use,
    user,
    write_log,
)

Tables = dict[str, pa.Table]
CLOCKS = frozenset({"first_seen_at", "forgotten_at"})
LINES = [
    user("Count the trees", "u1", 0),
    assistant(tool_use("toolu_1"), uuid="a1", second=1, stop="tool_use"),
    tool_result("toolu_1", "three", uuid="r1", second=2),
    assistant(uuid="a2", second=3, message_id="msg_2", request="req_2", stop="end_turn"),
]


@dataclass(frozen=True, slots=True)
class Scene:
    """A sync: the logs, the warehouse that it finds, and what readers see before and after it."""

    logs: Path
    start: Path | None
    before: Tables
    after: Tables
    jobs: int = 1
    commits: bool = True

    def reset(self, lake: Path) -> None:
        shutil.rmtree(lake, ignore_errors=True)
        if self.start:
            shutil.copytree(self.start, lake, symlinks=True)

    def struck(self, lake: Path, strike: Strike) -> Struck:
        """Set the scene up, run its sync under a strike, and return what became of it."""
        self.reset(lake)
        return struck_sync(self.logs, lake, strike, jobs=self.jobs)


def first_sync(folder: Path) -> Scene:
    logs, lake = folder / "logs", folder / "lake"
    write_log(logs, LINES)
    return _scene(logs, None, lake)


def later_sync(folder: Path) -> Scene:
    """A sync that adds to a part, and has a commit to retire."""
    logs, lake = folder / "logs", folder / "lake"
    log = write_log(logs, LINES)
    for number in range(KEPT_COMMITS):
        append(log, user("Go on", f"u-{number}", 10 + number))
        run_sync(logs, lake)
    for commit in Warehouse(lake).commits.iterdir():
        when = commit.stat().st_mtime - 2 * KEPT_SECONDS
        os.utime(commit, (when, when))
    start = Path(shutil.copytree(lake, folder / "start", symlinks=True))
    append(log, user("And the leaves", "u2", 20), b'{"torn')
    return _scene(logs, start, lake)


def sync_after_a_kill(folder: Path) -> Scene:
    """A sync that finds a commit which nobody was shown, and its tree of links half made."""
    scene, lake = later_sync(folder), folder / "lake"
    half_way = steps_of(scene, lake).index("os.link _store/staging/tree-*") + 10
    assert scene.struck(lake, Strike(half_way)).exit_code == -signal.SIGKILL
    left = Path(shutil.copytree(lake, folder / "left", symlinks=True))
    return replace(scene, start=left, commits=False)


def two_workers(folder: Path) -> Scene:
    """A first sync of two parts, each in a process of its own: sessions of two months."""
    logs, lake = folder / "logs", folder / "lake"
    write_log(logs, LINES)
    other = "22222222-2222-4222-8222-222222222222"
    april = [line | {"timestamp": "2026-04-02T08:00:00.000Z", "sessionId": other} for line in LINES]
    write_log(logs, april, f"{PROJECT}/{other}.jsonl")
    return replace(_scene(logs, None, lake), jobs=2)


def _scene(logs: Path, start: Path | None, lake: Path) -> Scene:
    run_sync(logs, lake)
    return Scene(logs, start, published_tables(start) if start else {}, published_tables(lake))


def steps_of(scene: Scene, lake: Path) -> list[str]:
    """Return the steps of a sync that nobody disturbs, by name."""
    done = scene.struck(lake, Strike())
    assert done.exit_code == 0, done.words
    assert published_tables(lake) == scene.after
    return done.steps


def published_tables(lake: Path) -> Tables:
    """Return what a reader of `current` sees, by file, without clocks."""
    current = (lake / "current").resolve()
    return {
        str(path.relative_to(current)): _without_clocks(write.read_table(path))
        for path in current.rglob("*.parquet")
        if path.stem != "sync_runs"
    }


def _without_clocks(rows: pa.Table) -> pa.Table:
    return rows.drop_columns([name for name in rows.column_names if name in CLOCKS])


def complaints(scene: Scene, lake: Path) -> Iterator[str]:
    """Look at a warehouse after a fault, run one more sync, and tell all that is wrong.

    Tables that are those of the clean run pass every check that its tables pass.
    """
    if published_tables(lake) not in (scene.before, scene.after):
        yield "readers saw half a snapshot"
    yield from unanswered(lake)
    run = run_sync(scene.logs, lake)
    if run.problems:
        yield f"the next run had problems: {run.problems}"
    if published_tables(lake) != scene.after:
        yield "the next run gave other tables than a clean run"
    yield from unanswered(lake)
    yield from leftovers(Warehouse(lake))


def unanswered(lake: Path) -> Iterator[str]:
    """Open the database of views as a reader does, if there is one, and ask it."""
    database = lake / "cclake.duckdb"
    if not database.exists():
        return
    try:
        with closing(duckdb.connect(database, read_only=True)) as con:
            con.sql("select count(*) from raw.entries").fetchall()
    except duckdb.Error as error:
        yield f"the views do not answer: {error}"


def leftovers(warehouse: Warehouse) -> list[str]:
    """Return what lies in staging, stored files that no commit names, and trees without one."""
    numbers = warehouse.commit_numbers()
    named = {file.name for number in numbers for file in warehouse.read_commit(number).files}
    stored = {path.name for path in warehouse.files.iterdir()}
    trees = {path.name for path in warehouse.published.iterdir()}
    shown = {f"{number:010d}" for number in numbers}
    staged = {path.name for path in warehouse.staging.iterdir()}
    return sorted(staged | (stored - named) | (trees - shown))
