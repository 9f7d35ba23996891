"""The way back from rows to objects; the lines of whole logs are in test_restore.py."""

import pytest

from etl import rebuild
from etl.tables import ENTRIES

NOTHING = dict.fromkeys(ENTRIES.names())
PLAIN = dict.fromkeys(("form", "block_type", "text", "tool_use_id", "tool_name"))
BLOCK = PLAIN | dict.fromkeys(("input", "is_error", "payload")) | {"form": "block"}


def test_columns_go_back_to_their_paths() -> None:
    entry = NOTHING | {"type": "assistant", "model": "m", "thinking_tokens": 7, "occurred_at": 1000}
    assert rebuild.object_of(entry, []) == {
        "type": "assistant",
        "timestamp": "1970-01-01T00:00:00.001Z",
        "message": {"model": "m", "usage": {"output_tokens_details": {"thinking_tokens": 7}}},
    }


def test_a_timestamp_kept_in_the_payload_is_the_one_that_was_written() -> None:
    entry = NOTHING | {"occurred_at": 1000, "payload": '{"timestamp":"1970-01-01T01:00+01:00"}'}
    assert rebuild.object_of(entry, []) == {"timestamp": "1970-01-01T01:00+01:00"}


@pytest.mark.parametrize(
    ("row", "block"),
    [
        ({"form": "item", "text": "bare"}, "bare"),
        ({"form": "value", "payload": "7"}, 7),
        ({"payload": '{"no":"type"}'}, {"no": "type"}),
        ({"block_type": "thinking", "text": ""}, {"type": "thinking", "thinking": ""}),
        (
            {"block_type": "tool_use", "tool_use_id": "t", "tool_name": "Bash", "input": "{}"},
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {}},
        ),
        (
            {"block_type": "tool_result", "tool_use_id": "t", "is_error": False, "text": "ok"},
            {"type": "tool_result", "tool_use_id": "t", "is_error": False, "content": "ok"},
        ),
    ],
)
def test_a_block_comes_back_in_the_form_it_had(row: dict[str, object], block: object) -> None:
    assert rebuild.content_of([BLOCK | row]) == [block]


def test_texts_of_a_result_go_back_between_what_stood_between_them() -> None:
    skeleton = '{"~content":[{"type":"text","text":2},{"type":"image"},{"type":"text","text":3}]}'
    row = BLOCK | {"block_type": "tool_result", "text": "ab\ncde", "payload": skeleton}
    content = [{"type": "text", "text": "ab"}, {"type": "image"}, {"type": "text", "text": "cde"}]
    assert rebuild.content_of([row]) == [{"type": "tool_result", "content": content}]


def test_content_that_was_a_text_is_a_text() -> None:
    assert rebuild.content_of([BLOCK | {"form": "string", "text": "Hi"}]) == "Hi"
