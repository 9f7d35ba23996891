"""The files around the logs: their rows, and that nothing of them is lost."""

import json
from datetime import date

import pytest

from etl.normalise.around import daily_stats_of, prompt_of, session_index_of

FIRST_OF_MARCH = 1_772_352_000_000


def payload(row: dict[str, object]) -> object:
    text = row["payload"]
    assert text is None or isinstance(text, bytes)
    return json.loads(text) if text else None


def test_a_typed_prompt_has_its_instant_words_directory_and_session() -> None:
    line = {
        "display": "Wie heiß? 🔥",
        "pastedContents": {"1": {"id": 1, "type": "text", "contentHash": "ab"}},
        "timestamp": FIRST_OF_MARCH,
        "project": "/home/ada/kiln",
        "sessionId": "s1",
    }
    row = prompt_of(line)
    assert payload(row) == {"pastedContents": line["pastedContents"]}
    assert {key: value for key, value in row.items() if key != "payload"} == {
        "display": "Wie heiß? 🔥",
        "occurred_at": FIRST_OF_MARCH * 1000,
        "project": "/home/ada/kiln",
        "session_id": "s1",
    }


@pytest.mark.parametrize("stamp", [None, True, "2026-03-01", 1.5, -1, 1 << 62, [], {}])
def test_an_instant_that_is_none_stays_in_the_payload(stamp: object) -> None:
    row = prompt_of({"display": "Hi", "timestamp": stamp})
    assert row.get("occurred_at") is None
    assert payload(row) == {"timestamp": stamp}


@pytest.mark.parametrize("value", [None, 7, [], {}, False])
@pytest.mark.parametrize("key", ["display", "project", "sessionId"])
def test_a_value_of_another_type_stays_in_the_payload(key: str, value: object) -> None:
    assert payload(prompt_of({key: value})) == {key: value}


def test_an_index_gives_a_row_a_session_and_one_for_the_rest() -> None:
    entry = {
        "sessionId": "s1",
        "firstPrompt": "Light the kiln",
        "messageCount": 14,
        "created": "2026-03-01T08:00:00.000Z",
        "modified": "yesterday",
        "gitBranch": "main",
        "projectPath": "/home/ada/kiln",
        "isSidechain": False,
    }
    session, rest = session_index_of({"version": 1, "entries": [entry, "odd", {"sessionId": 7}]})
    assert payload(session) == {"isSidechain": False, "modified": "yesterday"}
    assert session["created_at"] == FIRST_OF_MARCH * 1000
    assert session["modified_at"] is None
    assert (session["message_count"], session["git_branch"]) == (14, "main")
    assert payload(rest) == {"version": 1, "entries": ["odd", {"sessionId": 7}]}


@pytest.mark.parametrize("entries", [None, "none", {"s1": {}}])
def test_an_index_without_a_list_is_kept_whole(entries: object) -> None:
    (rest,) = session_index_of({"entries": entries})
    assert payload(rest) == {"entries": entries}


def test_statistics_of_one_day_come_from_two_lists() -> None:
    document = {
        "version": 2,
        "dailyActivity": [
            {"date": "2026-03-01", "messageCount": 5, "sessionCount": 2, "toolCallCount": 9},
            {"date": "2026-03-02", "messageCount": "many", "mood": "good"},
            {"date": "someday"},
        ],
        "dailyModelTokens": [{"date": "2026-03-01", "tokensByModel": {"claude-x": 7}}, 3],
        "modelUsage": {"claude-x": {"inputTokens": 7}},
    }
    first, second, rest = daily_stats_of(document)
    assert first == {
        "day": date(2026, 3, 1),
        "message_count": 5,
        "session_count": 2,
        "tool_call_count": 9,
        "tokens_by_model": b'{"claude-x":7}',
        "payload": None,
    }
    assert second["message_count"] is None
    assert payload(second) == {"dailyActivity": {"messageCount": "many", "mood": "good"}}
    assert payload(rest) == {
        "version": 2,
        "dailyActivity": [{"date": "someday"}],
        "dailyModelTokens": [3],
        "modelUsage": {"claude-x": {"inputTokens": 7}},
    }


@pytest.mark.parametrize("days", [None, "none", {}])
def test_statistics_without_lists_are_kept_whole(days: object) -> None:
    (rest,) = daily_stats_of({"dailyActivity": days})
    assert payload(rest) == {"dailyActivity": days}
