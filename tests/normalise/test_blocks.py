"""Blocks: a row each, long text once, and what a derived table needs beside it."""

import json

import pytest

from etl.normalise.blocks import PREVIEW_CHARS, BlockRow, rows_of
from etl.rebuild import content_of
from tests.sessions import text, tool_use

LONG = "ä" * (PREVIEW_CHARS + 50)


def row_of(block: object) -> BlockRow:
    (row,) = rows_of([block])
    return row


def json_of(value: bytes | str | None) -> object:
    return None if value is None else json.loads(value)


def test_a_string_is_one_block_of_text() -> None:
    assert rows_of("Hello") == [BlockRow("text", "string", "Hello", 5, "Hello")]


def test_an_empty_string_is_a_block_too() -> None:
    assert rows_of("") == [BlockRow("text", "string", "", 0, "")]


@pytest.mark.parametrize("content", [None, [], {}, {"type": "text"}, 7, True])
def test_what_is_neither_text_nor_blocks_has_no_rows(content: object) -> None:
    assert rows_of(content) == []


def test_blocks_keep_their_order_and_their_forms() -> None:
    content = [text("a"), "b", 7, None, {"no": "type"}, {"type": 7}]
    found = [(row.form, row.block_type, row.text, json_of(row.payload)) for row in rows_of(content)]
    assert found == [
        ("block", "text", "a", None),
        ("item", "text", "b", None),
        ("value", None, None, 7),
        ("value", None, None, None),
        ("block", None, None, {"no": "type"}),
        ("block", None, None, {"type": 7}),
    ]


def test_a_preview_is_cut_and_the_text_is_not() -> None:
    row = row_of(text(LONG))
    assert row.text == LONG
    assert row.text_chars == len(LONG)
    assert row.preview == LONG[:PREVIEW_CHARS]


def test_thinking_is_text_without_a_preview() -> None:
    row = row_of({"type": "thinking", "thinking": "Hm.", "signature": "sig"})
    assert (row.block_type, row.text, row.text_chars, row.preview) == ("thinking", "Hm.", 3, None)
    assert json_of(row.payload) == {"signature": "sig"}


@pytest.mark.parametrize("kind", ["tool_use", "server_tool_use"])
def test_a_call_has_its_id_name_and_input(kind: str) -> None:
    row = row_of({**tool_use("t1", "Bash", command="ls -l"), "type": kind, "caller": {}})
    assert (row.block_type, row.tool_use_id, row.tool_name) == (kind, "t1", "Bash")
    assert json_of(row.input) == {"command": "ls -l"}
    assert row.preview == '{"command":"ls -l"}'
    assert json_of(row.payload) == {"caller": {}}


def test_the_preview_of_an_input_is_cut_between_characters() -> None:
    row = row_of(tool_use(command=LONG))
    assert row.preview == ('{"command":"' + LONG)[:PREVIEW_CHARS]


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ({"file_path": "/a.py", "old_string": "x"}, "/a.py"),
        ({"notebook_path": "/a.ipynb"}, "/a.ipynb"),
        ({"description": "List", "command": "ls"}, "ls"),
        ({"path": "src", "pattern": "def"}, "def"),
        ({"url": "https://example.org", "prompt": "Read"}, "https://example.org"),
        ({"command": 7, "path": "src"}, "src"),
        ({"prompt": "Look around"}, "Look around"),
        ({}, None),
    ],
)
def test_a_target_is_the_file_command_pattern_or_url(
    arguments: dict[str, object], target: str | None
) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "X", "input": arguments}
    assert row_of(block).target == target


@pytest.mark.parametrize("arguments", ["ls", None, ["ls"], 7])
def test_an_input_that_is_no_object_stays_in_the_payload(arguments: object) -> None:
    row = row_of({"type": "tool_use", "id": "t1", "name": "Bash", "input": arguments})
    assert (row.input, row.target, row.preview) == (None, None, None)
    assert json_of(row.payload) == {"input": arguments}


def test_a_result_of_words_is_its_text() -> None:
    row = row_of({"type": "tool_result", "tool_use_id": "t1", "content": "done"})
    assert (row.tool_use_id, row.text, row.text_chars) == ("t1", "done", 4)
    assert (row.is_error, row.preview, row.payload) == (None, None, None)


def test_a_failed_result_has_a_preview() -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": LONG, "is_error": True}
    row = row_of(block)
    assert (row.is_error, row.preview) == (True, LONG[:PREVIEW_CHARS])


def test_a_result_in_pieces_has_its_words_in_one_text() -> None:
    image = {"type": "image", "source": {"data": "AAAA"}}
    row = row_of({"type": "tool_result", "content": [text("one"), image, text("two")]})
    assert row.text == "one\ntwo"
    assert b"one" not in bytes(row.payload or b"")
    assert b"AAAA" in bytes(row.payload or b"")


RESULTS: list[object] = [
    "",
    [],
    None,
    {"type": "text", "text": "no list"},
    [text("")],
    [text(""), text("")],
    [text("a\nb"), text("c")],
    [{**text("a"), "cache_control": {"type": "ephemeral"}}],
    [text("🚢"), text("ä")],
    [{"type": "text", "text": 1}, text("a")],
    [{"type": "image", "text": 1}, text("a")],
    [{"type": "image", "text": True}, text("a")],
    [{"type": "other", "text": "words"}, text("a")],
    ["bare", text("a"), 1],
]


@pytest.mark.parametrize("content", RESULTS, ids=range(len(RESULTS)))
def test_a_result_of_any_shape_comes_back(content: object) -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    assert content_of([row._asdict() for row in rows_of([block])]) == [block]


def test_a_result_that_has_the_skeletons_key_already_comes_back() -> None:
    block = {"type": "tool_result", "content": [text("a")], "~content": [{"text": 1}]}
    assert content_of([row._asdict() for row in rows_of([block])]) == [block]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": None},
        {"type": "text", "text": ["a"]},
        {"type": "thinking"},
        {"type": "tool_use", "id": 1, "name": None, "input": "x"},
        {"type": "tool_result", "tool_use_id": 1, "is_error": "yes", "content": 7},
        {"type": "redacted_thinking", "data": "AAAA"},
        {"type": "image"},
        {"type": "brand_new", "text": "words", "id": "x"},
    ],
)
def test_a_block_of_unknown_or_wrong_shape_keeps_its_type_and_comes_back(
    block: dict[str, object],
) -> None:
    row = row_of(block)
    assert row.block_type == block["type"]
    assert (row.text, row.tool_use_id, row.is_error) == (None, None, None)
    assert content_of([row._asdict()]) == [block]
