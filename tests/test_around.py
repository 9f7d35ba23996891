"""The files around the logs: followed, merged with what was known, kept when they forget."""

import json
from pathlib import Path

import pytest

from etl.step import RunSummary
from tests.sessions import (
    PROJECT,
    SESSION,
    append,
    ask_everything,
    assistant,
    encoded,
    rows,
    run_sync,
    tool_result,
    tool_use,
    user,
    write_log,
)

PROMPTS = "select line_no, display from prompt_history order by generation, line_no"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    write_log(tmp_path / "logs", [user("Hi"), assistant()])
    return tmp_path / "logs"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def typed(display: str, second: int = 0) -> dict[str, object]:
    return {"display": display, "timestamp": 1_772_352_000_000 + second, "project": "/work"}


def put_json(path: Path, document: object) -> None:
    path.write_text(json.dumps(document))


def index(logs: Path, *sessions: str) -> None:
    entries = [{"sessionId": session, "firstPrompt": f"Ask {session}"} for session in sessions]
    put_json(logs / "projects" / PROJECT / "sessions-index.json", {"entries": entries})


def stats(logs: Path, **messages: int) -> None:
    days = [{"date": f"2026-03-{day[1:]}", "messageCount": n} for day, n in messages.items()]
    put_json(logs / "stats-cache.json", {"version": 2, "dailyActivity": days})


def told(run: RunSummary) -> list[tuple[str, str]]:
    return [*run.events, *run.problems]


def test_a_history_that_was_rewritten_leaves_an_account_that_comes_out(
    logs: Path, lake: Path
) -> None:
    (logs / "history.jsonl").write_bytes(encoded([typed("one"), typed("two", 1)]))
    run_sync(logs, lake)
    (logs / "history.jsonl").write_bytes(encoded([typed("two", 1), typed("three", 2)]))
    run_sync(logs, lake)
    assert rows(lake, PROMPTS) == [(1, "one"), (1, "two"), (2, "three")]
    assert ask_everything(lake) == []


def test_only_the_new_lines_of_the_prompt_history_are_read(logs: Path, lake: Path) -> None:
    append(logs / "history.jsonl", typed("one"), typed("two", 1))
    run_sync(logs, lake)
    append(logs / "history.jsonl", typed("three", 2), b'{"display":"half')
    run = run_sync(logs, lake)
    assert (run.files_read, run.lines, run.parts_written) == (1, 1, 0)
    assert rows(lake, PROMPTS) == [(1, "one"), (2, "two"), (3, "three")]
    assert run_sync(logs, lake).is_committed is False


def test_a_rewritten_prompt_history_keeps_what_was_and_doubles_nothing(
    logs: Path, lake: Path
) -> None:
    append(logs / "history.jsonl", typed("one"), typed("two", 1))
    run_sync(logs, lake)
    (logs / "history.jsonl").unlink()
    append(logs / "history.jsonl", typed("two", 1), typed("three", 2))
    run = run_sync(logs, lake)
    assert told(run) == [("history.jsonl", "rewritten")]
    assert rows(lake, PROMPTS) == [(1, "one"), (1, "two"), (2, "three")]


def test_a_line_of_the_prompt_history_that_is_no_object_is_kept_raw(logs: Path, lake: Path) -> None:
    append(logs / "history.jsonl", b"not json\n", b'{"display":"a"}{"display":"b"}\n', b"\n")
    assert run_sync(logs, lake).rejects == 1
    assert rows(lake, "select line_no, object_index, display, raw from prompt_history") == [
        (1, 0, None, b"not json"),
        (2, 0, "a", None),
        (2, 1, "b", None),
    ]


def test_prompts_outlive_their_history(logs: Path, lake: Path) -> None:
    append(logs / "history.jsonl", typed("one"))
    run_sync(logs, lake)
    (logs / "history.jsonl").unlink()
    assert told(run_sync(logs, lake)) == [("history.jsonl", "gone")]
    assert rows(lake, PROMPTS) == [(1, "one")]


def test_an_index_is_merged_with_what_it_once_said(logs: Path, lake: Path) -> None:
    index(logs, "s1", "s2")
    run_sync(logs, lake)
    index(logs, "s2", "s3")
    run_sync(logs, lake)
    assert rows(lake, "select session_id, first_prompt from session_index order by all") == [
        ("s1", "Ask s1"),
        ("s2", "Ask s2"),
        ("s3", "Ask s3"),
    ]


def test_statistics_keep_the_days_that_the_cache_forgets(logs: Path, lake: Path) -> None:
    stats(logs, d01=5, d02=6)
    run_sync(logs, lake)
    stats(logs, d02=7)
    run_sync(logs, lake)
    sql = "select day::varchar, message_count, payload from daily_stats order by day nulls last"
    assert rows(lake, sql) == [
        ("2026-03-01", 5, None),
        ("2026-03-02", 7, None),
        (None, None, '{"version":2}'),
    ]


def test_a_half_written_document_changes_nothing_and_is_read_later(logs: Path, lake: Path) -> None:
    stats(logs, d01=5)
    run_sync(logs, lake)
    (logs / "stats-cache.json").write_text('{"version":')
    assert told(run_sync(logs, lake)) == [("stats-cache.json", "is not one JSON object")]
    assert rows(lake, "select message_count from daily_stats where day is not null") == [(5,)]
    stats(logs, d01=8)
    run_sync(logs, lake)
    assert rows(lake, "select message_count from daily_stats where day is not null") == [(8,)]


def test_a_history_that_cannot_be_opened_is_a_problem(logs: Path, lake: Path) -> None:
    (logs / "history.jsonl").mkdir()
    run = run_sync(logs, lake)
    assert [problem for _, problem in run.problems] == ["skipped: not a regular file"]


def test_a_warehouse_of_typed_prompts_alone_can_be_read(tmp_path: Path, lake: Path) -> None:
    (tmp_path / "projects").mkdir()
    append(tmp_path / "history.jsonl", typed("one"))
    run_sync(tmp_path, lake)
    assert rows(lake, PROMPTS) == [(1, "one")]
    assert rows(lake, "select count(*) from turns") == [(0,)]


def test_long_outputs_are_listed_with_the_call_they_answer(logs: Path, lake: Path) -> None:
    stub = f"<persisted-output>\nFull output saved to: /home/ada/{'x' * 300}/b7x.txt\n\nPreview"
    write_log(
        logs,
        [
            user("Hi"),
            assistant(tool_use("toolu_1"), tool_use("toolu_2")),
            tool_result("toolu_1", stub, uuid="r1"),
        ],
    )
    folder = logs / "projects" / PROJECT / SESSION / "tool-results"
    folder.mkdir(parents=True)
    for name, size in (("b7x.txt", 9), ("toolu_2.json", 5), ("else.txt", 3)):
        (folder / name).write_bytes(b"x" * size)
    run_sync(logs, lake)
    sql = "select file_name, size, tool_use_id, link_rule from tool_result_files order by all"
    assert rows(lake, sql) == [
        ("b7x.txt", 9, "toolu_1", "output"),
        ("else.txt", 3, None, None),
        ("toolu_2.json", 5, "toolu_2", "name"),
    ]
    (folder / "else.txt").write_bytes(b"longer")
    run = run_sync(logs, lake)
    assert (run.is_committed, run.parts_written) == (True, 0)
    assert rows(lake, sql)[1] == ("else.txt", 6, None, None)
