"""What is not as it should be: every run says so, keeps the rest and loses nothing."""

import os
from itertools import product
from pathlib import Path

import pytest

from etl import answers
from etl.commit import Warehouse
from etl.config import Settings
from etl.discover import projects_of
from etl.errors import StorageError
from etl.pipeline import sync
from etl.tables import ALL_TABLES
from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    append,
    ask_everything,
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


def test_a_log_whose_name_is_empty_is_read_all_the_same(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi"), assistant()], f"{PROJECT}/.jsonl")
    run_sync(logs, lake)
    assert rows(lake, "select session_id, turns from sessions") == [("", 1)]
    assert rows(lake, "select octet_length(pending) from source_files") == [(0,)]
    assert ask_everything(lake) == []


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
    with open(os.fsencode(logs) + b"/projects/" + PROJECT.encode() + b"/\xff.jsonl", "wb") as odd:  # noqa: PTH123 - bytes
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


def test_machines_that_share_a_warehouse_keep_their_rows_apart(tmp_path: Path, lake: Path) -> None:
    ours = write_log(tmp_path / "ours", [user("hi"), assistant()])
    theirs = [user("ho", "u2", sessionId=OTHER), assistant(uuid="a2", message_id="msg_2")]
    write_log(tmp_path / "theirs", theirs, f"{PROJECT}/{OTHER}.jsonl")
    run_sync(tmp_path / "ours", lake, source="ours")
    run_sync(tmp_path / "theirs", lake, source="theirs")
    for number in (8, 9):
        append(ours, assistant(uuid=f"a{number}", message_id=f"msg_{number}", request=f"r{number}"))
        run_sync(tmp_path / "ours", lake, source="ours")
    assert rows(lake, "select source, message_id from raw.usage order by all") == [
        ("ours", "msg_1"),
        ("ours", "msg_8"),
        ("ours", "msg_9"),
        ("theirs", "msg_2"),
    ]


def test_counts_beyond_all_reason_stop_neither_sync_nor_view(logs: Path, lake: Path) -> None:
    split = {"ephemeral_5m_input_tokens": 2**63 - 1, "ephemeral_1h_input_tokens": 2**63 - 1}
    huge = {
        "cache_creation": split,
        "cache_creation_input_tokens": -1,
        "cache_read_input_tokens": -(2**62),
        "input_tokens": 2**62,
    }
    lines = [
        assistant(uuid=f"a{n}", message_id=f"m{n}", request=f"r{n}", output=2**62, usage=huge)
        for n in range(3)
    ]
    write_log(logs, [user("hi"), *lines])
    assert run_sync(logs, lake).exit_code() == 0
    ask = "select output_tokens, cache_write_1h_tokens, flags from usage"
    assert rows(lake, ask) == [(None, 0, "impossible_count, missing_count")] * 3
    ask = "select responses, output_tokens, cost_usd, unpriced_tokens from daily_spend"
    assert rows(lake, ask) == [(3, 0, 0, 0)]
    assert rows(lake, "select api_calls, context_tokens from turns") == [(3, 0)]
    place: Line = {"sessionId": OTHER, "cwd": "/home/ada/barn"}
    write_log(logs, [assistant(message_id="m9", request="r9", **place)], f"-barn/{OTHER}.jsonl")
    run_sync(logs, lake)
    assert ask_everything(lake) == []


@pytest.mark.parametrize("stamp", ["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000+12:00"])
def test_an_instant_at_the_end_of_the_calendar_stops_no_view(
    logs: Path, lake: Path, stamp: str
) -> None:
    write_log(logs, [user("hi", timestamp=stamp), assistant(timestamp=stamp)])
    run_sync(logs, lake)
    for zone, view in product(("Asia/Tokyo", "America/New_York"), ("sessions", "daily_spend")):
        ask = f"select * from {view}"  # noqa: S608 - our own names
        assert answers.ask(Warehouse(lake), ask, time_zone=zone).rows()
    ask = "select occurred_at, json_extract_string(payload, '$.timestamp') from raw.entries"
    assert rows(lake, ask) == [(None, stamp)] * 2


def test_an_empty_sidecar_that_is_filled_later_is_a_new_generation(logs: Path, lake: Path) -> None:
    place = f"{PROJECT}/{SESSION}/subagents/agent-a1"
    write_log(logs, [user("hi")])
    write_log(logs, [user("go", "s1", isSidechain=True, agentId="a1")], f"{place}.jsonl")
    write_log(logs, [], f"{place}.meta.json")
    run_sync(logs, lake)
    write_log(logs, [b'{"agentType":"Plan"}'], f"{place}.meta.json")
    run_sync(logs, lake)
    assert rows(lake, "select agent_type from agents") == [("Plan",)]
    ask = "select count(*), count(distinct (file_id, generation)) from sidecars"
    assert len(set(rows(lake, ask)[0])) == 1


def test_a_flat_agent_file_waits_whole_until_it_names_its_session(logs: Path, lake: Path) -> None:
    log = write_log(logs, [b"oops\n"], f"{PROJECT}/agent-ab.jsonl")
    run_sync(logs, lake)
    assert rows(lake, "select session_id, pending from source_files") == [(None, b"oops\n")]
    append(log, user("go", "s1", isSidechain=True, agentId="ab"))
    run_sync(logs, lake)
    assert rows(lake, "select session_id, octet_length(pending) from source_files") == [
        (SESSION, 0)
    ]
    assert value(lake, "select count(*) from rejects") == 1


def test_a_config_directory_without_projects_holds_no_logs(tmp_path: Path, lake: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "history.jsonl").write_text('{"display":"hi"}\n')
    run = sync(Settings((projects_of(tmp_path / "config"),), lake, "laptop", 1))
    assert (run.exit_code(), run.files) == (0, 0)


def test_a_warehouse_without_its_current_is_read_all_the_same(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi")])
    run_sync(logs, lake)
    (lake / "current").unlink()
    assert value(lake, "select count(*) from entries") == 1
