"""Entries: typed columns, the rest as payload, and every line given back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etl.normalise import entries
from etl.normalise.fields import JsonObject
from etl.tables import ENTRIES
from tests.normalise.reader import canonical, facts_of, rebuilt_lines
from tests.sessions import assistant, compaction, encoded, text, tool_result, tool_use, user

STAMP = "2026-03-01T08:00:00.000Z"


def columns_of(object_: JsonObject, *, is_agent: bool = False) -> dict[str, object]:
    columns = entries.columns_of([object_], is_agent=[is_agent])
    return {name: value for name, (value,) in columns.items()}


def json_of(value: object) -> object:
    assert value is None or isinstance(value, bytes | str)
    return None if value is None else json.loads(value)


def payload_of(object_: JsonObject) -> object:
    return json_of(columns_of(object_)["payload"])


# ---- Columns.


def test_values_of_the_right_type_move_into_their_columns() -> None:
    found = columns_of(assistant(uuid="a1", output=12, stop="end_turn", slug="calm-blue-fox"))
    assert {
        "type": "assistant",
        "uuid": "a1",
        "parent_uuid": None,
        "is_sidechain": False,
        "cwd": "/home/ada/kiln",
        "git_branch": "main",
        "slug": "calm-blue-fox",
        "message_id": "msg_1",
        "request_id": "req_1",
        "role": "assistant",
        "stop_reason": "end_turn",
        "input_tokens": 3,
        "output_tokens": 12,
        "cache_read_tokens": 1000,
        "cache_creation_tokens": 100,
        "service_tier": "standard",
    }.items() <= found.items()


def test_nested_counts_have_columns_of_their_own() -> None:
    usage = {
        "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 2},
        "output_tokens_details": {"thinking_tokens": 3},
        "server_tool_use": {"web_search_requests": 4, "web_fetch_requests": 5},
        "speed": "fast",
        "inference_geo": "us",
    }
    found = columns_of({"message": {"usage": usage}})
    names = ("ephemeral_5m_tokens", "ephemeral_1h_tokens", "thinking_tokens", "web_search_requests")
    assert [found[name] for name in names] == [1, 2, 3, 4]
    assert (found["speed"], found["inference_geo"]) == ("fast", "us")
    left = {"message": {"usage": {"server_tool_use": {"web_fetch_requests": 5}}}}
    assert json_of(found["payload"]) == left


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("uuid", 7),
        ("cwd", None),
        ("isSidechain", "false"),
        ("isSidechain", 0),
        ("isMeta", 1),
        ("version", [2, 1]),
        ("gitBranch", {"name": "main"}),
        ("requestId", True),
        ("timestamp", 1772445600000),
        ("timestamp", "yesterday"),
        ("timestamp", "2026-03-01T08:00:00.123456Z"),
        ("timestamp", "2026-03-01T08:00:00Z"),
        ("type", None),
        ("message", []),
        ("message", {}),
        ("message", "words"),
        ("somethingNew", {"a": [1]}),
    ],
)
def test_any_other_value_stays_in_the_payload(key: str, value: object) -> None:
    assert payload_of({"type": "user", "timestamp": STAMP} | {key: value}) == {key: value}


@pytest.mark.parametrize("value", ["5", 5.0, True, None, -(1 << 63) - 1, 1 << 63, [5], {}])
def test_a_count_that_is_no_64_bit_integer_stays_in_the_payload(value: object) -> None:
    message = {"usage": {"input_tokens": value, "output_tokens": 1}}
    assert columns_of({"message": message})["input_tokens"] is None
    assert payload_of({"message": message}) == {"message": {"usage": {"input_tokens": value}}}


@pytest.mark.parametrize("number", [0, (1 << 63) - 1, -(1 << 63)])
def test_a_count_of_64_bits_fits(number: int) -> None:
    found = columns_of({"message": {"usage": {"output_tokens": number}}})
    assert (found["output_tokens"], found["payload"]) == (number, None)


def test_a_line_that_columns_hold_whole_has_no_payload() -> None:
    assert payload_of({"type": "user", "uuid": "u1", "timestamp": STAMP}) is None


@pytest.mark.parametrize("content", [[], {}, None, 7, {"text": "a"}])
def test_content_that_makes_no_blocks_stays_in_the_payload(content: object) -> None:
    line: JsonObject = {"message": {"content": content}}
    assert payload_of(line) == line


def test_columns_are_those_that_the_table_declares_and_the_file_does_not_fill() -> None:
    by_the_file = {"session_id", "agent_id", "layout", "line_hash", "flaws", "raw"}
    by_the_file.add("workflow_run_id")
    places = set(ENTRIES.names()[:6])
    assert set(columns_of({})) == set(ENTRIES.names()) - by_the_file - places


# ---- Copies of payload values, for the derived tables.


def test_a_compaction_tells_its_trigger_and_sizes() -> None:
    line = compaction(trigger="manual") | {"durationMs": 1}
    line["compactMetadata"] |= {"postTokens": 9000, "durationMs": 21000}
    found = columns_of(line)
    names = ("compact_trigger", "pre_tokens", "post_tokens", "duration_ms")
    assert [found[name] for name in names] == ["manual", 150000, 9000, 21000]


def test_a_turn_duration_is_told() -> None:
    line: JsonObject = {"type": "system", "subtype": "turn_duration", "durationMs": 4200}
    assert columns_of(line)["duration_ms"] == 4200
    assert payload_of(line) == {"durationMs": 4200}


def test_a_result_tells_its_agent_and_its_small_fields() -> None:
    result = {"agentId": "deep", "totalTokens": 7, "ok": True, "long": "x" * 201, "list": [1]}
    found = columns_of(tool_result(toolUseResult=result))
    assert found["spawned_agent_id"] == "deep"
    small = {"agentId": "deep", "totalTokens": 7, "ok": True}
    assert json_of(found["result_meta"]) == small


@pytest.mark.parametrize("result", ["Error: no", [{"type": "text"}], None, {}, {"agentId": 7}])
def test_a_result_of_another_shape_tells_no_agent(result: object) -> None:
    found = columns_of(tool_result(toolUseResult=result))
    assert found["spawned_agent_id"] is None


def test_a_progress_line_tells_its_agent_and_its_call() -> None:
    line: JsonObject = {
        "type": "progress",
        "parentToolUseID": "toolu_1",
        "data": {"type": "agent_progress", "agentId": "deep"},
    }
    found = columns_of(line)
    assert (found["spawned_agent_id"], found["linked_tool_use_id"]) == ("deep", "toolu_1")


def test_a_copied_line_tells_where_it_came_from() -> None:
    found = columns_of(user("Hi", forkedFrom={"sessionId": "old", "messageUuid": "u0"}))
    assert (found["forked_from_session_id"], found["forked_from_uuid"]) == ("old", "u0")


@pytest.mark.parametrize("origin", ["old", None, [], {"sessionId": 1, "messageUuid": None}])
def test_a_copied_line_of_another_shape_tells_nothing(origin: object) -> None:
    found = columns_of(user("Hi", forkedFrom=origin))
    assert (found["forked_from_session_id"], found["forked_from_uuid"]) == (None, None)


@pytest.mark.parametrize("count", ["7", 7.0, True, [7], {"a": 7}, 2**63, -(2**63) - 1])
@pytest.mark.parametrize("name", ["input_tokens", "cache_read_input_tokens"])
def test_a_count_that_no_column_takes_is_told(name: str, count: object) -> None:
    assert columns_of(assistant(usage={name: count}))["has_odd_count"] is True
    nested = {"cache_creation": {"ephemeral_1h_input_tokens": count}}
    assert columns_of(assistant(usage=nested))["has_odd_count"] is True


@pytest.mark.parametrize("nested", ["server_tool_use", "cache_creation"])
def test_what_should_hold_counts_and_is_no_object_is_told(nested: str) -> None:
    assert columns_of(assistant(usage={nested: 7}))["has_odd_count"] is True
    line = assistant()
    line["message"]["usage"] = "many"
    assert columns_of(line)["has_odd_count"] is True


@pytest.mark.parametrize(
    "usage",
    [{}, {"input_tokens": None, "cache_creation": None, "server_tool_use": {}}, {"other": "7"}],
)
def test_a_count_that_is_whole_or_not_there_is_not_odd(usage: JsonObject) -> None:
    assert columns_of(assistant(usage=usage))["has_odd_count"] is None


def test_iterations_stand_in_their_column_and_in_the_payload() -> None:
    items = [{"type": "message", "output_tokens": 5}]
    line = assistant(usage={"iterations": items})
    assert json_of(columns_of(line)["iterations"]) == items
    assert rebuilt_lines(facts_of(encoded([line]))) == [line]


# ---- Every line comes back.

HAND_WRITTEN: list[JsonObject] = [
    user("Hello"),
    user("", isMeta=True, isCompactSummary=True),
    assistant(text("a"), tool_use(), {"type": "thinking", "thinking": "", "signature": "s"}),
    assistant(usage={"iterations": [], "cache_creation": {}, "server_tool_use": None}),
    tool_result(content=[text("one"), {"type": "image", "source": {}}, text(""), text("two")]),
    tool_result(content=[text("one\ntwo"), {"type": "text"}, "bare", 7, None]),
    tool_result(content=[{"type": "text", "text": 3}, text("abc")]),
    tool_result(content=[], is_error=True),
    compaction(),
    {},
    {"message": {}},
    {"message": {"content": []}},
    {"message": {"content": [[], {}, "", None, {"type": None}, {"type": "text"}]}},
    {"message": {"usage": {"cache_creation": {"ephemeral_5m_input_tokens": 0}}}},
    {"timestamp": "2026-03-01T08:00:00.000Z"},
    {"timestamp": "1969-12-31T23:59:59.999Z"},
    {"timestamp": "9999-12-31T23:59:59.999Z"},
    {"timestamp": "2026-03-01T09:00:00.000+01:00"},
    {"timestamp": "2026-02-30T08:00:00.000Z"},
    {"timestamp": "2026-03-01T24:00:00.000Z"},
    {"type": "summary", "summary": "A title", "leafUuid": "u1"},
]


@pytest.mark.parametrize("line", HAND_WRITTEN, ids=range(len(HAND_WRITTEN)))
def test_a_hand_written_line_comes_back(line: JsonObject) -> None:
    (rebuilt,) = rebuilt_lines(facts_of(encoded([line])))
    assert canonical(rebuilt) == canonical(line)


integers = st.integers(-(1 << 63), (1 << 63) - 1)
words = st.text(max_size=8)
scalars = st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False)
junk = st.recursive(
    scalars | words,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(words | st.just("text"), inner, max_size=2)
    ),
    max_leaves=4,
)
stamps = st.datetimes().map(lambda moment: f"{moment.isoformat(timespec='milliseconds')}Z")


def mostly(right: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return right | right | junk


def some_of(**members: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    """Objects with some of these keys, and perhaps a new one."""
    known = st.fixed_dictionaries({}, optional={key: mostly(one) for key, one in members.items()})
    return st.builds(
        lambda new, old: {**new, **old}, st.dictionaries(words, junk, max_size=1), known
    )


flags = st.booleans()
plain_texts = st.fixed_dictionaries({"type": st.just("text"), "text": words})
kinds = st.sampled_from(
    ["text", "thinking", "tool_use", "server_tool_use", "tool_result", "image", "new_kind"]
)
blocks = some_of(
    type=kinds,
    text=words,
    thinking=words,
    signature=words,
    id=words,
    name=words,
    input=st.dictionaries(words, junk, max_size=2),
    tool_use_id=words,
    is_error=flags,
    content=words | st.lists(plain_texts | junk, max_size=3),
    **{"~content": junk},
)
usages = some_of(
    input_tokens=integers,
    output_tokens=integers,
    cache_read_input_tokens=integers,
    cache_creation_input_tokens=integers,
    cache_creation=some_of(ephemeral_5m_input_tokens=integers, ephemeral_1h_input_tokens=integers),
    output_tokens_details=some_of(thinking_tokens=integers),
    server_tool_use=some_of(web_search_requests=integers, web_fetch_requests=integers),
    service_tier=words,
    speed=words,
    iterations=st.lists(junk, max_size=2),
)
messages = some_of(
    id=words,
    role=st.sampled_from(["user", "assistant"]),
    model=words,
    content=words | st.lists(mostly(blocks), max_size=3),
    stop_reason=words,
    usage=usages,
)
lines = some_of(
    type=st.sampled_from(["user", "assistant", "system", "progress", "attachment", "summary"]),
    subtype=words,
    uuid=words,
    parentUuid=words,
    sessionId=words,
    agentId=words,
    isSidechain=flags,
    isMeta=flags,
    timestamp=stamps,
    cwd=words,
    requestId=words,
    forkedFrom=some_of(sessionId=words, messageUuid=words),
    toolUseResult=some_of(agentId=words, stdout=words),
    compactMetadata=some_of(trigger=words, preTokens=integers),
    message=messages,
)


@settings(deadline=None, max_examples=250)
@given(st.lists(lines, min_size=1, max_size=3))
def test_every_line_comes_back(logged: list[JsonObject]) -> None:
    found = rebuilt_lines(facts_of(encoded(logged)))
    assert list(map(canonical, found)) == list(map(canonical, logged))
