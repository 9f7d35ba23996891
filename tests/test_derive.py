"""Derived tables: typed as declared, one row a grain, the same whoever shares the part."""

from collections.abc import Iterable
from pathlib import Path

import duckdb
import pytest

from etl import engine, workers
from etl.derive import derive
from etl.facts import FactBatch, Facts
from etl.follow import Origin, Tally
from etl.tables import DERIVED, FACTS
from tests.sessions import Line, assistant, compaction, encoded, text, tool_result, tool_use, user

Rows = list[dict[str, object]]
Log = tuple[Origin, list[Line | bytes]]

# What there is one row of in a file and its generation.
GRAINS = {
    "messages": ("role", "key"),
    "usage": ("key",),
    "tool_calls": ("tool_use_id",),
    "agents": ("session_id", "agent_id"),
    "compactions": ("key",),
}
DEEP: Line = {"isSidechain": True, "agentId": "deep"}


def file(
    name: str, session: str = "one", *, agent_id: str | None = None, layout: str = "main"
) -> Origin:
    """An origin: a main file, or an agent's if `agent_id` is given."""
    return Origin(name, 0, session, agent_id, "subagents" if agent_id else layout)


def facts_of(logs: Iterable[Log], sidecars: Iterable[tuple[Origin, bytes]] = ()) -> Facts:
    batch = FactBatch()
    for origin, lines in logs:
        batch.add_lines(origin, 0, encoded(lines), Tally())
    for origin, content in sidecars:
        batch.add_sidecar(origin, "agent.meta.json", content)
    return batch.take()


def narrow(facts: Facts) -> Facts:
    """Leave the long texts out, as a build does."""
    return {table.name: facts[table.name].select(table.narrow_names()) for table in FACTS}


def derived(logs: Iterable[Log], sidecars: Iterable[tuple[Origin, bytes]] = ()) -> dict[str, Rows]:
    return {
        name: rows.to_pylist() for name, rows in derive(narrow(facts_of(logs, sidecars))).items()
    }


def session(name: str, second: int) -> list[Log]:
    """A session with everything: a streamed response, calls, an agent, a compaction."""
    starts = {"sessionId": name, "cwd": f"/home/ada/{name}"}
    ids = {"message_id": f"msg_{name}", "request": f"req_{name}"}
    main: list[Line | bytes] = [
        user("Count", f"u-{name}", second, **starts),
        assistant(text("Well"), uuid=f"a-{name}", second=second + 1, output=1, **ids, **starts),
        assistant(
            tool_use(f"task-{name}", "Task", prompt="Count"),
            uuid=f"b-{name}",
            second=second + 2,
            output=50,
            stop="tool_use",
            **ids,
            **starts,
        ),
        tool_result(
            f"task-{name}",
            uuid=f"r-{name}",
            second=second + 9,
            toolUseResult={"agentId": "deep"},
        ),
        compaction(f"c-{name}", second + 10),
        user("This session is being continued", f"k-{name}", second + 10, isCompactSummary=True),
        user("Goodbye", f"v-{name}", second + 20, **starts),
    ]
    agent: list[Line | bytes] = [
        user("Count", f"s-{name}", second + 3, **DEEP),
        assistant(
            tool_use(f"ls-{name}"),
            uuid=f"t-{name}",
            second=second + 4,
            message_id=f"msg_s_{name}",
            request=f"req_s_{name}",
            **DEEP,
        ),
    ]
    return [
        (file(f"main-{name}", name), main),
        (file(f"agent-{name}", name, agent_id="deep"), agent),
    ]


def test_what_memory_cannot_hold_lies_in_staging_alone_and_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staging = tmp_path / "staging"
    staging.mkdir()
    monkeypatch.chdir(tmp_path)
    spill_below = engine.spill_below
    seen: list[Path] = []

    def spill_at_once(con: duckdb.DuckDBPyConnection, folder: Path) -> Path:
        place = spill_below(con, folder)
        con.execute("set memory_limit = '32MB'")
        con.execute("create temp table large as select md5(range::varchar) from range(900000)")
        con.execute("set memory_limit = '1GB'")
        seen.extend(path.parent for path in tmp_path.rglob("*.tmp"))
        return place

    monkeypatch.setattr(engine, "spill_below", spill_at_once)
    facts = narrow(facts_of(session("one", 0)))
    for _ in range(2):
        assert derive(facts, staging)["usage"].num_rows
        assert {place.parent for place in seen} == {staging}
        assert list(tmp_path.rglob("*")) == [staging]
        seen.clear()


SESSIONS = ("one", "two", "three")


@pytest.mark.parametrize("is_full", [True, False], ids=["full", "empty"])
def test_tables_are_typed_as_declared_with_rows_and_without(*, is_full: bool) -> None:
    facts = narrow(facts_of(session("one", 0) if is_full else []))
    found = dict(derive(facts))
    assert list(found) == [table.name for table in DERIVED]
    for table in DERIVED:
        assert found[table.name].schema == table.schema()
        assert bool(found[table.name].num_rows) == is_full


def test_derived_tables_need_none_of_the_long_texts() -> None:
    facts = facts_of(session("one", 0))
    assert {name: rows.to_pylist() for name, rows in derive(facts).items()} == derived(
        session("one", 0)
    )


def copies_and_repeats() -> list[Log]:
    """A file that repeats its lines, its older generation, and a byte copy of it elsewhere."""
    (main, lines), agent = session("one", 0)
    again = Origin(main.file_id, 1, main.session_id, None, "main")
    copy = Origin("a-copy", 0, main.session_id, None, "main")
    return [(main, [*lines, *lines]), (again, lines), (copy, lines), agent, *session("two", 50)]


@pytest.mark.parametrize("table", GRAINS)
def test_a_file_has_one_row_a_grain_also_where_lines_stand_again(table: str) -> None:
    rows = derived(copies_and_repeats())[table]
    grains = [
        tuple(row[name] for name in ("file_id", "generation", *GRAINS[table])) for row in rows
    ]
    assert len(rows) >= 2
    assert len(set(grains)) == len(grains)


def test_lines_that_stand_again_in_their_file_change_no_row() -> None:
    (main, lines), agent = session("one", 0)
    once, twice = derived([(main, lines), agent]), derived([(main, [*lines, *lines]), agent])
    assert twice == once


def test_several_sessions_in_a_part_give_the_rows_of_each_alone() -> None:
    logs = {name: session(name, 100 * at) for at, name in enumerate(SESSIONS)}
    together = derived([log for name in SESSIONS for log in logs[name]])
    alone = [derived(logs[name]) for name in SESSIONS]
    for table in DERIVED:
        expected = [row for one in alone for row in one[table.name]]
        assert sorted(map(repr, together[table.name])) == sorted(map(repr, expected))


def test_rows_say_where_their_first_line_stands() -> None:
    found = derived(session("one", 0))
    response = next(row for row in found["usage"] if row["agent_id"] is None)
    assert (response["file_id"], response["line_no"], response["object_index"]) == (
        "main-one",
        2,
        0,
    )
    (agent,) = found["agents"]
    assert (agent["file_id"], agent["line_no"], agent["byte_start"]) == ("agent-one", 1, 0)


def test_a_turn_goes_from_one_prompt_to_the_next_in_file_order() -> None:
    logs: list[Log] = [
        (
            file("f"),
            [
                assistant(uuid="a0", second=99, message_id="m0", request="q0"),
                user("First", "u1", 50),
                assistant(uuid="a1", second=2, message_id="m1", request="q1"),
                user("Second", "u2", 1),
                assistant(uuid="a2", second=51, message_id="m2", request="q2"),
            ],
        )
    ]
    turns = {row["message_id"]: row["turn_id"] for row in derived(logs)["usage"]}
    assert turns == {"m0": None, "m1": "u1", "m2": "u2"}


def test_a_copied_prompt_begins_the_turn_of_the_original() -> None:
    origin = {"sessionId": "old", "messageUuid": "u-old"}
    lines: list[Line | bytes] = [
        user("Hi", "u-new", forkedFrom=origin),
        assistant(sessionId="one"),
    ]
    found = derived([(file("f"), lines)])
    assert [row["turn_id"] for row in found["usage"]] == ["u-old"]
    assert [row["key"] for row in found["messages"]] == ["u-old", "msg_1:req_1"]
    assert [row["is_forked"] for row in found["messages"]] == [True, False]


@pytest.mark.parametrize(
    ("ids", "key"),
    [
        ({"message_id": "m", "request": "q"}, "m:q"),
        ({"message_id": "m", "request": None}, "m@1772352001000000"),
        ({"message_id": None, "request": None}, "a1"),
    ],
    ids=["both", "no_request", "neither"],
)
def test_a_response_is_keyed_by_what_it_has(ids: dict[str, str], key: str) -> None:
    found = derived([(file("f"), [assistant(uuid="a1", second=1, **ids)])])
    assert [row["key"] for row in found["usage"]] == [key]
    assert [row["key"] for row in found["messages"]] == [key]


def test_files_set_aside_give_no_derived_row() -> None:
    (_, lines), _ = session("one", 0)
    found = derived([(file("f", layout="other"), lines)])
    assert found == {table.name: [] for table in DERIVED}


def test_a_side_thread_inside_a_main_file_begins_no_turn() -> None:
    side: list[Line | bytes] = [
        user("Go", "u1"),
        user("Look around", "s1", isSidechain=True),
        assistant(uuid="s2", isSidechain=True),
        compaction("c1") | {"isSidechain": True},
    ]
    found = derived([(file("f"), side)])
    assert [(row["turn_id"], row["is_sidechain"]) for row in found["usage"]] == [("u1", True)]
    assert found["compactions"] == []
    agents = [(row["agent_id"], row["layout"], row["line_count"]) for row in found["agents"]]
    assert agents == [("s1", "inline", 3)]
    assert [(row["turn_id"], row["link_rule"]) for row in found["agents"]] == [("u1", None)]


# ---- Lines that stand again, stand elsewhere, or have no name.


def nameless(line: Line) -> Line:
    return {name: value for name, value in line.items() if name != "uuid"}


def test_lines_without_a_uuid_are_told_by_their_bytes_and_how_many_came_before() -> None:
    lines: list[Line | bytes] = [
        nameless(user("Hi")),
        nameless(user("Hi")),
        nameless(assistant(text("Well"), second=1)),
        nameless(assistant(text("Done"), second=2)),
        nameless(compaction(second=3)),
        nameless(compaction(second=4)),
    ]
    once, copy = derived([(file("f"), lines)]), derived([(file("copy"), lines)])
    assert [row["role"] for row in once["messages"]] == ["user", "user", "assistant"]
    assert once["messages"][2]["line_count"] == once["usage"][0]["line_count"] == 2
    assert len({row["key"] for row in once["compactions"]}) == 2
    for name in ("messages", "compactions"):
        assert [row["key"] for row in once[name]] == [row["key"] for row in copy[name]]


def test_history_appended_again_under_new_uuids_adds_no_line_and_no_block() -> None:
    response = [
        assistant(text("Well"), uuid="a1", second=1),
        assistant(tool_use("toolu_1"), uuid="a2", second=2),
    ]
    again = [line | {"uuid": f"again-{line['uuid']}"} for line in response]
    found = derived([(file("f"), [*response, *again])])
    (message,), (usage,) = found["messages"], found["usage"]
    assert (message["line_count"], message["text_blocks"], message["tool_use_blocks"]) == (2, 1, 1)
    assert usage["line_count"] == 2
    assert len(found["tool_calls"]) == 1


def test_an_answer_that_only_the_rewritten_log_has_answers_the_older_call() -> None:
    older, newer = file("f"), Origin("f", 1, "one", None, "main")
    (call,) = derived([(older, [assistant(tool_use())]), (newer, [tool_result(is_error=True)])])[
        "tool_calls"
    ]
    assert (call["generation"], call["is_error"], call["duration_ms"]) == (0, True, 1000)


def test_a_boundary_that_stands_again_in_its_file_is_one_row() -> None:
    found = derived([(file("f"), [compaction("c1"), compaction("c1"), compaction("c2")])])
    assert [row["uuid"] for row in found["compactions"]] == ["c1", "c2"]


def test_a_summary_belongs_to_the_boundary_right_before_it() -> None:
    summary = user("x" * 30, "s1", isCompactSummary=True)
    found = derived([(file("f"), [compaction("c1"), compaction("c2"), summary])])
    assert [row["summary_chars"] for row in found["compactions"]] == [None, 30]


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_a_session_of_two_folders_began_where_its_first_instant_was(names: tuple[str, str]) -> None:
    first, later = names
    logs: list[Log] = [
        (file(later), [user("On", "u2", 60, cwd="/second"), assistant(second=61)]),
        (file(first), [user("Hi", "u1", 0, cwd="/first")]),
    ]
    assert [row["project"] for row in derived(logs)["usage"]] == ["/first"]


def test_an_answer_in_another_session_of_the_part_is_not_taken() -> None:
    unanswered: Log = (file("f", "one"), [assistant(tool_use())])
    copy: Log = (file("g", "two"), [assistant(tool_use()), tool_result()])
    calls = derived([unanswered, copy])["tool_calls"]
    assert [(row["session_id"], row["is_error"]) for row in calls] == [
        ("one", None),
        ("two", False),
    ]


def rows_derived(name: str) -> int:
    """Derive a small session, as a worker does."""
    return sum(map(len, derived(session(name, 0)).values()))


def test_a_worker_forked_from_a_process_that_derived_many_parts_derives_as_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("etl.derive._PARTS_A_DATABASE", 1)
    names = ["one", "two", "three"]
    expected = [rows_derived(name) for name in names]
    assert list(workers.run(rows_derived, names, processes=2)) == expected
