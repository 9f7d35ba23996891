"""A run that is told to stop ends at once, says what is safe, and leaves nobody behind."""

import multiprocessing
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from etl import stopping
from etl.cli import main
from etl.commit import Warehouse
from etl.demo import write_tree
from tests.benchmarks import processes
from tests.benchmarks.pictures import differences, picture_of
from tests.faults.forked import at_each_step, steps_of, struck_steps
from tests.faults.scenes import (
    LINES,
    Scene,
    first_sync,
    later_sync,
    leftovers,
    published_tables,
)
from tests.faults.strikes import sync_options
from tests.sessions import append, run_sync, user, write_log
from tests.test_workers import is_alive

PATIENCE_SECONDS = 30
RANDOM_STOPS = 12
SIGNAL_NAMES = sorted(one.name for one in stopping.SIGNALS)
NOTHING = "cclake: stopped by {}; nothing was committed\n"

# Each run is a process of its own, forked from one that has the imports behind it.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.test_stopping"])

Act = Callable[[str], None]
Ended = tuple[int | None, str]


def told(target: Callable[..., None], words: Path, *arguments: object) -> Ended:
    """Run something in a process that leads a group of its own; return its end and its words."""
    process = FORKS.Process(target=in_a_group, args=(target, words, *arguments))
    process.start()
    process.join(PATIENCE_SECONDS)
    try:
        assert process.exitcode is not None, f"it did not stop: {words.read_text()}"
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid or 0, 0)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
    return process.exitcode, words.read_text()


def in_a_group(target: Callable[..., None], words: Path, *arguments: object) -> None:
    os.setsid()
    with words.open("wb") as sink:
        os.dup2(sink.fileno(), 2)
    for one in stopping.SIGNALS:  # Whoever runs the tests may ignore some.
        signal.signal(one, signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL)
    target(*arguments)


def sync(logs: Path, lake: Path, jobs: int = 1) -> None:
    main([*sync_options(logs, lake), "--jobs", str(jobs)])


def sync_told_at(step: int, name: str, logs: Path, lake: Path) -> None:
    """Sync, and be told by a signal just before the step of that number."""
    left = step

    def tell(_: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.Signals[name])

    at_each_step(lake, tell)
    sync(logs, lake)


def sync_told_before(step: str, name: str, logs: Path, lake: Path) -> None:
    """Sync, and be told by a signal just before the first step that is called so."""
    is_told = False

    def tell(called: str) -> None:
        nonlocal is_told
        if called.startswith(step) and not is_told:
            is_told = True
            os.kill(os.getpid(), signal.Signals[name])

    at_each_step(lake, tell)
    sync(logs, lake)


def sync_told_after_a_commit_of_its_own(logs: Path, lake: Path) -> None:
    """Sync on other terms, which is a commit before the sync's, and be told once that is shown."""
    is_shown = False

    def tell(called: str) -> None:
        nonlocal is_shown
        if is_shown and called.startswith("os.rename _store/files/"):
            os.kill(os.getpid(), signal.SIGTERM)
        is_shown = is_shown or "last_run.json" in called

    at_each_step(lake, tell)
    main([*sync_options(logs, lake), "--content", "metrics"])


def sync_told_between_link_and_fsync(logs: Path, lake: Path) -> None:
    commits = str(Warehouse(lake).commits)
    is_linked = False

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal is_linked
        if event == "os.link" and str(arguments[1]).startswith(commits):
            is_linked = True
        if is_linked and event == "open" and str(arguments[0]) == commits:
            os.kill(os.getpid(), signal.SIGTERM)

    sys.addaudithook(hook)
    sync(logs, lake)


def sync_told_while_workers_work(name: str, logs: Path, lake: Path, notes: Path) -> None:
    """Sync with two workers that never end by themselves, and tell the group once both work."""
    at_each_step(lake, in_workers(lambda: work_for_ever(notes)))

    def tell() -> None:
        while len(list(notes.iterdir())) < 2:
            time.sleep(0.01)
        os.killpg(os.getpgrp(), signal.Signals[name])

    threading.Thread(target=tell, daemon=True).start()
    sync(logs, lake, jobs=2)


def sync_with_a_worker_that_is_killed(logs: Path, lake: Path, notes: Path) -> None:
    """Sync with two workers: the first at work goes on for ever, the other is killed."""

    def be_first_or_die() -> None:
        try:
            (notes / "first").mkdir()
        except FileExistsError:
            os.kill(os.getpid(), signal.SIGKILL)
        work_for_ever(notes)

    at_each_step(lake, in_workers(be_first_or_die))
    sync(logs, lake, jobs=2)


def in_workers(act: Callable[[], None]) -> Act:
    run = os.getpid()
    return lambda _: None if os.getpid() == run else act()


def work_for_ever(notes: Path) -> None:
    (notes / str(os.getpid())).mkdir(exist_ok=True)
    time.sleep(10 * PATIENCE_SECONDS)


def endless_query(lake: Path) -> None:
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    endless = "select sum(a.range) from range(1000000) a, range(1000000) b, range(1000000) c"
    main(["query", endless, "--warehouse", str(lake)])


def sync_that_ignores_it(logs: Path, lake: Path) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    sync_told_before("open _store/staging/", "SIGHUP", logs, lake)


# ---- One process.


def wrong_after_a_stop(ended: Ended, lake: Path, scene: Scene, name: str) -> list[str]:
    """Hold the words and the exit code against what is there."""
    exit_code, words = ended
    number = max(Warehouse(lake).commit_numbers(), default=0)
    is_committed = published_tables(lake) == scene.after
    safe = f"cclake: stopped by {name}; commit {number} is safe\n"
    wrong = []
    if exit_code != (1 if is_committed else 5):
        wrong.append(f"exit code {exit_code}")
    if not (words.endswith(safe) if is_committed else words == NOTHING.format(name)):
        wrong.append(words)
    if not is_committed and published_tables(lake) != scene.before:
        wrong.append("readers saw half a snapshot")
    run_sync(scene.logs, lake)  # Which the lock would refuse.
    if published_tables(lake) != scene.after or leftovers(Warehouse(lake)):
        wrong.append("the next run did not heal it")
    return wrong


def stopped_at_steps(scene: Scene, folder: Path, numbers: list[int]) -> dict[str, list[str]]:
    lake, words = folder / "lake", folder / "words"
    steps = steps_of(scene, lake)
    broken = {}
    for turn, step in enumerate(numbers):
        scene.reset(lake)
        name = SIGNAL_NAMES[turn % len(SIGNAL_NAMES)]
        ended = told(sync_told_at, words, step, name, scene.logs, lake)
        if wrong := wrong_after_a_stop(ended, lake, scene, name):
            broken[f"{step}: {steps[step - 1]}"] = wrong
    return broken


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A warehouse of one commit, whose log has grown."""
    folder = tmp_path_factory.mktemp("stopping")
    logs, lake = folder / "logs", folder / "lake"
    log = write_log(logs, LINES[:1])
    run_sync(logs, lake)
    start = Path(shutil.copytree(lake, folder / "start", symlinks=True))
    append(log, *LINES[1:])
    run_sync(logs, lake)
    return Scene(logs, start, published_tables(start), published_tables(lake))


MOMENTS = {
    "open _store/staging/": 5,
    "open _store/staging/commit-": 5,
    "os.link _store/commits/": 1,
}


@pytest.mark.parametrize(("step", "name"), [*zip(MOMENTS, SIGNAL_NAMES, strict=True)])
def test_a_stop_before_the_commit_commits_nothing_and_after_it_the_commit_is_safe(
    step: str, name: str, scene: Scene, lake: Path, tmp_path: Path
) -> None:
    scene.reset(lake)
    ended = told(sync_told_before, tmp_path / "words", step, name, scene.logs, lake)
    assert ended[0] == MOMENTS[step]
    assert wrong_after_a_stop(ended, lake, scene, name) == []


def test_a_stop_between_the_commit_and_its_fsync_waits_for_the_fsync(
    scene: Scene, lake: Path, tmp_path: Path
) -> None:
    scene.reset(lake)
    ended = told(sync_told_between_link_and_fsync, tmp_path / "words", scene.logs, lake)
    assert ended[0] == 1
    assert wrong_after_a_stop(ended, lake, scene, "SIGTERM") == []


def test_a_stop_after_new_terms_were_committed_is_at_once_and_says_that_they_are_safe(
    scene: Scene, lake: Path, tmp_path: Path
) -> None:
    scene.reset(lake)
    ended = told(sync_told_after_a_commit_of_its_own, tmp_path / "words", scene.logs, lake)
    assert ended == (1, "cclake: stopped by SIGTERM; commit 2 is safe\n")
    assert Warehouse(lake).commit_numbers() == [2]
    assert run_sync(scene.logs, lake).commit == 3


@pytest.mark.slow
@pytest.mark.parametrize("make_scene", [first_sync, later_sync])
def test_a_stop_at_any_step_is_told_truly_and_healed_by_the_next_run(
    make_scene: Callable[[Path], Scene], tmp_path: Path
) -> None:
    scene = make_scene(tmp_path)
    steps = steps_of(scene, tmp_path / "lake")
    numbers = list(struck_steps(steps, is_first_sync=scene.start is None))
    assert stopped_at_steps(scene, tmp_path, numbers) == {}


def test_a_signal_that_is_ignored_stays_ignored(scene: Scene, lake: Path, tmp_path: Path) -> None:
    scene.reset(lake)
    exit_code, words = told(sync_that_ignores_it, tmp_path / "words", scene.logs, lake)
    assert (exit_code, "stopped" in words) == (0, False)
    assert published_tables(lake) == scene.after


def test_an_interrupted_query_ends_as_any_tool_without_a_word(
    scene: Scene, lake: Path, tmp_path: Path
) -> None:
    scene.reset(lake)
    assert told(endless_query, tmp_path / "words", lake) == (-signal.SIGINT, "")


def test_handlers_are_put_back_after_a_run() -> None:
    before = {one: signal.getsignal(one) for one in stopping.SIGNALS}
    with stopping.listening():
        assert {one: signal.getsignal(one) for one in stopping.SIGNALS} != before
    assert {one: signal.getsignal(one) for one in stopping.SIGNALS} == before


def test_a_thread_may_sync_though_only_the_main_one_is_told() -> None:
    ended = []

    def listen() -> None:
        with stopping.listening():
            ended.append("as usual")

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert ended == ["as usual"]


# ---- With workers.


@pytest.fixture
def two_parts(logs: Path) -> Path:
    """Sessions of two months, which lie in two parts, so that two workers are at work."""
    for month in ("03", "04"):
        line = user("Count", f"u{month}", timestamp=f"2026-{month}-01T08:00:00.000Z")
        write_log(logs, [line | {"sessionId": month}], f"-home-ada-kiln/{month}.jsonl")
    return logs


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_stop_ends_workers_in_the_middle_of_their_parts_and_is_told_once(
    name: str, two_parts: Path, lake: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    started = time.monotonic()
    ended = told(sync_told_while_workers_work, tmp_path / "words", name, two_parts, lake, notes)
    assert time.monotonic() - started < PATIENCE_SECONDS
    assert ended == (5, NOTHING.format(name))
    workers = [int(note.name) for note in notes.iterdir()]
    assert [is_alive(pid) for pid in workers] == [False, False]
    assert Warehouse(lake).commit_numbers() == []
    assert run_sync(two_parts, lake).entries == 2
    assert leftovers(Warehouse(lake)) == []


def test_a_killed_worker_ends_the_others_commits_nothing_and_the_next_run_heals(
    two_parts: Path, lake: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    exit_code, words = told(
        sync_with_a_worker_that_is_killed, tmp_path / "words", two_parts, lake, notes
    )
    assert exit_code == 5
    assert words.splitlines() == [
        "cclake: a worker process was killed, perhaps for want of memory",
        "hint: nothing was committed; run again, with --jobs 1 to need less memory",
    ]
    assert Warehouse(lake).commit_numbers() == []
    assert run_sync(two_parts, lake).entries == 2
    assert leftovers(Warehouse(lake)) == []


@pytest.mark.slow
def test_syncs_told_to_stop_at_random_moments_say_the_truth_and_heal(tmp_path: Path) -> None:
    logs, clean, lake = tmp_path / "logs", tmp_path / "clean", tmp_path / "lake"
    write_tree(logs, megabytes=8, seed=2)
    usual = processes.sync(logs, clean, jobs=2)
    assert usual.exit_code == 0
    dice = random.Random(7)  # noqa: S311 - moments, not secrets
    codes = []
    for number in range(RANDOM_STOPS):
        shutil.rmtree(lake, ignore_errors=True)
        share = 0.3 + 0.8 * (number + dice.random()) / RANDOM_STOPS
        name = dice.choice(SIGNAL_NAMES)
        code, words = stopped_after(usual.wall_seconds * share, name, logs, lake)
        numbers = Warehouse(lake).commit_numbers()
        assert "Traceback" not in words
        expected = {5: NOTHING.format(name), 1: f"stopped by {name}; commit 1 is safe\n"}
        assert words.endswith(expected.get(code, "")), words
        # One that was told before it could listen is killed, which is as good.
        assert {5: [], 1: [1], 0: [1], -signal.Signals[name]: []}[code] == numbers
        codes.append(code)
        run_sync(logs, lake, source=processes.SOURCE)
        assert differences(picture_of(lake), picture_of(clean)) == []
        assert leftovers(Warehouse(lake)) == []
    assert 5 in codes


def stopped_after(seconds: float, name: str, logs: Path, lake: Path) -> tuple[int, str]:
    """Start a sync and tell its whole group after a while; nobody of it is left afterwards."""
    process = processes.start(logs, lake, jobs=2)
    try:
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.Signals[name])
        _, words = process.communicate(timeout=PATIENCE_SECONDS)
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    finally:
        processes.strike_group(process)
    return process.returncode, words.decode()
