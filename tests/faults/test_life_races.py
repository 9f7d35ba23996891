"""What can happen to a log while it is looked for, opened and read, and the run that mends it.

A fault is injected at a call to the system: just before the log is opened, or between two reads.
Nothing is read that was not found, and nothing is read half.
"""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from etl.step import RunSummary
from tests.faults.coverage import flaws_of, ledger_of
from tests.faults.lives import Rows, events_of, log_of, problems_of, project_of, prompts, texts_of
from tests.faults.tally import Tally
from tests.sessions import append, encoded, run_sync, user, write_log

Act = Callable[[Path], object]
OPEN = 0  # before it is opened; n: before its n-th read; -n: behind that
PREFIX, NEW, BEHIND = 1, 2, -2


def cut(log: Path) -> None:
    os.truncate(log, 20)


def put_another_there(log: Path) -> None:
    new = log.with_name("new")
    new.write_bytes(encoded(prompts(log.parent.name, "another")))
    new.rename(log)


def write_outside(log: Path) -> Path:
    """Write a file that is no log of ours, and that bears a log's name."""
    outside = log.parents[2] / "outside" / log.parent.name / log.name
    outside.parent.mkdir(parents=True)
    outside.write_bytes(encoded(prompts(log.parent.name, "the keys to the kiln")))
    return outside


def put_a_link_there(log: Path) -> None:
    log.unlink()
    log.symlink_to(write_outside(log))


def put_a_link_above(log: Path) -> None:
    log.parent.rename(log.parents[2] / f"away{log.parent.name}")
    log.parent.symlink_to(write_outside(log).parent)


def put_a_pipe_there(log: Path) -> None:
    log.unlink()
    os.mkfifo(log)


def delete(log: Path) -> None:
    log.unlink()


def delete_folder(log: Path) -> None:
    shutil.rmtree(log.parent)


def rename(log: Path) -> None:
    log.rename(log.with_name("renamed.jsonl"))


@dataclass(frozen=True, slots=True)
class Race:
    act: Act
    when: int = OPEN
    is_new: bool = False
    told: str = "torn"
    told_next: tuple[str, ...] = ("gone",)
    is_problem: bool = False
    is_read: bool = False
    new_next: tuple[str, ...] = ()


AGAIN = ("rewritten",)
NO_FILE = "cannot read: No such file or directory"
LINK = "cannot read: Too many levels of symbolic links"
PIPE = "cannot read: not a regular file"
NOT_TAKEN = ("skipped: not a regular file", "gone")

RACES: dict[str, Race] = {
    "another, known": Race(put_another_there, told_next=AGAIN, new_next=("another",)),
    "another, new": Race(put_another_there, is_new=True, told_next=(), new_next=("another",)),
    "link, known": Race(put_a_link_there, told=LINK, is_problem=True, told_next=NOT_TAKEN),
    "link, new": Race(
        put_a_link_there, is_new=True, told=LINK, is_problem=True, told_next=NOT_TAKEN
    ),
    "pipe, known": Race(put_a_pipe_there, told=PIPE, is_problem=True, told_next=NOT_TAKEN),
    "pipe, new": Race(
        put_a_pipe_there, is_new=True, told=PIPE, is_problem=True, told_next=NOT_TAKEN
    ),
    "link above, known": Race(put_a_link_above, told_next=("skipped: a link to a folder", "gone")),
    "link above, new": Race(
        put_a_link_above, is_new=True, told_next=("skipped: a link to a folder", "gone")
    ),
    "deleted, known": Race(delete, told=NO_FILE, is_problem=True),
    "deleted, new": Race(delete, is_new=True, told=NO_FILE, is_problem=True),
    "folder deleted": Race(delete_folder, told=NO_FILE, is_problem=True),
    "cut at the prefix": Race(cut, PREFIX, told_next=AGAIN),
    "cut at the new": Race(cut, NEW, told_next=AGAIN),
    "cut behind it": Race(cut, BEHIND, told_next=AGAIN),
    "cut, new": Race(cut, 3, is_new=True, told_next=()),  # Two reads were for its head.
    "replaced at the prefix": Race(
        put_another_there, PREFIX, told_next=AGAIN, new_next=("another",)
    ),
    "replaced at the new": Race(put_another_there, NEW, told_next=AGAIN, new_next=("another",)),
    "replaced behind it": Race(put_another_there, BEHIND, told_next=AGAIN, new_next=("another",)),
}
# A part is read anew when one of its logs tears, and then a log that went is no longer there.
DEPARTURES: dict[str, Race] = {
    "deleted at the new": Race(delete, NEW, told="", is_read=True),
    "deleted at the prefix": Race(delete, PREFIX, told="", is_read=True),
    "folder deleted at the new": Race(delete_folder, NEW, told="", is_read=True),
    "renamed at the new": Race(rename, NEW, told="", told_next=("moved",), is_read=True),
    "renamed behind it": Race(rename, BEHIND, told="", told_next=("moved",), is_read=True),
}
ALL = RACES | DEPARTURES


@dataclass(frozen=True, slots=True)
class Scene:
    """One sync with every race in it, the one after, and one without news."""

    lake: Path
    runs: tuple[RunSummary, ...]
    texts: tuple[dict[str, Rows], ...]
    flaws: list[str]


@contextmanager
def faults_at(races: dict[Path, Race]) -> Iterator[None]:
    """Act once on each log, at the call of which its race says."""
    opened, read = os.open, os.pread
    at_open = {str(log): race for log, race in races.items() if race.when == OPEN}
    at_read = {log.stat().st_ino: (log, race) for log, race in races.items() if race.when != OPEN}
    counts = dict.fromkeys(at_read, 0)

    def opening(path: Any, flags: int, *mode: int, **more: Any) -> int:  # noqa: ANN401 - as os.open
        if race := at_open.pop(str(path), None):
            race.act(Path(path))
        return opened(path, flags, *mode, **more)

    def reading(descriptor: int, length: int, offset: int) -> bytes:
        inode = os.fstat(descriptor).st_ino
        log, race = at_read.get(inode, (None, None))
        counts[inode] = count = counts.get(inode, 0) + 1
        if log and race and race.when == count:
            race.act(log)
        block = read(descriptor, length, offset)
        if log and race and race.when == -count:
            race.act(log)
        return block

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", opening)
        patch.setattr(os, "pread", reading)
        yield


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scene]:
    """The scene of each race."""
    torn = play(RACES, tmp_path_factory.mktemp("torn"))
    return dict.fromkeys(RACES, torn) | dict.fromkeys(
        DEPARTURES, play(DEPARTURES, tmp_path_factory.mktemp("departed"))
    )


def play(races: dict[str, Race], logs: Path) -> Scene:
    lake = logs / "lake"
    laid_out = {log_path(logs, name): race for name, race in races.items()}
    for log, race in laid_out.items():
        log.parent.mkdir(parents=True)
        if not race.is_new:
            append(log, *log_of(log.parent.name, "one"))
    run_sync(logs, lake)
    for log, race in laid_out.items():
        first = log_of if race.is_new else prompts
        append(log, *first(log.parent.name, "new"))
    with faults_at(laid_out):
        runs = [run_sync(logs, lake)]
    texts = [texts_of(lake)]
    runs += [run_sync(logs, lake), run_sync(logs, lake)]
    texts.append(texts_of(lake))
    return Scene(lake, tuple(runs), tuple(texts), list(flaws_of(lake)))


def log_path(logs: Path, name: str) -> Path:
    project = project_of([*ALL].index(name))
    return logs / "projects" / project / f"s{project}.jsonl"


def told_of(run: RunSummary, name: str) -> list[str]:
    project = project_of([*ALL].index(name))
    return [*problems_of(run, project), *events_of(run, project)]


@pytest.mark.parametrize("name", ALL)
def test_only_what_was_found_is_read_and_only_whole_and_the_next_run_mends_it(
    name: str, scenes: dict[str, Scene], tally: Tally
) -> None:
    tally.injected += 1
    race, scene, project = ALL[name], scenes[name], project_of([*ALL].index(name))
    then = [(0, "one")] * (not race.is_new) + [(0, "new")] * race.is_read
    generation = int("rewritten" in race.told_next)
    later = [*then, *((generation, text) for text in race.new_next)]
    assert [sorted(texts[project]) for texts in scene.texts] == [sorted(then), sorted(later)]
    assert told_of(scene.runs[0], name) == ([race.told] if race.told else [])
    assert bool(problems_of(scene.runs[0], project)) == race.is_problem
    assert told_of(scene.runs[1], name) == [*race.told_next]


def test_no_race_leaves_a_byte_unaccounted_and_problems_alone_make_exit_1(
    scenes: dict[str, Scene], tally: Tally
) -> None:
    torn, departed = scenes["cut, new"], scenes["renamed behind it"]
    tally.violations += len(torn.flaws) + len(departed.flaws)
    assert (torn.flaws, departed.flaws) == ([], [])
    assert [run.exit_code() for run in torn.runs] == [
        1,
        1,
        1,
    ]  # Links and pipes are told each time.
    assert [run.exit_code() for run in departed.runs] == [0, 0, 0]
    assert [run.is_committed for run in torn.runs] == [True, True, False]
    assert [run.is_committed for run in departed.runs] == [True, True, False]


# ---- Many writers.


def test_lines_that_many_writers_add_in_torn_pieces_are_each_read_once(
    logs: Path, lake: Path, tally: Tally
) -> None:
    projects = [project_of(number) for number in range(3)]
    paths = [write_log(logs, [], f"{project}/s{project}.jsonl") for project in projects]
    stop = threading.Event()
    written: dict[str, list[str]] = {project: [] for project in projects}

    def write(log: Path) -> None:
        dice = Random(log.name)  # noqa: S311 - where lines tear, not secrets
        texts = written[log.parent.name]
        with log.open("ab", buffering=0) as sink:
            while not stop.is_set() and len(texts) < 400:
                text = f"{len(texts):03d} é"
                line = encoded([user(text, f"{log.name} {text}")])
                while line:
                    size = dice.randint(1, len(line))
                    sink.write(line[:size])
                    line = line[size:]
                    stop.wait(0.0005)
                texts.append(text)

    writers = [threading.Thread(target=write, args=[path]) for path in paths]
    for writer in writers:
        writer.start()
    try:
        for _ in range(2):
            tally.injected += 1
            assert run_sync(logs, lake).exit_code() == 0
            assert list(flaws_of(lake)) == []
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    run_sync(logs, lake)
    assert texts_of(lake) == {
        name: [(0, text) for text in texts] for name, texts in written.items()
    }
    assert {row.generation for row in ledger_of(lake)} == {0}
    assert list(flaws_of(lake)) == []
