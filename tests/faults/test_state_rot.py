"""Bits that rot in a stored file of its right size: no command builds on them, or ends in a trace.

A query need not notice, for it reads what it needs; a deep check reads every byte.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from etl.cli import main
from etl.commit import Warehouse
from etl.tables import DERIVED
from tests.faults.tally import Tally
from tests.ruins import copy_of, stored
from tests.sessions import PROJECT, SESSION, append, assistant, run_sync, user, value, write_log
from tests.tampering import flip_a_bit, stored_path
from tests.test_restore import lines_of

SHARES = (0.5, 0.97)  # of what it holds, and of what tells how to read it
FINE, REFUSED_QUERY, REFUSED = 0, 2, 4
LOG = f"{PROJECT}/{SESSION}.jsonl"


@dataclass(frozen=True, slots=True)
class Place:
    """A warehouse, and its logs, which have news for it."""

    logs: Path
    lake: Path

    def cclake(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments, "--warehouse", str(self.lake)])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("whole")
    logs, lake = folder / "logs", folder / "lake"
    log = write_log(logs, [user("hi"), assistant(), b"oops\n"])
    other = [user("April", "p1", sessionId="p", timestamp="2026-04-01T08:00:00.000Z")]
    april = write_log(logs, other, f"{PROJECT}/p.jsonl")
    run_sync(logs, lake)
    (lake / "_store" / "last_run.json").unlink()  # So that the list of runs has to be read.
    append(log, user("on", "u2", 9))
    append(april, user("on", "p2", 9, sessionId="p"))
    return Place(logs, lake)


def told(result: Result, codes: set[int]) -> Iterator[str]:
    """Tell what is wrong with how a command ended."""
    if result.exception and not isinstance(result.exception, SystemExit):
        yield repr(result.exception)
    elif result.exit_code not in codes:
        yield f"exit code {result.exit_code}: {result.stderr}"
    elif result.exit_code and "cclake check" not in result.stderr:
        yield f"it does not say what to do: {result.stderr}"


def wrong_with_questions(place: Place, back: Path) -> Iterator[str]:
    for arguments in (
        ("status",),
        ("sessions",),
        ("prices", "explain", "msg_1"),
        ("forget", "--session", SESSION, "--dry-run"),
    ):
        yield from told(place.cclake(*arguments), {FINE, REFUSED})
    yield from told(place.cclake("query", "from turns"), {FINE, REFUSED_QUERY, REFUSED})
    restored = place.cclake("restore", SESSION, "--to", str(back))
    yield from told(restored, {FINE, REFUSED})
    if back.exists() and lines_of(back / LOG)[:3] != lines_of(place.logs / "projects" / LOG)[:3]:
        yield "another log was brought back"


def wrong_with_a_sync(place: Place, table: str, jobs: int) -> Iterator[str]:
    """What is derived is made anew from facts; on all else the next commit would stand."""
    is_derived = table in {one.name for one in DERIVED}
    options = ("--logs", str(place.logs), "--source", "laptop", "--jobs", str(jobs))
    ended = place.cclake("sync", *options)
    yield from told(ended, {FINE} if is_derived else {REFUSED})
    if Warehouse(place.lake).commit_numbers() != ([1, 2] if is_derived else [1]):
        yield "there is another commit than there should be"
    if is_derived and value(place.lake, "select sum(output_tokens)::bigint from usage") != 10:
        yield "the sync did not derive it anew"


def wrong_after(whole: Place, folder: Path, table: str, share: float, jobs: int = 1) -> list[str]:
    place = Place(whole.logs, copy_of(whole.lake, folder / f"{table}-{share}"))
    flip_a_bit(stored_path(place.lake, table), share)
    deep = place.cclake("check", "--deep")
    named = str(stored_path(place.lake, table)) in deep.stdout
    return [
        *([] if (deep.exit_code, named) == (REFUSED, True) else ["a deep check does not name it"]),
        *wrong_with_questions(place, folder / f"back-{table}-{share}"),
        *wrong_with_a_sync(place, table, jobs),
    ]


@pytest.mark.parametrize(
    ("table", "share"), [("source_files", 0.97), ("entries", 0.5), ("sync_runs", 0.97)]
)
def test_a_bit_that_rots_ends_in_words_and_is_not_built_on(
    whole: Place, table: str, share: float, tmp_path: Path, tally: Tally
) -> None:
    tally.injected += 1
    assert wrong_after(whole, tmp_path, table, share) == []


@pytest.mark.slow
def test_a_bit_that_rots_in_any_table_ends_in_words_and_is_not_built_on(
    whole: Place, tmp_path: Path, tally: Tally
) -> None:
    broken = {}
    for table in sorted({file.table for file in stored(whole.lake)}):
        for share in SHARES:
            tally.injected += 1
            if wrong := wrong_after(whole, tmp_path, table, share, jobs=2):
                broken[f"{table} at {share}"] = wrong
    tally.violations += len(broken)
    assert broken == {}
