"""`cclake check`: silent on what is sound, and every damage is named with file and place."""

import errno
import json
import os
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

from etl.check import Finding, check
from etl.cli import main
from etl.commit import Warehouse
from etl.demo import write_tree
from etl.errors import BusyError
from etl.forget import find, forget
from etl.omit import Wish
from tests.faults.test_readers import make_older
from tests.meanwhile import act_before_reading, refuse_links_of_trees
from tests.ruins import copy_of
from tests.sessions import PROJECT, SESSION, append, assistant, encoded, run_sync, user, write_log
from tests.tampering import flip_a_bit, stored_path, with_changed, without_files
from tests.test_chain import rewritten
from tests.test_terms import old_warehouse


def found(lake: Path, *, deep: bool = False, severity: str = "error") -> list[Finding]:
    report = check(Warehouse(lake), deep=deep)
    assert report.is_broken() == any(one.severity == "error" for one in report.findings)
    return [one for one in report.findings if one.severity == severity]


def synced_twice(logs: Path, lake: Path) -> Path:
    log = write_log(logs, [user("hi"), assistant(), b"oops\n"])
    run_sync(logs, lake)
    append(log, user("on", "u2", 9), b'{"torn')
    run_sync(logs, lake)
    return lake


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    return synced_twice(folder / "logs", folder / "lake")


@pytest.fixture
def synced(whole: Path, tmp_path: Path) -> Path:
    """A warehouse to damage; its logs are those of all tests, and stay as they are."""
    return copy_of(whole, tmp_path / "lake")


@pytest.fixture
def followed(logs: Path, lake: Path) -> Path:
    """A warehouse whose logs can be changed, too."""
    return synced_twice(logs, lake)


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_a_sound_warehouse_has_nothing_wrong(tmp_path: Path) -> None:
    write_tree(tmp_path / "logs", megabytes=0.5, seed=6)
    run_sync(tmp_path / "logs", tmp_path / "lake")
    report = check(Warehouse(tmp_path / "lake"), deep=True)
    assert report.findings == []
    assert report.entries > 100
    assert report.logs > 5
    assert report.files > 20


def test_a_warehouse_without_a_commit_has_nothing_wrong(lake: Path) -> None:
    Warehouse(lake).create_folders()
    assert check(Warehouse(lake), deep=True).findings == []


def test_a_missing_or_cut_file_is_named_with_the_commit(synced: Path) -> None:
    lost, cut = stored_path(synced, "usage"), stored_path(synced, "entries")
    lost.unlink()
    os.truncate(cut, 10)
    told = {one.where.split()[0]: one.what for one in found(synced)}
    assert told.pop(str(lost)) == "is missing"
    assert told.pop(str(cut)).startswith("has 10 bytes, not ")
    assert told == {}


@pytest.mark.parametrize("table", ["entries", "content_blocks", "usage", "source_files"])
def test_a_flipped_bit_is_found_by_a_deep_check(synced: Path, table: str) -> None:
    path = stored_path(synced, table)
    flip_a_bit(path)
    assert str(path) in {one.where.split()[0] for one in found(synced, deep=True)}


def test_a_damaged_older_commit_is_named(synced: Path) -> None:
    (Warehouse(synced).commits / f"{1:010d}.json").write_bytes(b"{}")
    assert "commit 1" in {one.where for one in found(synced)}


def test_a_damaged_newest_commit_is_named_once(synced: Path) -> None:
    (Warehouse(synced).commits / f"{2:010d}.json").write_bytes(b"{}")
    assert [one.where for one in found(synced)] == ["commit 2"]


def test_a_newest_commit_that_is_lost_is_named(synced: Path) -> None:
    (Warehouse(synced).commits / f"{2:010d}.json").unlink()
    assert "commit 2 was shown once and is missing" in only(found(synced)).what


def test_a_part_without_one_of_its_tables_is_named(synced: Path) -> None:
    without_files(synced, "tool_calls")
    finding = only([one for one in found(synced) if one.check == "tables"])
    assert (finding.where, finding.what) == ("part 1 of laptop", "has no tool_calls")


def test_books_without_their_ledger_are_named(synced: Path) -> None:
    without_files(synced, "source_files")
    assert ("tables", "have no source_files") in {(one.check, one.what) for one in found(synced)}


def test_a_lost_line_is_named_with_its_log(synced: Path) -> None:
    with_changed(synced, "entries", lambda rows: rows.slice(1))
    told = [one for one in found(synced) if one.check == "every_byte_is_accounted_for"]
    assert only(told).where.endswith(".jsonl")


def test_a_doubled_line_is_named_with_its_place(synced: Path) -> None:
    with_changed(synced, "entries", lambda rows: pa.concat_tables([rows, rows.slice(1, 1)]))
    told = {one.check: one.byte for one in found(synced)}
    assert told["no_row_is_stored_twice"] == len(encoded([user("hi")]))


def test_a_derived_table_that_its_facts_do_not_give_is_named(synced: Path) -> None:
    def doubled(rows: pa.Table) -> pa.Table:
        at = rows.column_names.index("output_tokens")
        return rows.set_column(at, "output_tokens", pa.array([20] * rows.num_rows, pa.int64()))

    with_changed(synced, "usage", doubled)
    assert found(synced) == []
    finding = only(found(synced, deep=True))
    assert (finding.check, finding.where.startswith("usage/")) == ("derived", True)


def test_a_line_that_is_stored_as_another_is_named_with_its_byte(synced: Path) -> None:
    def other(rows: pa.Table) -> pa.Table:
        at = rows.column_names.index("uuid")
        uuids = rows.column("uuid").to_pylist()
        return rows.set_column(at, "uuid", pa.array([*uuids[:-1], "another"], pa.string()))

    with_changed(synced, "entries", other)
    told = [one for one in found(synced, deep=True) if one.check == "logs"]
    place = len(encoded([user("hi"), assistant(), b"oops\n"]))
    assert (only(told).what, only(told).byte) == ("line 4 comes back otherwise", place)


def test_a_log_that_changed_since_is_a_warning(logs: Path, followed: Path) -> None:
    write_log(logs, [user("other words")])
    assert found(followed, deep=True) == []
    finding = only(found(followed, deep=True, severity="warning"))
    assert "changed since it was read" in finding.what


def test_a_log_that_changed_behind_its_times_is_an_error(followed: Path, logs: Path) -> None:
    def as_seen(rows: pa.Table) -> pa.Table:
        at = rows.column_names.index("ctime_ns")
        return rows.set_column(at, "ctime_ns", pa.array([log.stat().st_ctime_ns], pa.int64()))

    (log,) = (logs / "projects").rglob("*.jsonl")
    before = log.stat()
    content = log.read_bytes()
    log.write_bytes(content.replace(b"hi", b"ho"))
    os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))
    with_changed(followed, "source_files", as_seen)
    assert "its times did not" in only(found(followed, deep=True)).what


def test_a_log_that_could_not_be_read_is_a_warning(synced: Path) -> None:
    def unread(rows: pa.Table) -> pa.Table:
        at = rows.column_names.index("ctime_ns")
        return rows.set_column(at, "ctime_ns", pa.array([0], pa.int64()))

    with_changed(synced, "source_files", unread)
    finding = only(found(synced, severity="warning"))
    assert finding.check == "every_log_could_be_read"


def test_what_readers_see_is_looked_at(synced: Path) -> None:
    (synced / "current").resolve().rename(synced / "lost")
    told = found(synced, severity="warning")
    assert {one.check for one in told} == {"published"}
    assert f"{synced / 'current'}" in {one.where for one in told}


def test_an_older_format_is_a_warning(tmp_path: Path) -> None:
    lake = old_warehouse(tmp_path / "lake")
    assert found(lake) == []
    told = [one for one in found(lake, severity="warning") if one.check == "format"]
    assert "next sync upgrades it" in only(told).what


def test_what_others_can_look_into_is_a_warning(synced: Path) -> None:
    stored_path(synced, "usage").chmod(0o644)
    assert "2 files" in only(found(synced, severity="warning")).what


def test_a_check_changes_nothing(synced: Path) -> None:
    def listing() -> dict[str, tuple[int, int]]:
        return {
            str(path): (path.lstat().st_mtime_ns, path.lstat().st_size)
            for path in synced.rglob("*")
        }

    before = listing()
    check(Warehouse(synced), deep=True)
    assert listing() == before


def test_a_copy_of_a_warehouse_is_as_sound_as_the_warehouse(synced: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(synced, tmp_path / "copied", symlinks=True)
    assert check(Warehouse(copied), deep=True).findings == []


def test_a_copy_that_readers_see_and_that_is_another_file_is_named(
    synced: Path, tmp_path: Path
) -> None:
    copied = shutil.copytree(synced, tmp_path / "copied", symlinks=True)
    shown = next((copied / "current").resolve().rglob("usage/**/*.parquet"))
    flip_a_bit(shown)
    assert str(shown) in {one.where for one in found(copied, deep=True)}


def test_a_commit_that_does_not_follow_the_one_before_is_a_warning(
    logs: Path, followed: Path
) -> None:
    write_log(logs, [user("other words")])
    run_sync(logs, followed)
    rewritten(Warehouse(followed).commits / f"{1:010d}.json", run={})
    finding = only(found(followed, severity="warning"))
    assert (finding.check, finding.where) == ("chain", "commit 2")


def test_a_file_that_the_disk_does_not_give_back_is_named(
    synced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, opened = stored_path(synced, "usage"), Path.open

    def opening(path: Path, mode: str) -> object:
        if path == bad:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return opened(path, mode)

    monkeypatch.setattr(Path, "open", opening)
    told = {one.where.split()[0]: one.what for one in found(synced, deep=True)}
    assert told == {str(bad): "cannot be read: Input/output error"}


# ---- Beside a run that is at work, and after one that was killed.


def first_commit(lake: Path) -> Path:
    return Warehouse(lake).commits / f"{1:010d}.json"


@pytest.fixture
def of_three_commits(logs: Path, followed: Path) -> Warehouse:
    """Of these the first is read by nobody but a check."""
    (log,) = (logs / "projects").rglob("*.jsonl")
    append(log, b'"}\n')
    run_sync(logs, followed)
    return Warehouse(followed)


def test_a_check_beside_a_sync_that_retires_a_commit_finds_nothing(
    logs: Path, of_three_commits: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sync_and_retire() -> None:
        (log,) = (logs / "projects").rglob("*.jsonl")
        append(log, user("more", "u3", 20))
        make_older(of_three_commits.folder, keep=1)
        run_sync(logs, of_three_commits.folder)

    act_before_reading(first_commit(of_three_commits.folder), sync_and_retire, monkeypatch)
    report = check(of_three_commits, deep=True)
    assert of_three_commits.commit_numbers() == [2, 3, 4]
    assert (report.commit, report.findings) == (3, [])


def test_a_check_whose_commit_goes_meanwhile_is_to_be_run_again(
    of_three_commits: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget_all() -> None:
        all_of_it = find(of_three_commits, Wish(session=SESSION))
        forget(of_three_commits, all_of_it, source="laptop")

    act_before_reading(first_commit(of_three_commits.folder), forget_all, monkeypatch)
    with pytest.raises(BusyError, match=r"commit 3 of .* was retired"):
        check(of_three_commits)
    assert check(of_three_commits, deep=True).findings == []


def test_a_commit_that_was_not_shown_yet_is_looked_at_and_no_promise_is_broken(
    logs: Path, followed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (log,) = (logs / "projects").rglob("*.jsonl")
    append(log, b'"}\n', user("more", "u3", 20))
    with monkeypatch.context() as disk:
        refuse_links_of_trees(disk)
        assert run_sync(logs, followed).exit_code() == 1
    report = check(Warehouse(followed), deep=True)
    (finding,) = report.findings
    assert (finding.severity, finding.what) == (
        "warning",
        "does not lead to commit 3; the next sync mends it",
    )
    assert (report.commit, report.entries) == (3, 4)


# ---- The command.


def test_the_command_says_what_it_looked_at_and_ends_with_0(synced: Path) -> None:
    told = CliRunner().invoke(main, ["check", "--deep", "--warehouse", str(synced)])
    assert (told.exit_code, told.stderr) == (0, "")
    looked = r"checked 2 commits · \d+ files · 3 entries · 1 log, 1.1 kB: nothing is wrong\n"
    assert re.fullmatch(looked, told.stdout)


def test_the_command_names_what_is_broken_and_ends_with_4(synced: Path) -> None:
    with_changed(synced, "entries", lambda rows: rows.slice(1))
    stored_path(synced, "usage").chmod(0o644)
    told = CliRunner().invoke(main, ["check", "--warehouse", str(synced)])
    errors = [line for line in told.stdout.splitlines() if line.startswith("error: ")]
    assert told.exit_code == 4
    assert f"error: {PROJECT}/{SESSION}.jsonl: " in told.stdout
    assert f"{len(errors)} errors, 1 warning" in told.stdout
    assert told.stderr.startswith("hint: cclake repair")
    as_json = CliRunner().invoke(main, ["check", "--json", "--warehouse", str(synced)])
    assert as_json.exit_code == 4
    told_again = json.loads(as_json.stdout)["findings"]
    assert [one["severity"] for one in told_again].count("error") == len(errors)
