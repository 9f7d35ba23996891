"""Faults while a warehouse is written anew: it forgets, keeps less, or is of an older format.

What is to go is gone when the command says so, and at the latest after the next run.
"""

import errno
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from etl.check import check
from etl.commit import Warehouse
from tests.faults.scenes import LINES, Tables, leftovers, published_tables
from tests.faults.strikes import Strike, Struck, struck_command, sync_options
from tests.faults.tally import Tally
from tests.faults.test_sweep import COMMIT, thinned
from tests.searching import places_of
from tests.sessions import append, run_sync, user, write_log
from tests.test_terms import old_warehouse

WORDS = "the kiln burns at noon"
KILL, EIO = Strike(), Strike(error=errno.EIO)
FULL_FROM_THERE = Strike(error=errno.ENOSPC, is_lasting=True)
# Of steps alike so many are struck, by a kill and by an error.
MOST_KILLS, MOST_ERRORS = 2, 1
COMMITTED, NOTHING = {0, 1}, {5}


@dataclass(frozen=True, slots=True)
class Scene:
    """A command that writes a warehouse anew, and what readers see before and after it."""

    start: Path
    command: Callable[[Path], list[str]]
    before: Tables
    after: Tables
    steps: list[str]
    words: str

    def struck(self, lake: Path, strike: Strike) -> Struck:
        """Run the command under a strike, on a warehouse that is as it was at the start."""
        shutil.rmtree(lake, ignore_errors=True)
        shutil.copytree(self.start, lake, symlinks=True)
        return struck_command(self.command(lake), lake, strike)

    def complaints(self, lake: Path, strike: Strike, tally: Tally) -> Iterator[str]:
        """Strike a run at a step; tell what is wrong with its end, and after one that is not."""
        struck = self.struck(lake, strike)
        tally.ended += struck.exit_code != 0
        has_committed = Warehouse(lake).commit_numbers()[-1:] > self._numbers()
        if strike.error is None:
            if struck.exit_code != -signal.SIGKILL:
                yield f"exit code {struck.exit_code} after a kill"
        else:
            yield from self._wrong_end(struck, os.strerror(strike.error), has_committed)
        if published_tables(lake) not in (self.before, self.after):
            yield "readers saw half a snapshot"
        if struck.exit_code == 0:
            yield from self._unfinished(lake)
        again = struck_command(self.command(lake), lake, Strike())
        if again.exit_code:
            yield f"the next run ended with {again.exit_code}: {again.words}"
        yield from self._unfinished(lake)
        yield from (str(one) for one in check(Warehouse(lake)).findings)

    def _numbers(self) -> list[int]:
        return Warehouse(self.start).commit_numbers()[-1:]

    def _wrong_end(self, struck: Struck, error: str, has_committed: bool) -> Iterator[str]:  # noqa: FBT001
        # An fsync that fails right behind the commit leaves it in doubt.
        codes = COMMITTED | NOTHING if has_committed else NOTHING
        if struck.exit_code not in codes:
            yield f"exit code {struck.exit_code}: {struck.words}"
        if struck.exit_code and (error not in struck.words or "Traceback" in struck.words):
            yield f"the words do not name the error: {struck.words}"

    def _unfinished(self, lake: Path) -> Iterator[str]:
        if self.words:
            yield from places_of(lake, self.words)
        if published_tables(lake) != self.after:
            yield "readers do not see what they should"
        yield from leftovers(Warehouse(lake))


def scene_of(start: Path, command: Callable[[Path], list[str]], words: str = "") -> Scene:
    lake = Path(shutil.copytree(start, start.with_name("lake"), symlinks=True))
    done = struck_command(command(lake), lake, Strike())
    assert done.exit_code == 0, done.words
    assert check(Warehouse(lake)).findings == []
    after = published_tables(lake)
    return Scene(start, command, published_tables(start), after, done.steps, words)


def talked_of(folder: Path) -> tuple[Path, Path]:
    """Log words in two sittings, so that two commits know them."""
    logs, start = folder / "logs", folder / "start"
    log = write_log(logs, [*LINES, user(WORDS, "u5", 5)])
    run_sync(logs, start)
    append(log, user(f"Again: {WORDS}", "u6", 6), f'{{"torn":"{WORDS}'.encode())
    run_sync(logs, start)
    return logs, start


def words_forgotten(folder: Path) -> Scene:
    _, start = talked_of(folder)
    options = ["forget", "--match", WORDS, "--yes", "--warehouse"]
    return scene_of(start, lambda lake: [*options, str(lake)], WORDS)


def words_left_out(folder: Path) -> Scene:
    logs, start = talked_of(folder)
    options = ["--content", "metrics", "--jobs", "1"]
    return scene_of(start, lambda lake: [*sync_options(logs, lake), *options], WORDS)


def upgraded(folder: Path) -> Scene:
    start, logs = old_warehouse(folder / "start"), folder / "logs"
    (logs / "projects").mkdir(parents=True)
    warehouse = Warehouse(start)
    warehouse.create_folders()
    with warehouse.lock():
        warehouse.publish(warehouse.load())
    return scene_of(start, lambda lake: [*sync_options(logs, lake), "--jobs", "1"])


def broken_by(
    scene: Scene, lake: Path, kind: Strike, numbers: Iterable[int], tally: Tally
) -> dict[str, list[str]]:
    broken = {}
    for number in sorted(set(numbers)):
        strike = Strike(number, kind.error, is_lasting=kind.is_lasting)
        tally.injected += 1
        if wrong := list(scene.complaints(lake, strike, tally)):
            broken[f"{strike}: {scene.steps[number - 1]}"] = wrong
    tally.violations += len(broken)
    return broken


@pytest.mark.slow
@pytest.mark.parametrize("kind", [KILL, EIO, FULL_FROM_THERE], ids=["kill", "eio", "full"])
@pytest.mark.parametrize("make_scene", [words_forgotten, words_left_out, upgraded])
def test_a_fault_while_a_warehouse_is_written_anew_is_told_and_healed_and_no_word_stays(
    make_scene: Callable[[Path], Scene], kind: Strike, tmp_path: Path, tally: Tally
) -> None:
    scene = make_scene(tmp_path)
    numbers = thinned(scene.steps, MOST_ERRORS if kind.error else MOST_KILLS)
    assert broken_by(scene, tmp_path / "lake", kind, numbers, tally) == {}


@pytest.mark.parametrize("kind", [KILL, EIO], ids=["kill", "eio"])
def test_a_fault_before_what_is_forgotten_has_left_all_commits_is_told_and_healed(
    kind: Strike, tmp_path: Path, tally: Tally
) -> None:
    scene = words_forgotten(tmp_path)
    behind_the_commit = scene.steps.index(COMMIT) + 3
    assert broken_by(scene, tmp_path / "lake", kind, [behind_the_commit], tally) == {}
