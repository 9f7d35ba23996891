"""A power cut takes no acknowledged commit, on a real file system; without an fsync it would."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest

from etl import frames
from etl.commit import KEPT_SECONDS, Warehouse
from etl.errors import CclakeError
from tests.faults.disks import Disk, disk
from tests.faults.forked import FORKS
from tests.faults.looks import damaged_files, failing, what_readers_see
from tests.faults.mutants import MUTANTS, break_durability
from tests.faults.tally import Tally
from tests.sessions import SESSION, append, ask_everything, encoded, run_sync, user, write_log

CUTS = 25
CUTS_OF_A_MUTANT = 10
CUTS_A_LAKE = 5
LOGS = 3
LONGEST_WAIT_SECONDS = 30.0
FILE_SYSTEMS = ["ext4", "xfs"]
STORAGE_FAILED = 5

# ---- The process that is cut off, and the logs that grow meanwhile.


def keep_syncing(logs: Path, lake: Path, notes: Path, mutant: str) -> None:
    """Sync again and again; note each commit once it is acknowledged, until a fault ends it."""
    if mutant:
        break_durability(mutant)
    with notes.open("ab", buffering=0) as sink:
        while True:
            try:
                run = run_sync(logs, lake)
            except CclakeError as error:
                os._exit(error.exit_code)
            sink.write(b"%d\n" % run.commit)
            time.sleep(0.03)


@dataclass(slots=True)
class Growing:
    """Made-up logs, and the id of every line they hold."""

    folder: Path
    uuids: list[str] = field(default_factory=list)
    bytes: int = 0

    def grow(self, dice: random.Random) -> None:
        """Add lines to one of the logs, in two pieces."""
        session = f"{SESSION[:-1]}{dice.randrange(LOGS)}"
        log = self.folder / "projects" / "-kiln" / f"{session}.jsonl"
        if not log.exists():
            write_log(self.folder, [], f"-kiln/{session}.jsonl")
        fresh = [f"u{len(self.uuids) + number}" for number in range(dice.randint(1, 4))]
        lines = encoded(user("Go on", uuid, 1, sessionId=session) for uuid in fresh)
        at = dice.randrange(len(lines))
        append(log, lines[:at])
        append(log, lines[at:])
        self.uuids += fresh
        self.bytes += len(lines)


# ---- One cut, and what is there afterwards.


@dataclass(frozen=True, slots=True)
class Cut:
    """What one cut did to one warehouse."""

    acknowledged: int
    newest: int
    exit_code: int | None
    wrong: list[str]


def cut_off(made: Disk, lake: Path, logs: Growing, dice: random.Random, mutant: str = "") -> Cut:
    """Cut the power of a process that syncs, and look at what comes back."""
    notes = logs.folder / "acknowledged"
    process = FORKS.Process(target=keep_syncing, args=(logs.folder, lake, notes, mutant))
    process.start()
    try:
        # Some cuts come at any moment, the others in or right after a sync that comes later.
        if syncs := dice.randrange(4):
            grow_until(lambda: noted(notes)[1] >= syncs, LONGEST_WAIT_SECONDS, logs, dice)
        later = dice.choice([0, dice.uniform(0, 0.3)]) if syncs else dice.uniform(0, 1.5)
        grow_until(lambda: False, later, logs, dice)
        made.cut()
        process.join(10)
    finally:
        process.kill()
        process.join()
    acknowledged = noted(notes)[0]
    notes.unlink(missing_ok=True)
    made.come_back()
    newest = max(Warehouse(lake).commit_numbers(), default=0)
    wrong = list(wrong_after_a_cut(Warehouse(lake), logs, acknowledged))
    return Cut(acknowledged, newest, process.exitcode, wrong)


def noted(notes: Path) -> tuple[int, int]:
    """Return the newest commit that was acknowledged, and how many syncs were."""
    numbers = [int(line) for line in notes.read_text().split()] if notes.exists() else []
    return max(numbers, default=0), len(numbers)


def grow_until(
    is_time: Callable[[], bool], longest_seconds: float, logs: Growing, dice: random.Random
) -> None:
    ends = time.monotonic() + longest_seconds
    while time.monotonic() < ends and not is_time():
        logs.grow(dice)
        time.sleep(dice.uniform(0, 0.03))


def wrong_after_a_cut(lake: Warehouse, logs: Growing, acknowledged: int) -> Iterator[str]:
    newest = max(lake.commit_numbers(), default=0)
    if newest < acknowledged:
        yield f"commit {acknowledged} was acknowledged and {newest} is the newest"
    yield from failing(lambda: damaged_files(lake))
    if newest:
        yield from failing(lambda: wrong_for_readers(lake, logs, acknowledged))
    yield from failing(lambda: wrong_after_the_next_sync(lake, logs))


def wrong_for_readers(lake: Warehouse, logs: Growing, acknowledged: int) -> Iterator[str]:
    shown = lake.snapshot()
    if shown is None or int(shown.name) < acknowledged:
        yield f"readers see {shown}, and commit {acknowledged} was acknowledged"
    seen, speaking = what_readers_see(lake, "every_byte_is_accounted_for", "every_row_has_its_file")
    if len(seen) != len(set(seen)) or not set(seen) <= set(logs.uuids):
        yield "readers see lines twice, or lines that nobody wrote"
    yield from speaking


def wrong_after_the_next_sync(lake: Warehouse, logs: Growing) -> Iterator[str]:
    code = run_sync(logs.folder, lake.folder).exit_code()
    if code:
        yield f"the next sync exited with {code}"
    seen, speaking = what_readers_see(lake)
    if sorted(seen) != sorted(logs.uuids):
        yield "the next sync did not give every line exactly once"
    yield from speaking
    with closing(duckdb.connect(lake.folder / "cclake.duckdb", read_only=True)) as con:
        if con.execute("select count(*) from entries").fetchall() != [(len(logs.uuids),)]:
            yield "cclake.duckdb counts other lines"


def bytes_in(lake: Path) -> int:
    sql = 'select coalesce(sum("offset"), 0)::bigint from source_files'
    return int(frames.query(sql, warehouse=lake).item())


def make_older(lake: Path) -> None:
    """Let the commits be past the time for which they are kept."""
    for commit in Warehouse(lake).commits.iterdir():
        when = commit.stat().st_mtime - 2 * KEPT_SECONDS
        os.utime(commit, (when, when))


def cuts_on(made: Disk, folder: Path, seed: int, cuts: int, mutant: str = "") -> Iterator[Cut]:
    """Cut a warehouse off several times, then go on with a new one."""
    dice = random.Random(seed)  # noqa: S311 - moments, not secrets
    logs = Growing(folder / "logs")
    logs.grow(dice)
    for number in range(cuts):
        lake = made.top / f"lake-{number // CUTS_A_LAKE}"
        yield cut_off(made, lake, logs, dice, mutant)
        make_older(lake)


def count(tally: Tally, cut: Cut) -> None:
    tally.injected += 1
    tally.ended += cut.exit_code == STORAGE_FAILED
    tally.violations += len(cut.wrong)
    tally.commits_lost += max(0, cut.acknowledged - cut.newest)


@pytest.mark.parametrize(
    ("kind", "cuts"),
    [
        ("ext4", 1),
        pytest.param("ext4", CUTS, marks=pytest.mark.slow),
        pytest.param("xfs", CUTS, marks=pytest.mark.slow),
    ],
)
def test_a_power_cut_takes_no_commit_that_was_acknowledged(
    kind: str, cuts: int, tmp_path: Path, tally: Tally
) -> None:
    with disk(kind) as made:
        found = list(cuts_on(made, tmp_path, seed=cuts, cuts=cuts))
        for cut in found:
            count(tally, cut)
        lake = made.top / f"lake-{(cuts - 1) // CUTS_A_LAKE}"
        logs = tmp_path / "logs" / "projects"
        written = sum(path.stat().st_size for path in logs.rglob("*.jsonl"))
        tally.bytes_unaccounted += abs(written - bytes_in(lake))
        assert cuts == 1 or ask_everything(lake) == []
    assert [cut for cut in found if cut.wrong] == []
    assert {cut.exit_code for cut in found} <= {STORAGE_FAILED, -signal.SIGKILL}
    assert tally.bytes_unaccounted == 0


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_a_cut_finds_out_a_sync_that_leaves_out_an_fsync(
    kind: str, mutant: str, tmp_path: Path, tally: Tally
) -> None:
    tally.mutants_planted += 1
    with disk(kind) as made:
        for number, cut in enumerate(cuts_on(made, tmp_path, 7, CUTS_OF_A_MUTANT, mutant), 1):
            tally.injected += 1
            if cut.wrong:
                tally.mutants_caught += 1
                print(f"{MUTANTS[mutant]} on {kind}, cut {number}: {cut.wrong[0]}")  # noqa: T201
                return
    pytest.fail(f"{MUTANTS[mutant]} on {kind}: {CUTS_OF_A_MUTANT} cuts showed nothing")


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_a_cut_leaves_no_empty_database_of_views_that_a_mark_vouches_for(
    kind: str, tmp_path: Path, tally: Tally
) -> None:
    logs = Growing(tmp_path / "logs")
    logs.grow(random.Random(1))  # noqa: S311 - which log, not a secret
    with disk(kind) as made:
        lake = Warehouse(made.top / "lake")
        run_sync(logs.folder, lake.folder)
        # As when the kernel gets round to this file first.
        with (lake.store / "views").open("rb") as mark:
            os.fsync(mark.fileno())
        made.cut()
        tally.injected += 1
        made.come_back()
        assert failing(lambda: wrong_after_the_next_sync(lake, logs)) == []
