"""What is measured of a sync, each beside its target."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from etl.chain import StoredFile
from etl.commit import Warehouse
from etl.output import say, show_table, size_of
from tests.accounts import account_of, expected_of
from tests.benchmarks import baseline, trees
from tests.benchmarks.baseline import Baseline
from tests.benchmarks.processes import Finished, sync

MOST_CPU = 6.0
LEAST_SPEED_UP = 1.7
MOST_IDLE_SECONDS = 1.0
MOST_MEMORY = 1_000_000_000
MOST_SHARE = 0.30
TARGET_MB = 200
HOLDS = {True: "yes", False: "NO", None: ""}
BOOKS = frozenset({"source_files", "sync_runs"})


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table; without a target it only informs."""

    name: str
    value: str
    target: str = ""
    holds: bool | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """The yardstick and two cold syncs, one after the other, so that they see the same weather."""

    base: Baseline
    one: Finished
    two: Finished

    def cpu_ratio(self, jobs: int) -> float:
        """Return the CPU time of a sync as a multiple of the yardstick's."""
        return (self.one if jobs == 1 else self.two).cpu_seconds / self.base.cpu_seconds

    def speed_up(self) -> float:
        """Return how many times as fast two workers were as one."""
        return self.one.wall_seconds / self.two.wall_seconds


def measures(tree: Path, place: Path, *, rounds: int) -> Iterator[Measure]:
    """Measure everything but the kills; the last warehouse of a round serves the rest."""
    logs, lake = trees.copy_of(tree, place / "logs"), place / "lake"
    seen = [_round(logs, lake, number) for number in range(1, rounds + 1)]
    yield _size_of_tree(logs, seen[0].base)
    yield _totals(lake, trees.truth_of(tree))
    yield from _speed(seen)
    yield _start_up(place)
    yield from _memory(logs, place / "watched")
    yield from _sizes(logs, lake)
    yield _idle(logs, lake, rounds)
    yield _append(logs, lake)


def show(found: Sequence[Measure]) -> NoReturn:
    """Print one table and end, with exit code 1 if a measure does not hold."""
    names = ["measure", "value", "target", "holds"]
    show_table(names, [[one.name, one.value, one.target, HOLDS[one.holds]] for one in found])
    sys.exit(any(one.holds is False for one in found))


def checked(run: Finished) -> Finished:
    """Return a sync that ended well, or stop the benchmark with its own words."""
    if run.exit_code:
        raise SystemExit(f"a sync ended with exit code {run.exit_code}: {run.words}")
    return run


def _round(logs: Path, lake: Path, number: int) -> Round:
    say(f"round {number}: the yardstick, a sync by one, a sync by two")
    base = baseline.measure(logs)
    one, two = (_cold(logs, lake, jobs) for jobs in (1, 2))
    return Round(base, one, two)


def _cold(logs: Path, lake: Path, jobs: int, *, is_watched: bool = False) -> Finished:
    trees.remove(lake)
    return checked(sync(logs, lake, jobs=jobs, is_watched=is_watched))


def _size_of_tree(logs: Path, base: Baseline) -> Measure:
    return Measure(
        "the tree",
        f"{size_of(trees.bytes_of(logs))}, {len(trees.logs_of(logs)):,} logs,"
        f" {base.lines:,} lines of {base.line_bytes:,.0f} B on average",
    )


def _totals(lake: Path, truth: Mapping[str, object]) -> Measure:
    found, expected = account_of(str(lake)), expected_of(truth)
    wrong = sorted(name for name in found | expected if found.get(name) != expected.get(name))
    value = f"differ: {', '.join(wrong)}" if wrong else f"{len(expected)} of {len(expected)} equal"
    return Measure("totals against truth.json", value, "exactly", not wrong)


def _speed(seen: list[Round]) -> Iterator[Measure]:
    base = min(one.base.cpu_seconds for one in seen)
    yield Measure("orjson.loads alone, CPU", f"{base:.2f} s, best of {len(seen)} rounds")
    for jobs in (1, 2):
        ratios = sorted(one.cpu_ratio(jobs) for one in seen)
        cpu = min((one.one if jobs == 1 else one.two).cpu_seconds for one in seen)
        yield Measure(
            f"cold sync, --jobs {jobs}, CPU",
            f"{ratios[0]:.1f} x ({_range(ratios)}), {cpu:.2f} s",
            f"≤ {MOST_CPU:.0f} x",
            ratios[0] <= MOST_CPU,
        )
    walls = [min(one.one.wall_seconds for one in seen), min(one.two.wall_seconds for one in seen)]
    yield Measure("cold sync, wall time by one, by two", f"{walls[0]:.2f} s, {walls[1]:.2f} s")
    ups = sorted((one.speed_up() for one in seen), reverse=True)
    yield Measure(
        "two workers against one",
        f"{ups[0]:.2f} x as fast ({_range(ups)})",
        f"≥ {LEAST_SPEED_UP} x",
        ups[0] >= LEAST_SPEED_UP,
    )


def _start_up(place: Path) -> Measure:
    (place / "no-logs" / "projects").mkdir(parents=True)
    run = _cold(place / "no-logs", place / "no-lake", 1)
    return Measure("of that, start-up: a sync of no logs, CPU", f"{run.cpu_seconds:.2f} s")


def _range(values: list[float]) -> str:
    return f"rounds: {', '.join(f'{value:.2f}' for value in values)}"


def _memory(logs: Path, lake: Path) -> Iterator[Measure]:
    for jobs in (1, 2):
        say(f"peak memory with --jobs {jobs}")
        memory = _cold(logs, lake, jobs, is_watched=True).memory
        yield Measure(
            f"peak memory, --jobs {jobs}",
            f"{size_of(memory.together)} all processes (PSS, sampled),"
            f" {size_of(memory.largest_process)} the largest (VmHWM)",
            f"< {size_of(MOST_MEMORY)}",
            0 < max(memory.together, memory.largest_process) < MOST_MEMORY,
        )
    trees.remove(lake)


def _sizes(logs: Path, lake: Path) -> Iterator[Measure]:
    raw = trees.bytes_of(logs)
    sizes = {
        "files of the commit": sum(_file_sizes(lake / "current").values()),
        "whole folder on disk (du)": _disk_usage(lake),
    }
    for name, size in sizes.items():
        yield Measure(
            f"warehouse, {name}",
            f"{size / raw:.1%} of the logs, {size_of(size)}",
            f"< {MOST_SHARE:.0%}",
            size / raw < MOST_SHARE,
        )


def _file_sizes(folder: Path) -> dict[tuple[int, int], int]:
    stats = [path.lstat() for path in folder.resolve().rglob("*") if path.is_file()]
    return {(stat.st_dev, stat.st_ino): stat.st_size for stat in stats}


def _disk_usage(folder: Path) -> int:
    stats = [path.lstat() for path in [folder, *folder.rglob("*")]]
    return sum({(stat.st_dev, stat.st_ino): stat.st_blocks * 512 for stat in stats}.values())


def _idle(logs: Path, lake: Path, rounds: int) -> Measure:
    before = Warehouse(lake).commit_numbers()
    runs = [checked(sync(logs, lake, jobs=2)) for _ in range(rounds)]
    fresh = len(set(Warehouse(lake).commit_numbers()) - set(before))
    seconds = min(run.wall_seconds for run in runs)
    return Measure(
        "sync without news",
        f"{seconds:.2f} s, {fresh} new commits",
        f"< {MOST_IDLE_SECONDS:.0f} s, 0",
        seconds < MOST_IDLE_SECONDS and not fresh,
    )


def _append(logs: Path, lake: Path) -> Measure:
    """Append a line to a log of middling size and see which files the next commit replaced."""
    candidates = trees.whole_logs(logs)
    before = _stored(lake)
    size = trees.append_line(candidates[len(candidates) // 2])
    run = checked(sync(logs, lake, jobs=2))
    after = _stored(lake)
    changed = [after[path] for path in after if after[path].name != _name(before.get(path))]
    parts = {file.part for file in changed if file.table not in BOOKS}
    books = {file.table for file in changed if file.part is None}
    is_right = len(parts) == 1 and books == BOOKS and before.keys() == after.keys()
    return Measure(
        "one line appended to one log",
        f"{len(parts)} of {len(_parts(after))} parts and {len(books)} books rewritten"
        f" ({size_of(sum(file.size for file in changed))}), {run.run['bytes']} B read,"
        f" {run.wall_seconds:.2f} s",
        f"1 part, {len(BOOKS)} books, {size} B",
        is_right and run.run["bytes"] == size,
    )


def _stored(lake: Path) -> dict[str, StoredFile]:
    published = {
        os.fspath(path.relative_to(lake / "current"))
        for path in (lake / "current").rglob("*.parquet")
    }
    stored = {file.published_path(): file for file in Warehouse(lake).load().files}
    if published != stored.keys():
        raise SystemExit("the published tree is not what the commit says")
    return stored


def _name(file: StoredFile | None) -> str | None:
    return file.name if file else None


def _parts(stored: Mapping[str, StoredFile]) -> set[int]:
    return {file.part for file in stored.values() if file.part is not None}
