"""Whatever is odd in a run that commits is a row of `sync_events`, with a path and words."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from etl import derive
from etl.check import check
from etl.commit import Warehouse
from etl.prices import shipped
from tests.sessions import PROJECT, append, encoded, rows, run_sync, user, value, write_log

Event = tuple[str, str, bool]
LOG = f"{PROJECT}/s.jsonl"


@pytest.fixture
def log(logs: Path, lake: Path) -> Path:
    """A log that was synced once, with a tail that waits."""
    log = write_log(logs, [user("hi"), encoded([user("ho", "u2")])[:-1]], LOG)
    run_sync(logs, lake)
    return log


def told_after(act: Callable[[Path], object], log: Path, lake: Path) -> list[Event]:
    """Do something to a log, add another with news, sync, and return what that run told."""
    act(log)
    write_log(log.parents[2], [user("news", "n1", sessionId="news")], "-home-ada-loom/news.jsonl")
    run = run_sync(log.parents[2], lake)
    assert run.is_committed
    ask = f"select path, what, is_problem from sync_events where run_id = '{run.run_id}'"  # noqa: S608
    return rows(lake, ask)


def everything_odd(project: Path) -> None:
    """Do to the logs of a project, each called after it, what is odd and can be done to one."""
    (project / "rewritten.jsonl").write_bytes(encoded([user("other", "u3")]))
    (project / "moved.jsonl").rename(project / "here.jsonl")
    (project / "gone.jsonl").unlink()
    (project / "gone_with_tail.jsonl").unlink()
    os.link(project / "linked.jsonl", project / "linked_too.jsonl")
    (project / "folder_link").symlink_to(".")
    (project / "link.jsonl").symlink_to("linked.jsonl")
    os.mkfifo(project / "pipe.jsonl")
    Path(os.fsdecode(bytes(project) + b"/\xff.jsonl")).touch()
    project.joinpath(*["d"] * 70).mkdir(parents=True)


def test_whatever_is_odd_about_a_file_is_an_event_or_a_problem(logs: Path, lake: Path) -> None:
    project = logs / "projects" / PROJECT
    tail = encoded([user("ho", "u2")])[:-1]
    for name in ("rewritten", "moved", "gone", "gone_with_tail", "linked"):
        log = write_log(logs, [user(name, name, sessionId=name)], f"{PROJECT}/{name}.jsonl")
        append(log, tail if "tail" in name else b"")
    run_sync(logs, lake)

    found = told_after(lambda _: everything_odd(project), project / "s.jsonl", lake)

    linked = project / "linked.jsonl"
    skipped = "skipped: not a regular file"
    assert sorted(found) == sorted(
        [
            (f"{PROJECT}/rewritten.jsonl", "rewritten", False),
            (f"{PROJECT}/here.jsonl", "moved", False),
            (f"{PROJECT}/gone.jsonl", "gone", False),
            (f"{PROJECT}/gone_with_tail.jsonl", "gone", False),
            (f"{PROJECT}/gone_with_tail.jsonl", "its last line never ended; read as it was", False),
            (f"{project}/linked_too.jsonl", f"same file as {str(linked)!r}", False),
            (f"{project}/folder_link", "skipped: a link to a folder", False),
            (f"{project}/link.jsonl", skipped, True),
            (f"{project}/pipe.jsonl", skipped, True),
            (rf"{project}/\xff.jsonl", "skipped: its name is not UTF-8; rename it", True),
            (f"{project}{'/d' * 64}", "skipped: too many folders deep", True),
        ]
    )


def test_a_run_in_which_nothing_is_odd_tells_nothing(log: Path, lake: Path) -> None:
    assert told_after(lambda log: append(log, b"\n"), log, lake) == []


def test_a_file_that_goes_and_comes_back_is_told_both_times(log: Path, lake: Path) -> None:
    aside = log.parents[2] / "aside"
    assert (LOG, "gone", False) in told_after(lambda log: log.rename(aside), log, lake)
    run = run_sync(log.parents[2], lake)
    assert run.events == []
    aside.rename(log)
    run = run_sync(log.parents[2], lake)
    assert (run.is_committed, run.events[0]) == (True, (LOG, "came back"))


def test_a_file_that_shrinks_while_it_is_read_is_torn(
    log: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log, b"\n", user("more", "u4"))
    inode, pread = log.stat().st_ino, os.pread

    def shrinking(descriptor: int, length: int, offset: int) -> bytes:
        if offset and os.fstat(descriptor).st_ino == inode:
            os.truncate(log, 10)
        return pread(descriptor, length, offset)

    monkeypatch.setattr(os, "pread", shrinking)
    assert (LOG, "torn", False) in told_after(lambda _: None, log, lake)


def test_a_log_that_cannot_be_read_any_more_is_told_once_though_nothing_else_is_new(
    log: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(log, b"\n")
    opened = os.open

    def refusing(path: str, *how: int, **where: int) -> int:
        if path == str(log):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opened(path, *how, **where)

    with monkeypatch.context() as locked:
        locked.setattr(os, "open", refusing)
        runs = [run_sync(log.parents[2], lake) for _ in range(2)]
    assert [(run.exit_code(), run.is_committed) for run in runs] == [(1, True), (1, False)]
    told = [(LOG, "cannot read: Permission denied", True)]
    assert rows(lake, "select path, what, is_problem from sync_events") == told
    assert [one.check for one in check(Warehouse(lake)).findings] == ["every_log_could_be_read"]
    assert run_sync(log.parents[2], lake).entries == 1
    assert check(Warehouse(lake)).findings == []


def test_a_part_that_cannot_be_derived_is_a_problem_of_its_files(
    log: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {**derive._queries("steps"), "lines": "select * from no_such_table"}  # noqa: SLF001
    monkeypatch.setattr(derive, "_queries", lambda _: broken)
    append(log, b"\n")
    run = run_sync(log.parents[2], lake)
    assert [(path, what[:26]) for path, what in run.problems] == [
        (LOG, "cannot derive its tables: ")
    ]


@pytest.mark.parametrize("news", [b"", b"\n"])
def test_another_price_book_is_told_with_news_and_without(
    news: bytes, log: Path, lake: Path
) -> None:
    append(log, news)
    book = replace(shipped(), cards=shipped().cards[1:], content_hash="0" * 32)
    run = run_sync(log.parents[2], lake, book=book)
    assert run.events == [("price book", "changed")]
    assert run_sync(log.parents[2], lake, book=book).events == []


def test_what_an_interrupted_run_left_is_told_when_it_is_cleared(log: Path, lake: Path) -> None:
    def leave(_: Path) -> None:
        (Warehouse(lake).staging / "left.parquet").touch()

    assert told_after(leave, log, lake) == [
        (str(lake), "cleared what an interrupted run had left", False)
    ]


def test_a_commit_that_is_shown_late_is_told(log: Path, lake: Path) -> None:
    def hide(_: Path) -> None:
        Warehouse(lake).current.unlink()

    late = "commit 1 is shown only now: the run that made it was interrupted"
    assert told_after(hide, log, lake) == [(str(lake), late, False)]


def test_what_is_odd_without_news_stands_in_the_note_of_the_run(log: Path, lake: Path) -> None:
    os.mkfifo(log.with_name("t.jsonl"))
    before = value(lake, "select count(*) from sync_events")
    run = run_sync(log.parents[2], lake)
    assert not run.is_committed
    assert value(lake, "select count(*) from sync_events") == before == 0
    assert "skipped: not a regular file" in Warehouse(lake).last_run.read_text()
