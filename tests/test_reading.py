"""A session read from the warehouse: whole, in order, and every line once."""

from pathlib import Path
from typing import Any

import pytest

from etl.commit import Warehouse
from etl.conversation import Call, Conversation, Message, Turn, Words
from etl.errors import UsageError
from etl.reading import conversation_of
from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    append,
    assistant,
    run_sync,
    text,
    tool_result,
    tool_use,
    user,
    write_log,
)

MOVED = f"-home-ada-barn/{SESSION}.jsonl"


def read(lake: Path, session: str = SESSION[:4], zone: str | None = "UTC") -> Conversation:
    return conversation_of(Warehouse(lake), session, time_zone=zone)


def told(turn: Turn) -> list[str]:
    """What is said in a turn, and which calls are made."""
    return [
        str(part.text if isinstance(part, Words) else part.target)
        for item in turn.items
        if isinstance(item, Message)
        for part in item.parts
    ]


def pages(lake: Path) -> list[list[str]]:
    return [told(turn) for turn in read(lake).turns()]


def answer(
    words: str,
    number: int,
    second: int,
    **more: Any,  # noqa: ANN401 - the members of a log line are of any type
) -> Line:
    more |= {"uuid": f"a{number}", "message_id": f"msg_{number}", "request": f"req_{number}"}
    return assistant(text(words), second=second, **more)


# ---- Which session.


@pytest.mark.parametrize(
    ("name", "words"),
    [("none", "no session"), ("", "2 sessions begin"), ("\udcff", "no session")],
)
def test_a_name_that_fits_no_session_or_several_is_refused(
    logs: Path, lake: Path, name: str, words: str
) -> None:
    write_log(logs, [user("Hi")])
    write_log(logs, [user("Ho", "u2")], "-other/22222222-2222-4222-8222-222222222222.jsonl")
    run_sync(logs, lake)
    with pytest.raises(UsageError, match=words):
        read(lake, name)


def test_a_warehouse_without_words_says_so(logs: Path, lake: Path) -> None:
    write_log(logs, [user("Hi"), assistant()])
    run_sync(logs, lake, content="metrics")
    with pytest.raises(UsageError, match="keeps metrics only"):
        read(lake)


def test_a_time_zone_that_does_not_exist_is_named(logs: Path, lake: Path) -> None:
    write_log(logs, [user("Hi")])
    run_sync(logs, lake)
    with pytest.raises(UsageError, match="time zone 'Mars/Phobos' is not known"):
        read(lake, zone="Mars/Phobos")


def test_times_are_those_of_the_zone_asked_for(logs: Path, lake: Path) -> None:
    write_log(logs, [user("Hi"), assistant()])
    run_sync(logs, lake)
    (turn,) = read(lake, zone="Asia/Kolkata").turns()
    assert f"{turn.started_at:%H:%M}" == "13:30"


def test_a_log_without_a_line_is_a_session_without_a_turn(logs: Path, lake: Path) -> None:
    write_log(logs, [])
    run_sync(logs, lake)
    conversation = read(lake)
    assert (list(conversation.turns()), list(conversation.unlinked())) == ([], [])
    assert conversation.session == {"session_id": SESSION}


# ---- Every line once.


def test_history_that_was_appended_again_is_read_once(logs: Path, lake: Path) -> None:
    first = [user("Hi"), answer("Ho", 1, 1), user("Again?", "u2", 5)]
    again = [line | {"uuid": f"{line['uuid']}-again"} for line in first[1:2]]
    write_log(logs, [*first, first[0], *again, answer("No", 2, 9)])
    run_sync(logs, lake)
    assert pages(lake) == [["Hi", "Ho"], ["Again?", "No"]]


def test_a_log_that_lies_in_two_folders_is_read_once(logs: Path, lake: Path) -> None:
    lines = [user("Hi"), answer("Ho", 1, 1)]
    write_log(logs, lines)
    write_log(logs, lines, MOVED)
    run_sync(logs, lake)
    assert pages(lake) == [["Hi", "Ho"]]


def test_a_session_that_goes_on_in_another_folder_is_read_on_there(logs: Path, lake: Path) -> None:
    first = [user("Hi"), answer("Ho", 1, 1)]
    write_log(logs, [*first[1:], user("And?", "u2", 10), answer("Yes", 2, 11)], MOVED)
    write_log(logs, first)
    run_sync(logs, lake)
    assert pages(lake) == [["Hi", "Ho"], ["And?", "Yes"]]


def test_a_rewritten_log_is_read_as_it_was_last(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("Old"), answer("Old answer", 1, 1)])
    run_sync(logs, lake)
    log.unlink()
    append(log, user("New", "u9"))
    run_sync(logs, lake)
    assert pages(lake) == [["New"]]


def test_a_log_that_is_gone_is_read_as_before(logs: Path, lake: Path) -> None:
    write_log(logs, [user("Hi"), answer("Ho", 1, 1)]).unlink()
    write_log(logs, [user("Hi"), answer("Ho", 1, 1)])
    run_sync(logs, lake)
    (logs / "projects" / PROJECT / f"{SESSION}.jsonl").unlink()
    run_sync(logs, lake)
    assert pages(lake) == [["Hi", "Ho"]]


# ---- Agents before they had files of their own.


def test_an_agent_in_the_log_of_its_session_is_read_with_its_call(logs: Path, lake: Path) -> None:
    side: dict[str, Any] = {"isSidechain": True}
    write_log(
        logs,
        [
            user("Hi"),
            assistant(tool_use("t1", "Task", prompt="Look"), uuid="a1", stop="tool_use"),
            user("Look", "s1", 2, **side),
            answer("I looked", 2, 3, parentUuid="s1", **side),
            tool_result("t1", "Looked", uuid="r1", second=4),
            answer("Done", 3, 5),
        ],
    )
    run_sync(logs, lake)
    conversation = read(lake)
    (turn,) = conversation.turns()
    assert told(turn) == ["Hi", "Look", "Done"]
    (call,) = [part for item in turn.items for part in getattr(item, "parts", []) if _is_call(part)]
    (agent,) = call.agents
    inside = Turn(None, items=conversation.items_of(agent))
    assert told(inside) == ["Look", "I looked"]
    assert list(conversation.unlinked()) == []


def _is_call(part: object) -> bool:
    return isinstance(part, Call)
