"""Facts: where each row stands, what a batch holds, and that nothing of a line is lost."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from etl.facts import FactBatch, Facts
from etl.follow import Origin, Tally
from etl.tables import FACTS, Table
from tests.normalise.reader import MAIN, canonical, facts_of, rebuilt_lines
from tests.sessions import assistant, encoded, text, tool_result, tool_use, user

AGENT = Origin("agent-file", 2, "session", "deep", "subagents")


def column(facts: Facts, table: str, name: str) -> list[object]:
    values: list[object] = facts[table].column(name).to_pylist()
    return values


@pytest.mark.parametrize("table", FACTS, ids=lambda table: table.name)
def test_facts_are_typed_as_declared_with_rows_and_without(table: Table) -> None:
    full = FactBatch()
    full.add_lines(MAIN, 0, encoded([user("Hi"), b"oops\n"]), Tally())
    full.add_sidecar(AGENT, "agent-deep.meta.json", b"{}")
    for facts in (full.take(), FactBatch().take()):
        assert facts[table.name].schema == table.schema()
        facts[table.name].validate(full=True)


def test_every_row_says_where_its_line_stands() -> None:
    lines = [b"one\n", b"\n", b" \t\n", b'{"a":1}{"b":2}\n', b'{"c":3}\n']
    facts = facts_of(b"".join(lines))
    entries = facts["entries"].to_pylist()
    found = [
        tuple(row[name] for name in ("line_no", "byte_start", "byte_end", "object_index"))
        for row in entries
    ]
    assert found == [(4, 8, 23, 0), (4, 8, 23, 1), (5, 23, 31, 0)]
    (reject,) = facts["rejects"].to_pylist()
    assert (reject["line_no"], reject["byte_start"], reject["byte_end"]) == (1, 0, 4)


def test_places_go_on_where_an_earlier_read_stopped() -> None:
    batch, tally = FactBatch(), Tally(lines=10, blank_bytes=3)
    batch.add_lines(MAIN, 500, encoded([{"a": 1}, b"\n", {"b": 2}]), tally)
    facts = batch.take()
    assert column(facts, "entries", "line_no") == [11, 13]
    assert column(facts, "entries", "byte_start") == [500, 509]
    assert tally == Tally(lines=13, entries=2, rejects=0, blank_bytes=4)


def test_a_tally_counts_lines_entries_rejects_and_blank_bytes() -> None:
    tally = Tally()
    FactBatch().add_lines(MAIN, 0, b'{}{}\n7\n\r\n{}\n{"\n', tally)
    assert tally == Tally(lines=5, entries=3, rejects=2, blank_bytes=2)


def test_blocks_stand_where_their_entry_stands() -> None:
    lines = encoded([user("one"), {"type": "mode"}, assistant(text("two"), tool_use())])
    facts = facts_of(lines, AGENT)
    names = ("file_id", "generation", "line_no", "block_index", "session_id", "agent_id", "text")
    found = [tuple(row[name] for name in names) for row in facts["content_blocks"].to_pylist()]
    assert found == [
        ("agent-file", 2, 1, 0, "session", "deep", "one"),
        ("agent-file", 2, 3, 0, "session", "deep", "two"),
        ("agent-file", 2, 3, 1, "session", "deep", None),
    ]


@pytest.mark.parametrize(
    ("origin", "logged", "expected"),
    [(MAIN, "inline", "inline"), (AGENT, "other", "deep"), (MAIN, 7, None), (AGENT, None, "deep")],
    ids=["line", "file_first", "wrong_type", "file"],
)
def test_the_file_tells_the_agent_and_else_the_line_does(
    origin: Origin, logged: object, expected: str | None
) -> None:
    facts = facts_of(encoded([user("Hi", agentId=logged)]), origin)
    assert column(facts, "entries", "agent_id") == [expected]
    assert column(facts, "content_blocks", "agent_id") == [expected]
    told = logged if isinstance(logged, str) else None
    assert column(facts, "entries", "logged_agent_id") == [told]


def test_a_prompt_in_an_agents_file_is_no_persons() -> None:
    line = encoded([user("Look around")])
    assert column(facts_of(line, AGENT), "entries", "prompt_kind") == ["agent_prompt"]
    assert column(facts_of(line, MAIN), "entries", "prompt_kind") == ["human"]


def test_long_text_lives_once() -> None:
    words = "a long story " * 50
    lines = [user(words), assistant(text(words)), tool_result(content=words, toolUseResult="ok")]
    facts = facts_of(encoded(lines))
    assert column(facts, "content_blocks", "text") == [words] * 3
    assert not any(words in str(payload) for payload in column(facts, "entries", "payload"))
    assert column(facts, "content_blocks", "payload") == [None] * 3


def test_equal_lines_have_equal_hashes() -> None:
    facts = facts_of(encoded([user("a"), user("b"), user("a")]))
    first, other, again = column(facts, "entries", "line_hash")
    assert first == again != other


def test_a_rejected_line_is_kept_whole() -> None:
    facts = facts_of(b'{"cut\n[1]\n\xff\n')
    assert column(facts, "rejects", "raw") == [b'{"cut', b"[1]", b"\xff"]
    assert column(facts, "rejects", "reason") == ["invalid_json", "not_an_object", "invalid_json"]


def test_a_sidecar_is_kept_whole_with_what_it_says() -> None:
    batch = FactBatch()
    content = b'{\n "agentType": "Explore", "toolUseId": "toolu_1"\n}\n'
    batch.add_sidecar(AGENT, "agent-deep.meta.json", content)
    (row,) = batch.take()["sidecars"].to_pylist()
    assert row == {
        "file_id": "agent-file",
        "generation": 2,
        "session_id": "session",
        "agent_id": "deep",
        "name": "agent-deep.meta.json",
        "agent_type": "Explore",
        "description": None,
        "tool_use_id": "toolu_1",
        "parent_agent_id": None,
        "custom_title": None,
        "content": content,
    }


def test_a_batch_holds_several_files_and_is_empty_once_taken() -> None:
    batch = FactBatch()
    lines = encoded([user("Hi")])
    batch.add_lines(MAIN, 0, lines, Tally())
    batch.add_lines(AGENT, 0, lines, Tally())
    assert batch.raw_bytes == 2 * len(lines)
    assert column(batch.take(), "entries", "file_id") == ["file", "agent-file"]
    assert batch.raw_bytes == 0
    assert [table.num_rows for table in batch.take().values()] == [0] * len(FACTS)


LOGS = [user("one"), assistant(tool_use()), tool_result(), user("two", uuid="u2")]


@settings(deadline=None, max_examples=25)
@given(st.sets(st.integers(1, len(LOGS) - 1)))
def test_batches_of_any_size_hold_the_same_rows(cuts: set[int]) -> None:
    tally, at, entries, blocks = Tally(), 0, [], []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(LOGS)], strict=True):
        batch, lines = FactBatch(), encoded(LOGS[start:end])
        batch.add_lines(MAIN, at, lines, tally)
        at += len(lines)
        facts = batch.take()
        entries += facts["entries"].to_pylist()
        blocks += facts["content_blocks"].to_pylist()
    at_once = facts_of(encoded(LOGS))
    assert entries == at_once["entries"].to_pylist()
    assert blocks == at_once["content_blocks"].to_pylist()


# ---- What JSON cannot carry is kept as bytes.


@pytest.mark.parametrize(
    "line",
    [
        b'{"uuid":"a","uuid":"b"}',
        b'{"message":{"usage":{"input_tokens":1,"input_tokens":2}}}',
        b'{"n":18446744073709551616}',
        b'{"n":1e999}',
        b'{"n":NaN}',
        b'{"message":{"content":"half \\ud83d"}}',
        b'{"message":{"content":"\xff"}}',
        b'\xef\xbb\xbf{"a":1}',
        b'\0\0{"a":1}',
    ],
)
def test_a_line_that_json_cannot_carry_keeps_its_bytes(line: bytes) -> None:
    facts = facts_of(line + b"\n")
    assert column(facts, "entries", "raw") == [line]
    assert rebuilt_lines(facts) == [line]


@pytest.mark.parametrize(
    "line",
    [
        b' {"a": 1.0, "b": [true, null]} \r',
        b'{"a":1e2,"b":"\\u00e4\\/"}',
        b'{"n":9223372036854775807,"m":-9223372036854775808}',
        b'{"message":{"content":"\\ud83d\\udea2"}}',
    ],
)
def test_another_spelling_of_the_same_json_needs_no_bytes(line: bytes) -> None:
    facts = facts_of(line + b"\n")
    (rebuilt,) = rebuilt_lines(facts)
    assert column(facts, "entries", "raw") == [None]
    assert canonical(rebuilt) == canonical(json.loads(line))


def test_the_bytes_of_a_line_stand_once_however_many_objects_it_holds() -> None:
    facts = facts_of(b'{"a":1}{"b":2}\0{"c":3}\n')
    assert column(facts, "entries", "raw") == [b'{"a":1}{"b":2}\0{"c":3}', None, None]
    assert column(facts, "entries", "flaws") == ["nul_bytes"] * 3
    assert len(set(column(facts, "entries", "line_hash"))) == 1


def test_two_objects_on_a_line_both_come_back() -> None:
    first, second = user("one", uuid="u1"), assistant(uuid="a1")
    line = encoded([first]).rstrip(b"\n") + encoded([second])
    assert rebuilt_lines(facts_of(line)) == [first, second]
