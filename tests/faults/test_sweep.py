"""Kill, EIO and ENOSPC at each step of a sync: a whole snapshot is left, and the next run heals."""

import errno
import os
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from etl.commit import Warehouse
from tests.faults.scenes import (
    Scene,
    complaints,
    first_sync,
    later_sync,
    leftovers,
    published_tables,
    steps_of,
    sync_after_a_kill,
    two_workers,
)
from tests.faults.strikes import Strike, Struck
from tests.faults.tally import Tally
from tests.sessions import ask_everything

SCENES = [first_sync, later_sync, sync_after_a_kill, two_workers]
KINDS = ["kill", "eio", "full once", "full from there"]
KILL, EIO = Strike(), Strike(error=errno.EIO)
FULL, FULL_FROM_THERE = (
    Strike(error=errno.ENOSPC, is_lasting=lasting) for lasting in (False, True)
)
# Of the many alike in one place, such as the links of a tree, so many are struck by an error.
MOST_ALIKE = 12
COMMIT = "os.link _store/commits/*.json"
PUBLISHED = "fsync "


def by_place(steps: list[str]) -> dict[str, list[int]]:
    """Return the numbers of the steps of each kind in each place."""
    places: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(steps, 1):
        places[name].append(number)
    return places


def thinned(steps: list[str], most: int) -> Iterator[int]:
    """Yield the steps' numbers; of those alike only so many, the first and the last among them."""
    for numbers in by_place(steps).values():
        count = min(most, len(numbers))
        spread = [round(one * (len(numbers) - 1) / max(1, count - 1)) for one in range(count)]
        yield from (numbers[index] for index in spread)


def point_of_no_return(steps: list[str]) -> int:
    """Return the step that commits; without news, the one that shows what was committed before."""
    if COMMIT in steps:
        return steps.index(COMMIT) + 1
    return steps.index(PUBLISHED) + 1


@dataclass(frozen=True, slots=True)
class Trial:
    """One struck run: where it was struck, and what became of it."""

    scene: Scene
    lake: Path
    strike: Strike
    point: int
    struck: Struck

    def complaints(self) -> Iterator[str]:
        """Tell all that is wrong, then run once more and tell what that did not heal."""
        if self.strike.error is None:
            # A worker that is killed leaves its run to tell of it.
            codes = {-signal.SIGKILL} if self.scene.jobs == 1 else {-signal.SIGKILL, 5}
            if self.struck.exit_code not in codes:
                yield f"exit code {self.struck.exit_code} after a kill"
        elif self.struck.exit_code == 0:
            yield from self._unfinished()
        else:
            yield from self._wrong_code()
            yield from self._wrong_words(os.strerror(self.strike.error))
        yield from complaints(self.scene, self.lake)

    def _unfinished(self) -> Iterator[str]:
        if published_tables(self.lake) != self.scene.after or leftovers(Warehouse(self.lake)):
            yield "exit code 0, but not all is done"

    def _wrong_code(self) -> Iterator[str]:
        """Before the commit 5 and none; at the fsync after it 5 and in doubt; then 1 and there."""
        is_late = self.strike.step > self.point
        is_in_doubt = self._commits() and self.strike.step == self.point + 1
        expected = 1 if is_late and not is_in_doubt else 5
        if self.struck.exit_code != expected:
            yield f"exit code {self.struck.exit_code}, not {expected}"
        if self._has_committed() != (is_late and self._commits()):
            yield "a commit before its time" if self._has_committed() else "the commit is not there"

    def _wrong_words(self, error: str) -> Iterator[str]:
        words = self.struck.words
        if error not in words or str(self.lake.parent) not in words or "Traceback" in words:
            yield f"the words do not name the path and the error: {words}"
        if self._has_committed() and "nothing was committed" in words:
            yield f"the words deny the commit: {words}"

    def _commits(self) -> bool:
        return self.scene.commits

    def _has_committed(self) -> bool:
        before = Warehouse(self.scene.start).commit_numbers() if self.scene.start else []
        return Warehouse(self.lake).commit_numbers()[-1:] > before[-1:]


def sweep(
    scene: Scene, lake: Path, kind: Strike, numbers: Iterable[int], tally: Tally
) -> dict[str, list[str]]:
    """Strike a sync at those steps, one run each, and return what was wrong, by strike."""
    steps, broken = steps_of(scene, lake), {}
    for number in sorted(set(numbers)):
        strike = Strike(number, kind.error, is_lasting=kind.is_lasting)
        struck = scene.struck(lake, strike)
        tally.injected += 1
        tally.ended += struck.exit_code != 0
        trial = Trial(scene, lake, strike, point_of_no_return(steps), struck)
        if wrong := list(trial.complaints()):
            broken[f"{strike}, {struck.steps[number - 1 : number]}"] = wrong
    tally.violations += len(broken)
    return broken


@pytest.mark.slow
@pytest.mark.parametrize("kind", [KILL, EIO, FULL, FULL_FROM_THERE], ids=KINDS)
@pytest.mark.parametrize("make_scene", SCENES)
def test_a_fault_at_any_step_leaves_a_whole_snapshot_and_is_healed_by_the_next_run(
    make_scene: Callable[[Path], Scene], kind: Strike, tmp_path: Path, tally: Tally
) -> None:
    scene, lake = make_scene(tmp_path), tmp_path / "lake"
    steps = steps_of(scene, lake)
    assert ask_everything(lake) == []
    is_thinned = kind.error is not None and make_scene is not first_sync
    numbers = thinned(steps, MOST_ALIKE if is_thinned else len(steps))
    assert sweep(scene, lake, kind, numbers, tally) == {}


@pytest.mark.parametrize(
    ("make_scene", "kind", "which"),
    [
        pytest.param(later_sync, KILL, -1, id="kill"),
        pytest.param(first_sync, EIO, 0, id="eio", marks=pytest.mark.slow),
        pytest.param(first_sync, FULL_FROM_THERE, -1, id="full from there", marks=pytest.mark.slow),
    ],
)
def test_a_fault_at_a_step_of_each_kind_leaves_a_whole_snapshot(
    make_scene: Callable[[Path], Scene], kind: Strike, which: int, tmp_path: Path, tally: Tally
) -> None:
    scene, lake = make_scene(tmp_path), tmp_path / "lake"
    steps = steps_of(scene, lake)
    kinds = by_place([name.partition(" ")[0] for name in steps])
    assert kinds.keys() >= {"open", "write", "fsync", "os.mkdir", "os.link", "os.rename"}
    numbers = {numbers[which] for numbers in kinds.values()} | {point_of_no_return(steps)}
    assert sweep(scene, lake, kind, numbers, tally) == {}
