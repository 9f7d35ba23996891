"""What is not as it should be: every run says so, keeps the rest and loses nothing."""

import os
from pathlib import Path

import pytest

from etl.errors import StorageError
from etl.tables import ALL_TABLES
from tests.sessions import (
    PROJECT,
    assistant,
    rows,
    run_sync,
    user,
    value,
    write_log,
)

OTHER = "22222222-2222-4222-8222-222222222222"


def test_an_empty_folder_is_a_good_run_and_every_view_answers_empty(logs: Path, lake: Path) -> None:
    run = run_sync(logs, lake)
    assert (run.exit_code(), run.files) == (0, 0)
    ask = "select table_schema, table_name from information_schema.tables"
    names = [f"{schema}.{name}" for schema, name in rows(lake, ask)]
    assert len(names) > len(ALL_TABLES)
    counts = {name: value(lake, f"select count(*) from {name}") for name in names}  # noqa: S608
    assert set(counts.values()) == {0}


def test_an_empty_log_is_known_and_has_no_rows(logs: Path, lake: Path) -> None:
    write_log(logs, [])
    run_sync(logs, lake)
    assert rows(lake, "select kind, size, part from source_files") == [("main", 0, None)]
    assert not run_sync(logs, lake).is_committed


def test_a_line_that_is_no_json_object_is_kept_as_a_reject(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi"), b"{broken\n", b"\n", b"[1]\n", assistant()])
    run = run_sync(logs, lake)
    assert (run.exit_code(), run.lines, run.entries, run.rejects) == (0, 5, 2, 2)
    assert rows(lake, "select line_no, raw from rejects order by all") == [
        (2, b"{broken"),
        (4, b"[1]"),
    ]
    assert rows(lake, "select line_count, blank_bytes from source_files") == [(5, 1)]


def test_a_symbolic_link_is_reported_and_never_followed(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi")])
    (log.parent / f"{OTHER}.jsonl").symlink_to(log)
    run = run_sync(logs, lake)
    assert run.exit_code() == 1
    assert [path.rpartition("/")[2] for path, _ in run.problems] == [f"{OTHER}.jsonl"]
    assert value(lake, "select count(*) from raw.entries") == 1


def test_a_warehouse_that_cannot_be_made_is_a_storage_error(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError) as caught:
        run_sync(logs, tmp_path / "file" / "lake")
    assert caught.value.exit_code == 5
    assert caught.value.hint


def test_a_name_that_is_not_utf_8_is_told_and_the_rest_is_kept(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi")])
    with open(os.fsencode(logs) + b"/projects/\xff.jsonl", "wb") as odd:  # noqa: PTH123 - bytes
        odd.write(b"{}\n")
    run = run_sync(logs, lake)
    assert (run.exit_code(), run.entries) == (1, 1)
    assert run.problems[0][0].endswith("\\xff.jsonl")
    assert value(lake, "select count(*) from entries") == 1


@pytest.mark.parametrize("blocked", ["cclake.duckdb", "current"])
def test_what_fails_after_the_commit_is_told_and_the_next_run_mends_it(
    logs: Path, lake: Path, blocked: str
) -> None:
    write_log(logs, [user("hi")])
    (lake / blocked).mkdir(parents=True)
    run = run_sync(logs, lake)
    assert (run.exit_code(), run.is_committed, run.commit) == (1, True, 1)
    assert "commit 1 is safe" in run.problems[0][1]
    (lake / blocked).rmdir()
    assert run_sync(logs, lake).exit_code() == 0
    assert value(lake, "select count(*) from entries") == 1


def test_a_copy_beside_the_original_is_no_move(tmp_path: Path, lake: Path) -> None:
    original = write_log(tmp_path / "one", [user("hi")])
    run_sync(tmp_path / "one", lake)
    copy = tmp_path / "two" / "projects" / PROJECT
    copy.mkdir(parents=True)
    (copy / original.name).write_bytes(original.read_bytes())
    run = run_sync(tmp_path / "two", lake)
    assert run.events == []
    assert value(lake, "select count(*) from source_files") == 2
    assert value(lake, "select count(*) from entries") == 1
