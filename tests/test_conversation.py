"""How lines make turns, messages and calls, and which call an agent is told with."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from etl.commit import Warehouse
from etl.conversation import Agent, Call, Compaction, Conversation, Item, Message, Words
from etl.reading import conversation_of
from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    assistant,
    compaction,
    envelope,
    run_sync,
    text,
    tool_result,
    tool_use,
    user,
    write_log,
)

Logs = dict[str | None, list[Line | bytes]]
Read = Callable[[Logs], Conversation]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """What reads a session of a main log (None) and logs of agents."""

    def read_logs(logs: Logs) -> Conversation:
        for agent, lines in logs.items():
            path = agent and f"{PROJECT}/{SESSION}/subagents/agent-{agent}.jsonl"
            write_log(tmp_path / "logs", lines, path)
        run_sync(tmp_path / "logs", tmp_path / "lake")
        return conversation_of(Warehouse(tmp_path / "lake"), SESSION, time_zone="UTC")

    return read_logs


def asking(call: str, agent: str, number: int, *, inside: str | None = None) -> list[Line | bytes]:
    """Return the lines of a call that starts an agent, in the main log or inside another agent."""
    side: dict[str, Any] = {"isSidechain": True, "agentId": inside} if inside else {}
    ids: dict[str, Any] = {
        "uuid": f"a{number}",
        "message_id": f"m{number}",
        "request": f"r{number}",
    }
    called = assistant(
        tool_use(call, "Task", prompt=f"For {agent}"), second=number, stop="tool_use", **ids, **side
    )
    answered = tool_result(
        call,
        "done",
        uuid=f"r{number}",
        second=number + 1,
        toolUseResult={"agentId": agent},
        **side,
    )
    return [called, answered]


def prompted(agent: str) -> Line:
    return user(f"For {agent}", f"p-{agent}", 1, isSidechain=True, agentId=agent)


def parts_of(items: list[Item]) -> list[Words | Call]:
    return [part for item in items if isinstance(item, Message) for part in item.parts]


def words_of(items: list[Item]) -> list[str | None]:
    return [part.text for part in parts_of(items) if isinstance(part, Words)]


def calls_of(items: list[Item]) -> list[Call]:
    return [part for part in parts_of(items) if isinstance(part, Call)]


def test_the_lines_of_a_response_are_one_message_and_a_call_has_its_answer(read: Read) -> None:
    lines: list[Line | bytes] = [
        user("Hi"),
        assistant(text("First"), uuid="a1", second=1),
        assistant(tool_use("t1"), uuid="a2", second=2, stop="tool_use"),
        tool_result("t1", "ok", uuid="r1", second=3),
        assistant(text("Last"), uuid="a3", second=4),
    ]
    (turn,) = read({None: lines}).turns()
    assert [type(item) for item in turn.items] == [Message, Message]
    assert [type(part) for part in parts_of(turn.items[1:])] == [Words, Call, Words]
    (call,) = calls_of(turn.items)
    assert (call.outcome, call.result, call.duration_ms) == ("ok", "ok", 1000)
    assert words_of(turn.items) == ["Hi", "First", "Last"]


def test_a_response_that_goes_on_after_the_next_prompt_stands_on_both_sides(read: Read) -> None:
    queued = {"type": "queued_command", "prompt": "Wait"}
    lines: list[Line | bytes] = [
        user("Hi"),
        assistant(text("Before"), uuid="a1", second=1),
        envelope("attachment", "q1", 2, attachment=queued),
        assistant(text("After"), uuid="a2", second=3),
    ]
    first, second = read({None: lines}).turns()
    assert words_of(first.items) == ["Hi", "Before"]
    assert (second.prompt, second.prompt_kind) == ("Wait", "queued")
    assert words_of(second.items) == ["Wait", "After"]


def test_a_result_without_its_call_and_what_stands_before_the_first_prompt_are_there(
    read: Read,
) -> None:
    lines: list[Line | bytes] = [
        tool_result("gone", "from before", uuid="r0", second=0),
        compaction("c1", second=1),
        user("Hi", "u1", 2),
    ]
    before, turn = read({None: lines}).turns()
    assert (before.turn_id, turn.turn_id) == (None, "u1")
    assert parts_of(before.items) == [Words("result", "from before")]
    assert [type(item) for item in before.items] == [Message, Compaction]


def test_a_very_long_prompt_is_there_to_its_end(read: Read) -> None:
    (turn,) = read({None: [user("long " * 5000)]}).turns()
    assert turn.prompt == "long " * 5000


def test_an_agent_is_told_with_the_call_that_started_it_and_only_there(read: Read) -> None:
    logs: Logs = {
        None: [user("Hi"), *asking("t1", "one", 10), *asking("t2", "two", 20)],
        "one": [prompted("one"), *asking("t3", "three", 30, inside="one")],
        "two": [prompted("two")],
        "three": [prompted("three")],
    }
    conversation = read(logs)
    (turn,) = conversation.turns()
    first, second = (call.agents for call in calls_of(turn.items))
    assert [one.agent_id for one in (*first, *second)] == ["one", "two"]
    (nested,) = calls_of(conversation.items_of(first[0]))
    assert [one.agent_id for one in nested.agents] == ["three"]
    assert list(conversation.unlinked()) == []


def depths(conversation: Conversation, agent: Agent) -> Iterator[tuple[str, int]]:
    yield agent.agent_id, agent.depth
    for call in calls_of(conversation.items_of(agent)):
        for inside in call.agents:
            yield from depths(conversation, inside)


def test_agents_that_are_nested_without_end_are_read_one_after_the_other(read: Read) -> None:
    names = [f"n{number:02d}" for number in range(30)]
    logs: Logs = {None: [user("Hi"), *asking("t0", names[0], 100)]}
    for number, name in enumerate(names):
        logs[name] = [prompted(name)]
        if number + 1 < len(names):
            inside = asking(f"t{number + 1}", names[number + 1], 200 + number, inside=name)
            logs[name] += inside
    conversation = read(logs)
    (turn,) = conversation.turns()
    (call,) = calls_of(turn.items)
    found = list(depths(conversation, call.agents[0]))
    for agent in conversation.unlinked():
        found += depths(conversation, agent)
    assert sorted(name for name, _ in found) == names
    assert max(depth for _, depth in found) == 8


def test_an_agent_whose_call_stands_in_itself_is_told_at_the_end(read: Read) -> None:
    logs: Logs = {
        None: [user("Hi")],
        "odd": [prompted("odd"), *asking("t1", "odd", 5, inside="odd")],
    }
    conversation = read(logs)
    (turn,) = conversation.turns()
    assert calls_of(turn.items) == []
    (agent,) = conversation.unlinked()
    assert [call.agents for call in calls_of(conversation.items_of(agent))] == [[]]
    assert list(conversation.unlinked()) == []


def test_a_session_may_be_read_twice(read: Read) -> None:
    conversation = read({None: [user("Hi"), *asking("t1", "one", 10)], "one": [prompted("one")]})
    for _ in range(2):
        (turn,) = conversation.turns()
        assert len(calls_of(turn.items)[0].agents) == 1
