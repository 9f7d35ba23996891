"""`cclake repair`: whatever is damaged, nothing else is lost, and a deep check is content."""

import json
import os
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner

from etl import check as proof
from etl.cli import main
from etl.commit import Warehouse
from etl.errors import BusyError, StateError
from etl.forget import find, forget
from etl.omit import Wish
from tests.faults.forked import at_each_step, exit_code_of
from tests.meanwhile import refuse_links_of_trees
from tests.ruins import APRIL, Ruin, document, errors, files_of, mend
from tests.sessions import run_sync, value
from tests.tampering import flip_a_bit, with_changed, without_files
from tests.test_terms import old_warehouse
from tests.trees import MAINS

FACTS = ("entries", "content_blocks", "rejects", "sidecars")
DERIVED = ("messages", "usage", "tool_calls", "agents", "compactions")
AROUND = ("prompt_history", "session_index", "daily_stats")
PRICES = ("rate_cards", "model_names")
KINDS = "select string_agg(kind, ' ' order by started_at) from sync_runs"


def test_a_sound_warehouse_has_nothing_to_repair(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    report = mend(lake, ruin.laptop)
    assert (report.wrong, report.exit_code(), report.runs) == ([], 0, [])
    assert Warehouse(lake).commit_numbers() == [1, 2, 3, 4]


def test_damage_to_many_tables_at_once_is_mended_from_the_logs(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    paths = [files_of(lake, table)[0] for table in (*FACTS, *DERIVED, *AROUND, *PRICES)]
    for path in paths:
        flip_a_bit(path)
    report = mend(lake, ruin.laptop)
    assert {where.split()[0] for where, _ in report.wrong} >= set(map(str, paths))
    assert report.again
    assert ruin.differences(lake) == {}
    assert (report.lost, report.exit_code()) == ([], 0)
    assert value(lake, KINDS) == "sync sync sync sync repair sync"
    kept = {path.name for path in Warehouse(lake).damaged.iterdir()}
    assert kept >= {path.name for path in paths}
    assert Warehouse(lake).damaged.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("table", [*FACTS, *DERIVED, *AROUND, *PRICES])
def test_damage_to_any_table_is_mended_from_the_logs(
    ruin: Ruin, tmp_path: Path, table: str, which: int
) -> None:
    lake = ruin.anew(tmp_path)
    flip_a_bit(files_of(lake, table)[which])
    report = mend(lake, ruin.laptop)
    assert ruin.differences(lake) == {}
    assert report.lost == []


@pytest.mark.slow
def test_a_log_that_is_gone_loses_only_what_the_damaged_file_held(
    ruin: Ruin, tmp_path: Path
) -> None:
    lake, log = ruin.anew(tmp_path), ruin.log(MAINS[1])
    files_of(lake, "entries")[1].write_bytes(b"")
    with ruin.gone(log):
        report = mend(lake, ruin.laptop)
        told = ruin.differences(lake)
    (loss,) = report.lost
    assert (loss.path, loss.lines, report.exit_code()) == (str(log), 3, 1)
    held = "select sum(byte_end - byte_start)::bigint from rejects where reason = 'lost'"
    assert value(lake, held) == loss.bytes + 1  # A blank line is in a gap, too.
    assert (told["entries"], told["content_blocks"]) == ((2, 0), (2, 0))
    assert told["rejects"] == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("table", FACTS)
def test_with_all_logs_gone_only_the_damaged_table_loses(
    ruin: Ruin, tmp_path: Path, table: str
) -> None:
    lake = ruin.anew(tmp_path)
    for path in files_of(lake, table):
        flip_a_bit(path)
    with ruin.gone(ruin.laptop, ruin.phone):
        report = mend(lake)
        told = ruin.differences(lake)
    assert report.lost
    assert report.runs == []
    depends = {"entries": {"content_blocks", "rejects"}, "rejects": {"rejects"}}
    intact = {*FACTS, *AROUND, *PRICES} - {table} - depends.get(table, set())
    assert intact.isdisjoint(told)


@pytest.mark.slow
def test_words_that_are_lost_leave_their_lines(ruin: Ruin, tmp_path: Path) -> None:
    lake, log = ruin.anew(tmp_path), ruin.log(MAINS[1])
    flip_a_bit(files_of(lake, "content_blocks")[0])
    with ruin.gone(log):
        report = mend(lake, ruin.laptop)
        told = ruin.differences(lake)
    (loss,) = report.lost
    assert (loss.path, loss.what) == (str(log), "lines without their words")
    assert "entries" not in told
    assert told["content_blocks"][1] == 0


@pytest.mark.slow
def test_a_table_that_is_missing_or_is_not_what_its_facts_give_is_derived_again(
    ruin: Ruin, tmp_path: Path
) -> None:
    lake = ruin.anew(tmp_path)
    with_changed(lake, "messages", lambda rows: rows.slice(1))
    without_files(lake, "tool_calls")
    assert errors(lake)
    assert mend(lake).exit_code() == 0
    assert ruin.differences(lake) == {}


@pytest.mark.slow
def test_a_part_that_does_not_account_for_every_byte_is_read_again(
    ruin: Ruin, tmp_path: Path
) -> None:
    lake = ruin.anew(tmp_path)
    with_changed(lake, "entries", lambda rows: rows.slice(1))
    report = mend(lake, ruin.laptop)
    assert (len(report.again) > 1, report.lost) == (True, [])
    assert ruin.differences(lake) == {}


@pytest.mark.slow
def test_a_dry_run_says_the_same_and_changes_nothing(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    flip_a_bit(files_of(lake, "entries")[0])
    flip_a_bit(files_of(lake, "usage")[-1])
    before = {path: path.lstat().st_mtime_ns for path in lake.rglob("*") if path.is_file()}
    dry = mend(lake, ruin.laptop, is_dry=True)
    assert {path: path.lstat().st_mtime_ns for path in before} == before
    assert list(Warehouse(lake).staging.iterdir()) == []
    wet = mend(lake, ruin.laptop)
    assert (dry.wrong, dry.mended, dry.again) == (wet.wrong, wet.mended, wet.again)


def doomed_repair(lake: Path, step: int) -> None:
    left = step

    def strike(_: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    at_each_step(lake, strike)
    mend(lake)


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps", [[43], pytest.param(range(1, 160, 3), marks=pytest.mark.slow)], ids=["one", "many"]
)
def test_a_repair_that_was_killed_is_done_by_the_next(
    ruin: Ruin, tmp_path: Path, steps: list[int]
) -> None:
    for step in steps:
        lake = ruin.anew(tmp_path / str(step))
        document(lake, 4).write_bytes(b"{")
        files_of_3 = Warehouse(lake).read_commit(3).files
        flip_a_bit(Warehouse(lake).files / next(f.name for f in files_of_3 if f.table == "entries"))
        exit_code = exit_code_of(doomed_repair, lake, step)
        mend(lake, ruin.laptop, ruin.phone)
        assert ruin.differences(lake) == {}, step
        assert not mend(lake).wrong
        if exit_code == 0:
            break


def test_a_repair_that_cannot_be_shown_says_so_and_the_next_run_shows_it(
    ruin: Ruin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = ruin.anew(tmp_path)
    flip_a_bit(files_of(lake, "usage")[0])
    with monkeypatch.context() as disk:
        refuse_links_of_trees(disk)
        report = mend(lake)
    assert (report.exit_code(), report.commit, report.runs) == (1, 5, [])
    ((_, problem),) = report.problems
    assert problem.startswith("commit 5 is safe, but showing it failed: [Errno 28] No space left")
    assert mend(lake).exit_code() == 0
    assert ruin.differences(lake) == {}


def test_a_repair_beside_a_sync_is_busy(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    with Warehouse(lake).lock(), pytest.raises(BusyError):
        mend(lake)


def test_an_older_format_that_is_damaged_is_refused(tmp_path: Path) -> None:
    lake = old_warehouse(tmp_path / "lake")
    assert mend(lake).wrong == []
    flip_a_bit(files_of(lake, "usage")[0])
    with pytest.raises(StateError, match="older cclake"):
        mend(lake)


@pytest.mark.slow
def test_what_was_moved_aside_goes_when_content_goes(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    flip_a_bit(files_of(lake, "entries")[0])
    mend(lake, ruin.laptop)
    assert list(Warehouse(lake).damaged.iterdir())
    run_sync(ruin.laptop, lake, content="metrics")
    assert not Warehouse(lake).damaged.exists()
    assert not proof.check(Warehouse(lake), deep=True).is_broken()


@pytest.mark.slow
def test_without_any_document_left_it_says_what_the_next_sync_may_bring_back(
    ruin: Ruin, tmp_path: Path
) -> None:
    lake = ruin.anew(tmp_path)
    forget(Warehouse(lake), find(Warehouse(lake), Wish(session=APRIL)), source="laptop")
    document(lake, 5).write_bytes(b"")
    report = mend(lake, ruin.laptop)
    (asked,) = report.asks
    assert "reads again what was forgotten" in asked
    assert (report.runs, report.exit_code()) == ([], 1)
    assert value(lake, f"select count(*) from source_files where session_id = '{APRIL}'") == 0  # noqa: S608


def test_the_command_tells_what_it_did(
    ruin: Ruin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, log = ruin.anew(tmp_path), ruin.log(MAINS[1])
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(ruin.laptop))
    options = ["repair", "--warehouse", str(lake)]
    assert CliRunner().invoke(main, options).stdout == "nothing to repair\n"
    flip_a_bit(files_of(lake, "content_blocks")[0])
    with ruin.gone(log):
        told = CliRunner().invoke(main, [*options, "--dry-run", "--json"])
        assert json.loads(told.stdout)["lost"][0]["path"] == str(log)
        told = CliRunner().invoke(main, options)
    assert told.exit_code == 1
    for words in ("wrong: ", "mended: ", "read again: ", "lost: ", "laptop: synced"):
        assert words in told.stdout
    assert value(lake, "select count(distinct source) from source_files") == 2
