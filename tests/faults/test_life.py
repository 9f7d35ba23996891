"""What can happen to a log between two syncs, each fault beside the others, in one warehouse.

Where each fault of a source is injected, by the rows of the matrix:

    truncated, rewritten, replaced (5 to 9)     here; with its time put back: test_life_of_a_log
    renamed, inode reused, copied (10 to 12)    here; what a copy may not count: test_copies
    linked, two roots, bind mount (13)          here, test_life_places
    times that lie, equal heads (14, 15)        here; any difference of a stat: test_resume
    appended to or cut while read (16, 17)      test_life_races
    torn last lines (18)                        here; cut at any byte: test_read, test_properties
    deleted, before, between, during (27)       here, test_life_races; its tail: test_life_of_a_log
    locked, no file, links, swaps (29 to 31)    test_life_places, test_life_races, test_discover
    odd names, deep, many, large (32, 33)       test_life_places, test_discover, test_hostile_sizes
    all of it in any order, with kills          test_model
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from etl.step import RunSummary
from tests.faults.coverage import flaws_of, ledger_of
from tests.faults.lives import Rows, events_of, log_of, project_of, prompts, texts_of
from tests.faults.tally import Tally
from tests.sessions import append, encoded, rows, run_sync, write_log

Act = Callable[[Path], Path | None]  # what happens to a log, and where it stands afterwards
Kept = Callable[[Path], Path]  # the same, where a log still stands

LONG = "x" * 70_000
ONE, TWO = [(0, "one")], [(0, "one"), (0, "two")]
AFTER = "after"
DAY_NS = 86_400_000_000_000


@dataclass(frozen=True, slots=True)
class Fault:
    act: Act
    events: tuple[str, ...] = ()
    rows: tuple[tuple[int, str], ...] = ()  # that came with the run behind the fault
    before: tuple[str | bytes, ...] = ("one", "two")
    more: tuple[str | bytes, ...] = (AFTER,)  # is appended then, and must be all that is new
    sources: int = 1
    is_answered: bool = True  # else its log begins with the first of `before`


def rewritten(*texts: str | bytes) -> Kept:
    """In place: the same inode has other bytes."""

    def act(log: Path) -> Path:
        log.write_bytes(encoded(log_of(log.parent.name, *texts)))
        return log

    return act


def replaced(*texts: str | bytes) -> Kept:
    """By a rename: another inode stands at the path."""

    def act(log: Path) -> Path:
        rewritten(*texts)(log.with_name("new"))
        return log.with_name("new").rename(log)

    return act


def truncated(size: int) -> Kept:
    def act(log: Path) -> Path:
        os.truncate(log, size)
        return log

    return act


def named(name: str) -> Kept:
    return lambda log: log.rename(log.with_name(name))


def in_another_folder(log: Path) -> Path:
    target = log.parents[1] / f"{log.parent.name}-elsewhere" / "renamed-too.jsonl"
    target.parent.mkdir()
    return log.rename(target)


def on_another_disk(log: Path) -> Path:
    """A move over the edge of a file system: a copy under the same name, and the original gone."""
    target = log.parents[1] / f"{log.parent.name}-elsewhere" / log.name
    target.parent.mkdir()
    shutil.copy(log, target)
    log.unlink()
    return target


def inode_reused(log: Path) -> Path:
    """To stat, a file deleted and another made on its inode is one rewritten and renamed."""
    rewritten("other", "file")(log)
    return log.rename(log.with_name("other.jsonl"))


def recreated(log: Path) -> Path:
    log.unlink()
    return rewritten("other")(log)


def folder_deleted(log: Path) -> None:
    shutil.rmtree(log.parent)


def copied(name: str) -> Kept:
    def act(log: Path) -> Path:
        shutil.copy(log, log.with_name(name))
        return log

    return act


def linked(name: str) -> Kept:
    def act(log: Path) -> Path:
        log.with_name(name).hardlink_to(log)
        return log

    return act


def grown(*, mtime_ns: int | None = None, days: int = 0) -> Kept:
    """A line more, with a time that is none."""

    def act(log: Path) -> Path:
        was = log.stat().st_mtime_ns
        append(log, *prompts(log.parent.name, "more"))
        os.utime(log, ns=(was, was + days * DAY_NS if mtime_ns is None else mtime_ns))
        return log

    return act


def with_a_twin(log: Path) -> Path:
    """Another session that says the same for more than 64 KiB."""
    twin = log.with_name("twin.jsonl")
    twin.write_bytes(log.read_bytes() + encoded(prompts(log.parent.name, "its own")))
    return log


def ended_with(more: bytes) -> Kept:
    def act(log: Path) -> Path:
        append(log, more)
        return log

    return act


def tail_replaced(log: Path) -> Path:
    """The writer came back after a crash, cut its torn line off and wrote another."""
    whole = log.read_bytes()
    kept = whole[: whole.rindex(b"\n") + 1]
    log.write_bytes(kept + encoded(prompts(log.parent.name, "instead")))
    return log


def left_alone(log: Path) -> Path:
    return log


AGAIN = ("rewritten",)
TORN = encoded(prompts("torn", "torn"))[:-30]
REST = encoded(prompts("torn", "torn"))[-30:]
SAME = "same file"

FAULTS: dict[str, Fault] = {
    "cut to nothing": Fault(truncated(0), AGAIN),
    "cut at a line": Fault(rewritten("one"), AGAIN, ((1, "one"),)),
    "cut in a line": Fault(truncated(20), AGAIN, more=(b"\n", AFTER)),
    "cut and grown": Fault(rewritten("other", LONG), AGAIN, ((1, "other"), (1, LONG))),
    "cut and grown, same head": Fault(
        rewritten("one", "2nd", LONG), AGAIN, ((1, "one"), (1, "2nd"), (1, LONG))
    ),
    "smaller": Fault(rewritten("1"), AGAIN, ((1, "1"),)),
    "larger": Fault(rewritten("first", "two"), AGAIN, ((1, "first"), (1, "two"))),
    "same size": Fault(rewritten("six", "two"), AGAIN, ((1, "six"), (1, "two"))),
    "replaced, same prefix": Fault(replaced("one", "two", "new"), (), ((0, "new"),)),
    "replaced by its copy": Fault(replaced("one", "two")),
    "replaced, other content": Fault(replaced("1", "two"), AGAIN, ((1, "1"), (1, "two"))),
    "renamed": Fault(named("renamed.jsonl"), ("moved",)),
    "set aside": Fault(named("s.jsonl.superseded-1"), ("moved",)),
    "renamed and moved": Fault(in_another_folder, ("moved",)),
    "moved to another disk": Fault(on_another_disk, ("moved",)),
    "renamed with a torn line alone": Fault(
        named("renamed.jsonl"), ("moved",), before=(TORN,), more=(REST,), is_answered=False
    ),
    "inode used again": Fault(inode_reused, ("gone",), ((0, "other"), (0, "file")), sources=2),
    "deleted and made anew": Fault(recreated, AGAIN, ((1, "other"),)),
    "deleted": Fault(folder_deleted, ("gone",)),
    "copied": Fault(copied("copy.jsonl"), (), tuple(TWO), sources=2),
    "copied aside": Fault(copied("s.jsonl.orphaned"), (), tuple(TWO), sources=2),
    "copied, superseded": Fault(copied("s.superseded.1.jsonl"), (), tuple(TWO), sources=2),
    "linked, sorted behind": Fault(linked("zzz.jsonl"), (SAME,)),
    "linked, sorted before": Fault(linked("000.jsonl"), (SAME, "moved")),
    "time backwards": Fault(grown(days=-400), (), ((0, "more"),)),
    "time stands still": Fault(grown(), (), ((0, "more"),)),
    "time in the future": Fault(grown(days=4000), (), ((0, "more"),)),
    "time before 1970": Fault(grown(mtime_ns=-DAY_NS), (), ((0, "more"),)),
    "same head for 64 KiB": Fault(
        with_a_twin, (), ((0, LONG), (0, "its own")), before=(LONG,), sources=2
    ),
    "torn line ends later": Fault(ended_with(REST), (), ((0, "torn"),), before=("one", TORN)),
    "torn line ends otherwise": Fault(tail_replaced, (), ((0, "instead"),), before=("one", TORN)),
    "torn line never ends": Fault(left_alone, before=("one", TORN), more=()),
}
PROJECTS = {name: project_of(number) for number, name in enumerate(FAULTS)}


@dataclass(frozen=True, slots=True)
class Scene:
    """All faults at once: the run behind them, the one after that, and one without news."""

    lake: Path
    runs: tuple[RunSummary, ...]
    texts: tuple[dict[str, Rows], ...]  # by project, before the faults and behind each run
    responses: dict[str, int]


def laid_out(logs: Path, name: str) -> Path:
    project, fault = PROJECTS[name], FAULTS[name]
    before = log_of(project, *fault.before)[not fault.is_answered :]
    return write_log(logs, before, f"{project}/s{project}.jsonl")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    logs = tmp_path_factory.mktemp("life")
    lake = logs / "lake"
    standing = {name: laid_out(logs, name) for name in FAULTS}
    run_sync(logs, lake)
    texts = [texts_of(lake)]
    logs_behind = {name: FAULTS[name].act(log) for name, log in standing.items()}
    behind = run_sync(logs, lake)
    texts.append(texts_of(lake))
    for name, log in logs_behind.items():
        if log:
            append(log, *prompts(PROJECTS[name], *FAULTS[name].more))
    after, idle = run_sync(logs, lake), run_sync(logs, lake)
    texts.append(texts_of(lake))
    responses = dict(rows(lake, "select right(message_id, 4), count(*) from usage group by all"))
    return Scene(lake, (behind, after, idle), tuple(texts), responses)


def expected_rows(fault: Fault) -> tuple[Rows, Rows, Rows]:
    """Return what a project's rows are before its fault, behind it and after that."""
    before = [(0, text) for text in fault.before if isinstance(text, str)]
    behind = [*before, *fault.rows]
    if "gone" in fault.events and fault.sources == 1:
        return before, behind, behind
    generation = int("rewritten" in fault.events)
    more = ["torn" if text == REST else text for text in fault.more if text != b"\n"]
    return before, behind, [*behind, *((generation, str(text)) for text in more)]


@pytest.mark.parametrize("name", FAULTS)
def test_whatever_happens_to_a_log_its_rows_stay_and_new_ones_come_once(
    name: str, scene: Scene, tally: Tally
) -> None:
    tally.injected += 1
    fault, project = FAULTS[name], PROJECTS[name]
    found = tuple(texts[project] for texts in scene.texts)
    assert found == tuple(map(sorted, expected_rows(fault)))
    told = events_of(scene.runs[0], project)
    assert [what[: len(known)] for what, known in zip(told, fault.events, strict=True)] == [
        *fault.events
    ]
    assert [what for what in events_of(scene.runs[1], project) if not what.startswith(SAME)] == []
    known = [row for row in ledger_of(scene.lake) if row.path.startswith(project)]
    assert len(known) == fault.sources
    assert scene.responses.get(project, 0) == fault.is_answered


def test_no_life_of_a_log_is_a_problem_or_leaves_a_byte_unaccounted(
    scene: Scene, tally: Tally
) -> None:
    flaws = list(flaws_of(scene.lake))
    tally.violations += len(flaws)
    assert flaws == []
    assert [run.problems for run in scene.runs] == [[], [], []]
    assert [run.exit_code() for run in scene.runs] == [0, 0, 0]
    assert [run.is_committed for run in scene.runs] == [True, True, False]
