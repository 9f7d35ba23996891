"""`kill -9` at random moments of a sync, and one more run: the same tables as a clean run's."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from etl.commit import Warehouse
from etl.errors import UsageError
from etl.output import say
from tests.benchmarks import trees
from tests.benchmarks.measures import Measure, checked
from tests.benchmarks.pictures import Picture, differences, picture_of
from tests.benchmarks.processes import killed, sync

# Of twenty kills, so many meet a first sync; the others meet one that adds to a warehouse.
COLD_SHARE = 0.6
SOONER = 0.85


@dataclass(frozen=True, slots=True)
class Scene:
    """A run to be killed: what it starts from, and what must be there in the end."""

    name: str
    logs: Path
    start: Path | None  # the warehouse before the run; None before the first
    before: Picture
    after: Picture
    seconds: float


def measure(tree: Path, place: Path, *, kills: int, seed: int) -> Iterator[Measure]:
    """Kill syncs until so many kills have struck, spread over the whole time of a run."""
    dice = random.Random(seed)  # noqa: S311 - moments, not secrets
    cold = round(kills * COLD_SHARE)
    for make, count in ((_first_sync, cold), (_later_sync, kills - cold)):
        scene = make(tree, place)
        say(f"{count} kills of {scene.name}, which takes {scene.seconds:.2f} s")
        moments = [scene.seconds * (one + dice.random()) / count for one in range(count)]
        wrong = [
            moment
            for number, moment in enumerate(moments)
            if not _is_healed(scene, place / "struck", moment, jobs=1 + number % 2)
        ]
        yield Measure(
            f"kill -9 in {scene.name}, {trees.bytes_of(tree) / 1e6:.0f} MB, and one more run",
            f"{count - len(wrong)} of {count} as a clean run",
            "row for row",
            not wrong,
        )


def _first_sync(tree: Path, place: Path) -> Scene:
    logs = trees.copy_of(tree, place / "kill-logs")
    clean = place / "clean"
    Warehouse(clean).create_folders()
    before = picture_of(clean)
    seconds = _fastest(logs, None, clean)
    return Scene("a first sync", logs, None, before, picture_of(clean), seconds)


def _later_sync(tree: Path, place: Path) -> Scene:
    """A line more in every third log: every part has news, and every table changes."""
    logs = trees.copy_of(tree, place / "kill-logs")
    start, clean = place / "start", place / "clean"
    checked(sync(logs, start, jobs=2))
    for number, log in enumerate(trees.whole_logs(logs)[::3]):
        trees.append_line(log, f"bench-{number:04d}")
    seconds = _fastest(logs, start, clean)
    return Scene("a later sync", logs, start, picture_of(start), picture_of(clean), seconds)


def _fastest(logs: Path, start: Path | None, lake: Path) -> float:
    seconds = []
    for jobs in (1, 2):
        _reset(lake, start)
        seconds.append(checked(sync(logs, lake, jobs=jobs)).wall_seconds)
    return min(seconds)


def _reset(lake: Path, start: Path | None) -> None:
    trees.remove(lake)
    if start:
        trees.copy_of(start, lake)


def _is_healed(scene: Scene, lake: Path, after_seconds: float, *, jobs: int) -> bool:
    """Kill one sync and run once more; say what is wrong, and whether nothing was."""
    _reset(lake, scene.start)
    while not killed(scene.logs, lake, jobs=jobs, after_seconds=after_seconds):
        after_seconds *= SOONER  # It was done before the kill.
        _reset(lake, scene.start)
    wrong = list(_complaints(scene, lake))
    for complaint in wrong:
        say(f"killed after {after_seconds:.3f} s of {scene.name}, --jobs {jobs}: {complaint}")
    return not wrong


def _complaints(scene: Scene, lake: Path) -> Iterator[str]:
    if _shown(lake, scene) not in (scene.before, scene.after):
        yield "readers see neither the old nor the new snapshot"
    again = sync(scene.logs, lake, jobs=2)
    if again.exit_code:
        yield f"the next run exits {again.exit_code}: {again.words.strip()}"
        return
    if wrong := differences(picture_of(lake), scene.after):
        yield f"not as after a clean run: {', '.join(wrong)}"
    if left := [path.name for path in Warehouse(lake).staging.iterdir()]:
        yield f"left in staging: {', '.join(left)}"


def _shown(lake: Path, scene: Scene) -> Picture:
    try:
        return picture_of(lake)
    except UsageError:  # There is no warehouse yet.
        return scene.before if scene.start is None else {}
