"""Values as JSON text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etl.jsontext import dumps, visible

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_every_json_value_comes_back(value: object) -> None:
    assert json.loads(dumps(value)) == value


@pytest.mark.parametrize("value", [{"a": [1, "é"]}, {"a": [1 << 70, "é"]}])
def test_text_is_compact_utf8_whoever_writes_it(value: object) -> None:
    assert dumps(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize("number", [1 << 64, -(1 << 63) - 1, 10**390])
def test_integers_beyond_64_bits_keep_every_digit(number: int) -> None:
    assert dumps({"a": number}) == b'{"a":%d}' % number


def test_nesting_beyond_what_orjson_writes_is_written() -> None:
    value: list[object] = []
    for _ in range(400):
        value = [value]
    assert dumps(value) == b"[" * 401 + b"]" * 401


@given(VALUES)
def test_visible_text_has_the_same_value_and_hides_nothing(value: object) -> None:
    text = visible(json.dumps(value, indent=1, ensure_ascii=False))
    assert json.loads(text) == value
    assert text.replace("\n", "").isprintable()


def test_letters_are_visible_and_controls_are_escaped() -> None:
    logged = '{"é 🚢": "\x7f\x9b2J \u202e \U000e0001"}'
    assert visible(logged) == '{"é 🚢": "\\u007f\\u009b2J \\u202e \\udb40\\udc01"}'
