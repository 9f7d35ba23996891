"""Lines and logs that crashes, editors and copies have left: all read, none fatal, none lost."""

import json
from pathlib import Path

import pytest

from etl.commit import Warehouse
from etl.restore import restore
from tests.plain_count import objects_in
from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    ask_everything,
    assistant,
    at,
    encoded,
    rows,
    run_sync,
    tool_result,
    tool_use,
    user,
    value,
    write_log,
)

OTHER = "22222222-2222-4222-8222-222222222222"
MARK = b"\xef\xbb\xbf"
NULS = b"\0" * 4096


def bare(line: Line) -> bytes:
    """Return a line without its newline."""
    return encoded([line]).rstrip(b"\n")


def ids_of(lake: Path) -> list[str]:
    ask = "select uuid from raw.entries order by file_id, line_no, object_index"
    return [uuid for (uuid,) in rows(lake, ask)]


# ---- Bytes.


@pytest.mark.slow
def test_a_line_of_more_than_a_hundred_megabytes_is_an_entry(logs: Path, lake: Path) -> None:
    words = "kiln " * 20_500_000
    log = write_log(logs, [user("hi"), tool_result(content=words, toolUseResult={}), assistant()])
    assert log.stat().st_size > 100_000_000
    run = run_sync(logs, lake)
    log.unlink()
    assert (run.problems, run.entries, run.rejects) == ([], 3, 0)
    ask = f"select text_chars, text = repeat('kiln ', {len(words) // 5}) from raw.content_blocks"  # noqa: S608
    assert rows(lake, f"{ask} where block_type = 'tool_result'") == [(len(words), True)]


def test_lines_that_end_in_the_windows_way_are_entries_and_keep_no_bytes(
    logs: Path, lake: Path
) -> None:
    write_log(logs, [bare(user("hi", f"u{n}")) + b"\r\n" for n in range(3)] + [b"\r\n"])
    run = run_sync(logs, lake)
    assert (run.entries, run.rejects) == (3, 0)
    assert rows(lake, "select count(raw), count(distinct uuid) from raw.entries") == [(0, 3)]
    assert ask_everything(lake) == []


DAMAGED = [
    MARK + bare(user("marked", "mark")),
    NULS + bare(user("after a crash", "head")),
    bare(user("before a crash", "tail")) + NULS,
    bare(user("one", "first")) + NULS + bare(user("two", "second")),
    NULS + MARK + bare(user("both", "both")) + b"\r",
    b'{"type":"user","uuid":"half","cwd":"/kiln/\\ud83d"}',
    b'{"type":"user","uuid":"latin","cwd":"/t\xf6pfe"}',
    b'{"type":"user","uuid":"old","uuid":"twice"}',
]
READ = ["mark", "head", "tail", "first", "second", "both", "half", "latin", "twice"]


def test_nul_bytes_and_marks_are_stripped_and_the_line_is_kept_as_it_was(
    logs: Path, lake: Path, tmp_path: Path
) -> None:
    write_log(logs, [line + b"\n" for line in [*DAMAGED, bare(user("sound", "sound"))]])
    run = run_sync(logs, lake)
    assert (run.problems, run.rejects) == ([], 0)
    assert ids_of(lake) == [*READ, "sound"]
    kept = rows(lake, "select distinct line_no, raw from raw.entries where raw is not null")
    assert sorted(kept) == list(enumerate(DAMAGED, 1))
    assert ask_everything(lake) == []
    (file,) = restore(Warehouse(lake), SESSION, tmp_path / "back")
    assert (tmp_path / "back" / file.path).read_bytes().split(b"\n")[: len(DAMAGED)] == DAMAGED


def test_a_line_of_nothing_but_nul_bytes_is_a_reject(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi"), NULS + b"\n", MARK + b"\n", assistant()])
    run = run_sync(logs, lake)
    assert (run.entries, run.rejects) == (2, 2)
    ask = "select line_no, reason, raw from rejects order by all"
    assert rows(lake, ask) == [(2, "not_an_object", NULS), (3, "not_an_object", MARK)]


def test_two_objects_glued_on_one_line_are_two_entries(
    logs: Path, lake: Path, tmp_path: Path
) -> None:
    glued = [bare(user("one", "u1")), bare(assistant(uuid="a1")), b"\n"]
    write_log(logs, [*glued, user("two", "u2")])
    assert (run_sync(logs, lake).entries, ids_of(lake)) == (3, ["u1", "a1", "u2"])
    assert rows(lake, "select turn_id, api_calls from turns order by all") == [("u1", 1), ("u2", 0)]
    (file,) = restore(Warehouse(lake), SESSION, tmp_path / "back")
    first, second = (tmp_path / "back" / file.path).read_bytes().splitlines()
    assert objects_in(first) == [user("one", "u1"), assistant(uuid="a1")]
    assert objects_in(second) == [user("two", "u2")]


# ---- Sense.


def test_a_log_of_two_sessions_belongs_to_the_one_it_is_named_for(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi", "u1", sessionId=OTHER), assistant(), user("ho", "u2", 9)])
    run_sync(logs, lake)
    ask = (
        "select session_id, logged_session_id, count(*) from raw.entries group by all order by all"
    )
    assert rows(lake, ask) == [(SESSION, SESSION, 2), (SESSION, OTHER, 1)]
    assert rows(lake, "select session_id, turns from sessions") == [(SESSION, 2)]
    assert ask_everything(lake) == []


def test_the_order_is_that_of_the_lines_where_time_steps_back(logs: Path, lake: Path) -> None:
    lines = [user("hi", "u1", 50), assistant(second=40), user("ho", "u2", 30)]
    write_log(logs, [*lines, assistant(uuid="a2", second=10, message_id="m2", request="r2")])
    run_sync(logs, lake)
    assert rows(lake, "select turn_id, api_calls from turns order by all") == [("u1", 1), ("u2", 1)]
    ask = "select started_at <= ended_at, strftime(started_at, '%M:%S') from sessions"
    assert rows(lake, ask) == [(True, at(10)[14:19])]
    assert ask_everything(lake) == []


def test_parents_that_dangle_or_go_round_in_a_circle_are_only_kept(logs: Path, lake: Path) -> None:
    parents = {"u1": "nobody", "u2": "u2", "u3": "u4", "u4": "u5", "u5": "u3", "u6": ""}
    lines = [
        user("hi", uuid, parentUuid=parent, logicalParentUuid=uuid)
        for uuid, parent in parents.items()
    ]
    write_log(logs, lines)
    run_sync(logs, lake)
    assert dict(rows(lake, "select uuid, parent_uuid from entries")) == parents
    assert value(lake, "select count(*) from turns") == len(parents)
    assert ask_everything(lake) == []


def test_agents_that_start_each_other_in_a_circle_end_in_no_turn(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi"), assistant()])
    for agent, other in (("a", "b"), ("b", "a"), ("c", "c")):
        place: Line = {"isSidechain": True, "agentId": agent}
        ids: Line = {"message_id": f"m-{agent}", "request": f"r-{agent}"}
        call = tool_use(f"toolu_{other}", "Agent", prompt="Go")
        lines = [
            user("Go", f"u-{agent}", **place),
            assistant(call, uuid=f"a-{agent}", **ids, **place),
        ]
        path = f"{PROJECT}/{SESSION}/subagents/agent-{agent}"
        write_log(logs, lines, f"{path}.jsonl")
        meta = {"toolUseId": f"toolu_{agent}", "parentAgentId": other}
        write_log(logs, [json.dumps(meta).encode()], f"{path}.meta.json")
    assert run_sync(logs, lake).problems == []
    ask = "select agent_id, parent_agent_id, turn_id from agents order by all"
    assert rows(lake, ask) == [("a", "b", None), ("b", "a", None), ("c", "c", None)]
    assert ask_everything(lake) == []
