"""What a repair starts from: the newest commit that can be trusted, or its published tree."""

from pathlib import Path

import orjson
import pytest

from etl.chain import NewerFormatError
from etl.commit import Warehouse
from etl.content import METRICS
from etl.errors import UsageError
from etl.salvage import Base, base_of, survey
from tests.ruins import Ruin, document, files_of, mend, stored
from tests.sessions import assistant, run_sync, user, write_log
from tests.tampering import flip_a_bit
from tests.test_chain import rewritten


def base(lake: Path, to: int | None = None) -> Base:
    return base_of(survey(Warehouse(lake), to), to)


def test_a_damaged_document_is_rebuilt_from_what_is_shown(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    files = {(one.published_path(), one.name, one.rows, one.content_hash) for one in stored(lake)}
    document(lake, 4).write_bytes(b"")
    found = base(lake)
    assert (found.state.number, found.is_rebuilt, found.has_terms) == (4, True, True)
    assert {
        (one.published_path(), one.name, one.rows, one.content_hash) for one in found.state.files
    } == files
    report = mend(lake)
    assert ruin.differences(lake) == {}
    assert (report.lost, report.commit, Warehouse(lake).commit_numbers()) == ([], 5, [5])


@pytest.mark.slow
def test_without_a_ledger_the_commit_before_is_the_base(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    flip_a_bit(files_of(lake, "source_files")[0])
    assert base(lake).state.number == 3
    mend(lake, ruin.laptop)
    assert ruin.differences(lake) == {}


@pytest.mark.slow
def test_an_older_commit_can_be_asked_for(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    report = mend(lake, ruin.laptop, to=2)
    assert [where for where, _ in report.wrong] == ["commit 3", "commit 4"]
    assert Warehouse(lake).commit_numbers()[:3] == [1, 2, 3]
    assert set(ruin.differences(lake)) <= {"daily_stats", "session_index"}
    with pytest.raises(UsageError, match="commit 99 is not kept"):
        mend(lake, to=99)


@pytest.mark.slow
def test_a_gap_leaves_the_commits_after_it(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    document(lake, 2).unlink()
    report = mend(lake)
    assert {where for where, _ in report.wrong} == {"commit 1", "commit 2"}
    assert Warehouse(lake).commit_numbers() == [3, 4]
    assert ruin.differences(lake) == {}


@pytest.mark.slow
def test_a_damaged_older_commit_is_moved_aside(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    document(lake, 1).write_bytes(b"{}")
    mend(lake)
    assert Warehouse(lake).commit_numbers() == [2, 3, 4]
    assert (Warehouse(lake).damaged / document(lake, 1).name).read_bytes() == b"{}"


@pytest.mark.slow
def test_a_newer_format_is_not_ours_to_mend(ruin: Ruin, tmp_path: Path) -> None:
    lake = ruin.anew(tmp_path)
    rewritten(document(lake, 4), format=99)
    before = sorted(path.name for path in lake.rglob("*"))
    with pytest.raises(NewerFormatError):
        mend(lake)
    assert sorted(path.name for path in lake.rglob("*")) == before
    assert mend(lake, ruin.phone, source="phone", to=3).exit_code() == 0
    assert ruin.differences(lake) == {}


@pytest.mark.slow
def test_a_copy_that_is_still_shown_takes_the_place_of_a_damaged_file(
    ruin: Ruin, tmp_path: Path
) -> None:
    lake = ruin.anew(tmp_path)
    path = files_of(lake, "entries")[0]
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:-1])
    report = mend(lake)
    assert (report.again, report.lost) == ([], [])
    assert path.read_bytes() == content
    assert ruin.differences(lake) == {}


@pytest.mark.slow
def test_a_shown_file_that_is_not_that_of_the_commit_is_shown_again(
    ruin: Ruin, tmp_path: Path
) -> None:
    lake = ruin.anew(tmp_path)
    shown = next((lake / "current").resolve().rglob("usage/**/*.parquet"))
    content = shown.read_bytes()
    shown.unlink()
    shown.write_bytes(content)
    flip_a_bit(shown)
    assert mend(lake).wrong == [(str(shown), "is not the file of the commit")]
    assert ruin.differences(lake) == {}


def test_terms_that_are_lost_are_told_from_the_rows_and_asked_for(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi"), assistant()])
    run_sync(logs, lake, content="metrics")
    document(lake, 1).write_bytes(b"")
    found = base(lake)
    assert (found.has_terms, found.state.content) == (False, METRICS)
    report = mend(lake, logs)
    assert (report.exit_code(), report.runs) == (1, [])
    assert "--content and --redact" in report.asks[0]


def test_with_nothing_left_all_is_read_again(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi"), assistant()])
    run_sync(logs, lake)
    files_of(lake, "source_files")[0].write_bytes(b"")
    report = mend(lake, logs)
    assert (report.commit, report.exit_code()) == (0, 1)
    assert not (lake / "current").is_symlink()
    assert list(Warehouse(lake).damaged.glob("entries-*"))
    assert run_sync(logs, lake).commit == 1
    assert orjson.loads(document(lake, 1).read_bytes())["number"] == 1
