"""The head of a file: whose session it is, its month, and the tail that waits."""

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from etl.ledger import LedgerRow
from etl.parts import NewSession
from etl.peek import new_sessions, with_pending, with_session
from etl.read import KEPT_TAIL_BYTES, LONGEST_LINE_BYTES
from tests.sessions import SESSION, Line, encoded, rows, run_sync, user, write_log
from tests.test_ledger import ledger_row

A_QUARTER_MEGABYTE = 1 << 18


def log(folder: Path, name: str, lines: Iterable[Line | bytes]) -> LedgerRow:
    """A main log on disk, and the row of a file that was only found."""
    content = encoded(lines)
    (folder / name).write_bytes(content)
    seen = (folder / name).stat()
    return ledger_row(
        root=str(folder),
        path=name,
        session_id=name.removesuffix(".jsonl"),
        size=len(content),
        device=seen.st_dev,
        inode=seen.st_ino,
        offset=0,
        part=None,
        month=None,
    )


def flat_agent(folder: Path, lines: Iterable[Line | bytes]) -> LedgerRow:
    """An agent's log beside the sessions: its path does not say whose it is."""
    row = log(folder, "agent-a1.jsonl", lines)
    return replace(row, kind="agent", layout="flat", session_id=None, agent_id="a1")


def agent_below(folder: Path, lines: Iterable[Line | bytes]) -> LedgerRow:
    """An agent's log in the folder of session s."""
    row = log(folder, "agent-a2.jsonl", lines)
    return replace(row, kind="agent", layout="subagents", session_id="s", agent_id="a2")


def session_of(row: LedgerRow) -> str | None:
    return with_session(row).session_id


def test_a_flat_agent_belongs_to_the_first_session_it_names(tmp_path: Path) -> None:
    row = flat_agent(tmp_path, [user("hi"), user("ho", sessionId="another")])
    assert session_of(row) == SESSION


@pytest.mark.parametrize(
    "before",
    [
        [b"nonsense\n"],
        [b"\n", b"[1]\n"],
        [{"type": "summary"}],
        [{"sessionId": 7}, {"sessionId": ""}, {"sessionId": None}],
        [b'{"sessionId":"torn\n'],
    ],
)
def test_lines_that_name_no_session_are_passed_over(
    tmp_path: Path, before: list[Line | bytes]
) -> None:
    assert session_of(flat_agent(tmp_path, [*before, user("hi")])) == SESSION


def test_a_session_is_read_behind_a_first_line_longer_than_the_head(tmp_path: Path) -> None:
    row = flat_agent(tmp_path, [user("x" * A_QUARTER_MEGABYTE)])
    assert row.size > A_QUARTER_MEGABYTE
    assert session_of(row) == SESSION


def test_two_objects_on_one_line_are_both_looked_at(tmp_path: Path) -> None:
    assert session_of(flat_agent(tmp_path, [b'{"type":"x"}{"sessionId":"s2"}\n'])) == "s2"


def test_an_agent_whose_lines_name_no_session_waits_for_one_that_does(tmp_path: Path) -> None:
    assert with_session(flat_agent(tmp_path, [{"type": "summary"}, b"oops\n"])).session_id is None


def test_an_agent_without_a_whole_line_has_no_session_yet(tmp_path: Path) -> None:
    row = flat_agent(tmp_path, [encoded([user("hi")])[:-1]])
    assert with_session(row) == row


def test_a_session_that_the_path_tells_is_left_as_it_is(tmp_path: Path) -> None:
    row = log(tmp_path, "s.jsonl", [user("hi")])
    assert with_session(row) == row


def test_a_file_that_went_meanwhile_has_no_session_yet(tmp_path: Path) -> None:
    row = flat_agent(tmp_path, [user("hi")])
    (tmp_path / row.path).unlink()
    assert with_session(row) == row


def test_a_new_session_has_the_size_of_all_its_files_and_the_month_of_its_main_file(
    tmp_path: Path,
) -> None:
    main = log(tmp_path, "s.jsonl", [user("hi", timestamp="2026-02-28T23:59:59.000Z")])
    agent = agent_below(tmp_path, [user("ho", timestamp="2026-04-01T00:00:00.000Z")])
    assert new_sessions([agent, main]) == [NewSession("s", main.size + agent.size, "2026-02")]


def test_the_month_comes_from_an_agent_while_the_main_file_tells_none(tmp_path: Path) -> None:
    main = log(tmp_path, "s.jsonl", [{"type": "summary"}])
    agent = agent_below(tmp_path, [user("hi")])
    assert [one.month for one in new_sessions([main, agent])] == ["2026-03"]


@pytest.mark.parametrize("stamp", ["2026-13-01T00:00:00Z", "yesterday", "../../x-01-"])
def test_a_session_without_a_month_takes_that_of_its_file(tmp_path: Path, stamp: str) -> None:
    row = log(tmp_path, "s.jsonl", [user("hi", timestamp=stamp)])
    row = replace(row, mtime_ns=int(datetime(2025, 1, 1, tzinfo=UTC).timestamp()) * 10**9)
    assert [one.month for one in new_sessions([row])] == ["2025-01"]


def test_sessions_come_in_order_whatever_the_order_of_their_files(tmp_path: Path) -> None:
    rows = [log(tmp_path, f"{name}.jsonl", [user("hi")]) for name in ("b", "c", "a")]
    assert [one.session_id for one in new_sessions(rows)] == ["a", "b", "c"]


def test_a_session_without_a_whole_line_gets_no_part_yet(tmp_path: Path) -> None:
    torn = log(tmp_path, "torn.jsonl", [encoded([user("hi")])[:-1]])
    empty = log(tmp_path, "empty.jsonl", [])
    gone = log(tmp_path, "gone.jsonl", [user("hi")])
    (tmp_path / "gone.jsonl").unlink()
    assert new_sessions([torn, empty, gone]) == []


def test_a_sidecar_alone_makes_no_session(tmp_path: Path) -> None:
    row = log(tmp_path, "s.jsonl", [b'{\n"agentType":"Explore"\n}\n'])
    assert new_sessions([replace(row, kind="sidecar")]) == []


def test_a_tail_without_its_newline_is_kept(tmp_path: Path) -> None:
    row = log(tmp_path, "s.jsonl", [b'{"torn":"\xc3'])
    problems: list[tuple[str, str]] = []
    assert with_pending(row, problems, []).pending == b'{"torn":"\xc3'
    assert problems == []


def test_a_file_that_is_one_tail_too_long_to_be_kept_is_told(tmp_path: Path) -> None:
    row = log(tmp_path, "s.jsonl", [b"x"])
    events: list[tuple[str, str]] = []
    row = replace(row, size=KEPT_TAIL_BYTES + 1, pending=b"of before")
    assert with_pending(row, [], events).pending == b""
    assert events == [("s.jsonl", "its last line has 16 MiB so far; it waits, and no copy is kept")]


def test_a_session_is_found_behind_a_line_that_is_too_long(tmp_path: Path) -> None:
    row = flat_agent(tmp_path, [])
    path = tmp_path / row.path
    os.truncate(path, LONGEST_LINE_BYTES + 1)
    with path.open("ab") as sink:
        sink.write(b"\n" + encoded([user("hi")]))
    row = replace(row, size=path.stat().st_size)
    assert session_of(row) == SESSION
    assert [one.session_id for one in new_sessions([with_session(row)])] == [SESSION]


def test_bytes_added_since_the_walk_wait_for_the_next_run(tmp_path: Path) -> None:
    row = log(tmp_path, "s.jsonl", [b'{"torn"'])
    with (tmp_path / "s.jsonl").open("ab") as sink:
        sink.write(b':1}\n{"more":2}\n')
    assert with_pending(row, [], []).pending == b'{"torn"'


def test_an_empty_file_has_no_tail_also_where_it_had_one(tmp_path: Path) -> None:
    row = log(tmp_path, "s.jsonl", [])
    assert with_pending(row, [], []) == row
    assert with_pending(replace(row, pending=b'{"torn"'), [], []) == row


def test_a_tail_that_cannot_be_read_is_a_problem_and_looked_at_again(tmp_path: Path) -> None:
    row = log(tmp_path, "s.jsonl", [b'{"torn"'])
    (tmp_path / "s.jsonl").unlink()
    problems: list[tuple[str, str]] = []
    assert with_pending(row, problems, []).ctime_ns == 0
    assert problems == [("s.jsonl", "cannot read: No such file or directory")]


def test_the_head_and_the_tail_of_another_file_in_its_place_are_not_read(tmp_path: Path) -> None:
    row = replace(log(tmp_path, "agent-a.jsonl", [user("hi"), b'{"torn"']), session_id=None)
    assert session_of(row) == SESSION
    (tmp_path / "other").write_bytes((tmp_path / "agent-a.jsonl").read_bytes())
    (tmp_path / "other").rename(tmp_path / "agent-a.jsonl")
    events: list[tuple[str, str]] = []
    assert session_of(row) is None
    assert with_pending(row, [], events) == replace(row, ctime_ns=0)
    assert events == [("agent-a.jsonl", "torn")]


def test_a_session_that_is_named_late_in_a_file_is_found(tmp_path: Path) -> None:
    late = user("x" * 400_000, sessionId="late")
    write_log(tmp_path, [{"type": "mode"}, late], "p/agent-a.jsonl")
    run_sync(tmp_path, tmp_path / "lake")
    assert rows(tmp_path / "lake", "select distinct session_id from raw.entries") == [("late",)]
