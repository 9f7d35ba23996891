"""One run and the next: what a sync reads, keeps, links and leaves alone."""

import os
import random
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import polars as pl

from etl import views
from etl.chain import StoredFile
from etl.commit import Warehouse
from etl.config import Settings
from etl.demo import write_tree
from etl.pipeline import sync
from etl.tables import ALL_TABLES, LOGICAL, PART_TABLES
from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    append,
    assistant,
    encoded,
    rows,
    run_sync,
    text,
    tool_result,
    tool_use,
    user,
    value,
    write_log,
)

OTHER = "22222222-2222-4222-8222-222222222222"
AGENT_PATH = f"{PROJECT}/{SESSION}/subagents/agent-a1b2.jsonl"
META_PATH = f"{PROJECT}/{SESSION}/subagents/agent-a1b2.meta.json"


def stored(lake: Path) -> dict[str, StoredFile]:
    return {file.published_path(): file for file in Warehouse(lake).load().files}


def lines_of_an_agent() -> list[Line]:
    mine = {"isSidechain": True, "agentId": "a1b2"}
    return [
        user("Look around", "s1", 2, **mine),
        assistant(
            uuid="s2", second=3, message_id="msg_s", request="req_s", stop="end_turn", **mine
        ),
    ]


def lines_that_start_an_agent() -> list[Line]:
    return [
        user("Find it", "u1", 0),
        assistant(tool_use("toolu_task", "Task", prompt="Look around")),
    ]


def answer_of_the_agent() -> Line:
    result = {"status": "completed", "agentId": "a1b2", "content": [text("Found.")]}
    return tool_result("toolu_task", "Found.", second=9, toolUseResult=result)


def test_a_torn_tail_waits_and_is_read_once_it_is_complete(logs: Path, lake: Path) -> None:
    last = encoded([assistant(stop="end_turn")])
    log = write_log(logs, [user("hi"), last[:-20]])
    first = run_sync(logs, lake)
    assert (first.lines, first.rejects) == (1, 0)
    assert value(lake, "select pending from source_files") == last[:-20]
    assert value(lake, "select count(*) from raw.entries") == 1

    append(log, last[-20:])
    second = run_sync(logs, lake)
    assert (second.lines, second.bytes, second.rejects) == (1, len(last), 0)
    assert value(lake, "select pending from source_files") == b""
    assert rows(lake, "select line_no, uuid from raw.entries order by all") == [
        (1, "u1"),
        (2, "a1"),
    ]
    assert value(lake, 'select "offset" from source_files') == log.stat().st_size


def test_a_file_without_one_whole_line_waits_without_a_part(logs: Path, lake: Path) -> None:
    whole = encoded([user("hi")])
    log = write_log(logs, [whole[:-1]])
    run_sync(logs, lake)
    assert rows(lake, "select pending, part from source_files") == [(whole[:-1], None)]
    assert value(lake, "select count(*) from raw.entries") == 0

    append(log, b"\n")
    run_sync(logs, lake)
    assert rows(lake, "select pending, part from source_files") == [(b"", 1)]
    assert value(lake, "select uuid from raw.entries") == "u1"


def test_syncing_again_makes_no_commit(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi"), assistant()])
    first = run_sync(logs, lake)
    again = run_sync(logs, lake)
    assert (first.is_committed, first.commit) == (True, 1)
    assert (again.is_committed, again.commit, again.bytes) == (False, 1, 0)
    assert Warehouse(lake).commit_numbers() == [1]
    assert value(lake, "select count(*) from sync_runs") == 1


def test_touching_a_file_makes_no_commit(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi"), assistant()])
    run_sync(logs, lake)
    os.utime(log, ns=(1, 1))
    again = run_sync(logs, lake)
    assert not again.is_committed
    assert Warehouse(lake).commit_numbers() == [1]


def test_a_final_usage_line_of_a_later_run_replaces_the_placeholder(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi"), assistant(output=1)])
    run_sync(logs, lake)
    ask = "select output_tokens, output_is_final from usage"
    assert rows(lake, ask) == [(1, False)]
    append(log, encoded([assistant(uuid="a2", second=2, output=420, stop="end_turn")]))
    run_sync(logs, lake)
    assert rows(lake, ask) == [(420, True)]
    assert rows(lake, "select output_tokens from raw.usage") == [(420,)]


def test_a_call_is_answered_by_a_line_of_a_later_run(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi"), assistant(tool_use())])
    run_sync(logs, lake)
    assert value(lake, "select answered_at from tool_calls") is None
    append(log, encoded([tool_result(second=4)]))
    run_sync(logs, lake)
    assert rows(lake, "select duration_ms, is_error from tool_calls") == [(3000, False)]


def test_an_agent_file_synced_before_its_main_file_links_to_its_turn_later(
    logs: Path, lake: Path
) -> None:
    write_log(logs, lines_of_an_agent(), AGENT_PATH)
    run_sync(logs, lake)
    ask = "select session_id, tool_use_id, link_rule, turn_id from agents"
    assert rows(lake, ask) == [(SESSION, None, None, None)]

    write_log(logs, [*lines_that_start_an_agent(), answer_of_the_agent()])
    run_sync(logs, lake)
    assert rows(lake, ask) == [(SESSION, "toolu_task", "result", "u1")]
    assert value(lake, "select turn_id from usage where agent_id = 'a1b2'") == "u1"
    assert value(lake, "select count(distinct part) from source_files") == 1


def test_a_flat_agent_file_goes_to_the_session_it_names(logs: Path, lake: Path) -> None:
    write_log(logs, lines_of_an_agent(), f"{PROJECT}/agent-a1b2.jsonl")
    write_log(logs, [*lines_that_start_an_agent(), answer_of_the_agent()])
    run_sync(logs, lake)
    assert rows(lake, "select session_id, layout, turn_id from agents") == [(SESSION, "flat", "u1")]
    assert value(lake, "select count(distinct session_id) from source_files") == 1


def test_a_sidecar_that_comes_later_links_the_agent(logs: Path, lake: Path) -> None:
    write_log(logs, lines_that_start_an_agent())
    write_log(logs, lines_of_an_agent(), AGENT_PATH)
    run_sync(logs, lake)
    ask = "select agent_type, tool_use_id, link_rule, turn_id from agents"
    assert rows(lake, ask) == [(None, "toolu_task", "prompt", "u1")]
    meta = b'{"agentType":"Explore","description":"Look","toolUseId":"toolu_task"}'
    write_log(logs, [meta], META_PATH)
    run_sync(logs, lake)
    assert rows(lake, ask) == [("Explore", "toolu_task", "meta", "u1")]
    assert rows(lake, "select spawned_agent_id from tool_calls") == [("a1b2",)]


def test_a_sidecar_that_comes_first_waits_for_its_session(logs: Path, lake: Path) -> None:
    write_log(logs, [b'{"agentType":"Explore","toolUseId":"toolu_task"}'], META_PATH)
    assert run_sync(logs, lake).exit_code() == 0
    assert value(lake, "select count(*) from sidecars") == 0
    write_log(logs, lines_that_start_an_agent())
    write_log(logs, lines_of_an_agent(), AGENT_PATH)
    run_sync(logs, lake)
    assert rows(lake, "select agent_type, link_rule, turn_id from agents") == [
        ("Explore", "meta", "u1")
    ]


def test_a_resumed_copy_under_a_new_session_id_changes_no_total(logs: Path, lake: Path) -> None:
    lines = [
        user("hi"),
        assistant(tool_use(), output=70),
        tool_result(),
        assistant(uuid="a2", second=3, message_id="msg_2", request="req_2", stop="end_turn"),
    ]
    write_log(logs, lines)
    run_sync(logs, lake)
    totals = """
        select
            (select count(*) from usage) as responses,
            (select sum(output_tokens)::bigint from daily_spend) as output_tokens,
            (select count(*) from turns) as turns,
            (select count(*) from tool_calls) as calls,
            (select count(*) from messages) as messages,
            (select count(*) from entries) as entries
    """
    before = rows(lake, totals)
    assert before == [(2, 80, 1, 1, 4, 4)]
    copies = [line | {"sessionId": OTHER} for line in lines]
    write_log(logs, copies, f"{PROJECT}/{OTHER}.jsonl")
    run_sync(logs, lake)
    assert value(lake, "select count(*) from raw.entries") == 8
    assert rows(lake, totals) == before


def test_appending_a_line_rewrites_one_part_and_nothing_else(logs: Path, lake: Path) -> None:
    first = assistant(uuid="a0", message_id="msg_0", request="req_0")
    log = write_log(logs, [user("march"), first])
    april = user("april", "u2", sessionId=OTHER, timestamp="2026-04-01T08:00:00.000Z")
    write_log(logs, [april], f"{PROJECT}/{OTHER}.jsonl")
    run_sync(logs, lake)
    before = stored(lake)
    append(log, encoded([assistant()]))
    run = run_sync(logs, lake)
    after = stored(lake)
    changed = {path for path in after if before[path].name != after[path].name}
    assert before.keys() == after.keys()
    assert run.parts_written == 1
    assert {path for path in changed if "month=" in path} == {
        path for path in after if "month=2026-03" in path
    }
    assert {path for path in changed if "month=" not in path} == {
        "source_files/source_files.parquet",
        "sync_runs/sync_runs.parquet",
    }
    assert len([path for path in after if "month=2026-04" in path]) == len(PART_TABLES)


def frames_of(lake: Path, names: Iterable[str]) -> dict[str, pl.DataFrame]:
    """Return whole tables or views, ordered, over one connection: making the views takes time."""
    with closing(views.connect(Warehouse(lake), time_zone="UTC")) as con:
        return {name: con.sql(f"select * from {name} order by all").pl() for name in names}  # noqa: S608


def physical_rows(lake: Path) -> dict[str, pl.DataFrame]:
    schemas = {table.name: "raw" for table in LOGICAL}
    books = {"source_files", "sync_runs"}
    names = [table.name for table in ALL_TABLES if table.name not in books]
    return frames_of(lake, [f"{schemas.get(name, 'main')}.{name}" for name in names])


def test_two_workers_give_the_same_rows_as_one(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write_tree(tree, megabytes=0.2, seed=3)
    for jobs in (1, 2):
        run = run_sync(tree, tmp_path / f"lake{jobs}", jobs=jobs)
        assert run.parts_written > 1
    with ThreadPoolExecutor(2) as pool:
        settings = Settings((tree / "projects",), tmp_path / "lake3", "laptop", 1, (tree,))
        sync(settings, executor=pool)
    alone = physical_rows(tmp_path / "lake1")
    assert len(alone["raw.entries"]) > 100
    for lake in ("lake2", "lake3"):
        for name, frame in physical_rows(tmp_path / lake).items():
            assert frame.equals(alone[name]), name


def test_a_tree_synced_in_steps_equals_a_tree_synced_once(tmp_path: Path) -> None:
    tree, growing = tmp_path / "tree", tmp_path / "growing"
    write_tree(tree, megabytes=0.2, seed=4)
    dice = random.Random(4)  # noqa: S311 - a test's cuts, not a secret
    files = sorted(path for path in (tree / "projects").rglob("*") if path.is_file())
    whole = {path.relative_to(tree): path.read_bytes() for path in files}
    cuts = {name: sorted(dice.choices(range(len(held) + 1), k=2)) for name, held in whole.items()}
    for step in range(3):
        for name, held in whole.items():
            until = [*cuts[name], len(held)][step]
            if name.suffix == ".json" and step < 2:
                continue
            (growing / name).parent.mkdir(parents=True, exist_ok=True)
            (growing / name).write_bytes(held[:until])
        assert run_sync(growing, tmp_path / "steps").exit_code() == 0
    run_sync(tree, tmp_path / "once")
    names = [table.name for table in LOGICAL] + ["turns", "daily_spend", "rejects"]
    once = frames_of(tmp_path / "once", names)
    for view, frame in frames_of(tmp_path / "steps", names).items():
        assert frame.equals(once[view]), view


def test_a_run_says_what_it_did_in_the_list_of_runs(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi"), b"nonsense\n"])
    run = run_sync(logs, lake)
    ask = "select run_id, source, files, files_read, bytes, lines, entries, rejects from sync_runs"
    assert rows(lake, ask) == [(run.run_id, "laptop", 1, 1, log.stat().st_size, 2, 1, 1)]
