"""Lines of any kind become objects or a reason."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from etl.parse import (
    DEEPEST_NESTING,
    MOST_VALUES,
    JsonObject,
    Parsed,
    Rejected,
    objects_of,
    parse_line,
)

JSON_PIECES = st.sampled_from(
    [*'{}[]"\\:,1-\0\r é\ufeff\u2028', "\\ud800", "1e999", "NaN", '"a"', "null", "9" * 25]
)


@given(st.binary(max_size=60))
@example(b"")
@example(b"\xff\xfe")
def test_no_bytes_make_it_raise(line: bytes) -> None:
    assert isinstance(parse_line(line), dict | Parsed | Rejected)


@given(st.lists(JSON_PIECES, max_size=20))
def test_nothing_that_looks_like_json_makes_it_raise(pieces: list[str]) -> None:
    assert isinstance(parse_line("".join(pieces).encode()), dict | Parsed | Rejected)


@pytest.mark.parametrize("line", [b'{"a":1}', b"{}", '{"a":"é\u2028"}'.encode()])
def test_line_that_comes_back_byte_for_byte_is_the_object_itself(line: bytes) -> None:
    assert parse_line(line) == json.loads(line)


@pytest.mark.parametrize(
    "line",
    [b'{"a":1}\r', b' {"a": 1} ', b'\t{"a":1}', b'{"\\u0061":1}'],
    ids=["crlf", "spaces", "tab", "escape"],
)
def test_other_spelling_of_the_same_json_is_exact(line: bytes) -> None:
    assert parse_line(line) == Parsed(({"a": 1},))


@pytest.mark.parametrize(
    ("line", "kept", "flaws"),
    [
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}, "byte_order_mark"),
        (b'\0\0\0\0{"a":1}', {"a": 1}, "nul_bytes"),
        (b'{"a":1}\0\0', {"a": 1}, "nul_bytes"),
        (b'\0\0\xef\xbb\xbf {"a":1}', {"a": 1}, "byte_order_mark nul_bytes"),
        (b'{"a":"x\\ud83d"}', {"a": "x\ufffd"}, "lone_surrogate"),
        (b'{"\\ud83d":1}', {"\ufffd": 1}, "lone_surrogate"),
        (b'{"a":"\xff"}', {"a": "\ufffd"}, "invalid_utf8"),
        (b'{"a":1,"a":2}', {"a": 2}, "duplicate_keys"),
        (b'{"a":NaN}', {"a": None}, "NaN"),
        (b'{"a":-Infinity}', {"a": None}, "-Infinity"),
        (b'{"a":1e999}', {"a": None}, "infinite_number"),
        (b'{"a":18446744073709551616}', {"a": 18446744073709551616}, "big_integer"),
        (b'{"a":-9223372036854775809}', {"a": -9223372036854775809}, "big_integer"),
        (b'{"a":' + b"9" * 5000 + b"}", {"a": "9" * 5000}, "huge_integer"),
    ],
)
def test_what_json_cannot_carry_is_read_and_flagged(
    line: bytes, kept: JsonObject, flaws: str
) -> None:
    assert parse_line(line) == Parsed((kept,), tuple(flaws.split()))


@pytest.mark.parametrize("glue", [b"", b" ", b"\r"])
def test_two_objects_glued_on_a_line_are_both_read(glue: bytes) -> None:
    parsed = parse_line(b'{"a":1}' + glue + b'{"b":2}')
    assert parsed == Parsed(({"a": 1}, {"b": 2}))


@pytest.mark.parametrize("damage", [b"\0\0\0", b" \0\r", b"\xef\xbb\xbf", b"\0" * 1_000_000])
def test_objects_with_nul_bytes_or_a_mark_between_them_are_both_read(damage: bytes) -> None:
    parsed = parse_line(b'{"a":1}' + damage + b'{"b":2}')
    assert isinstance(parsed, Parsed)
    assert parsed.objects == ({"a": 1}, {"b": 2})
    assert parsed.flaws


def test_surrogate_pair_is_one_character_and_exact() -> None:
    assert parse_line(b'{"a":"\\ud83d\\ude00"}') == Parsed(({"a": "\U0001f600"},))


@pytest.mark.parametrize(
    "line", [b"5", b'"text"', b"null", b"[]", b'[{"a":1}]', b"\0\0", b'{"a":1}5']
)
def test_what_is_no_object_is_rejected_as_such(line: bytes) -> None:
    assert parse_line(line) == Rejected("not_an_object")


@pytest.mark.parametrize(
    "line", [b'{"a":', b'{"a":1}{"b"', b"plain words", b'{"a":01}', b"{'a':1}"]
)
def test_broken_json_is_rejected(line: bytes) -> None:
    assert parse_line(line) == Rejected("invalid_json")


@pytest.mark.parametrize("extra", [1, 100_000])
def test_too_deep_nesting_is_rejected(extra: int) -> None:
    depth = DEEPEST_NESTING + extra
    assert parse_line(b"[" * depth + b"]" * depth) == Rejected("too_deep")


@pytest.mark.parametrize("piece", [b"[],", b"{}", b"1,", b'"",', b'{"a":'])
def test_a_heap_of_tiny_values_is_rejected_before_it_fills_the_memory(piece: bytes) -> None:
    line = b'{"a":[' + piece * (MOST_VALUES + 1) + b"0]}"
    assert parse_line(line) == Rejected("too_many_values")


def test_as_many_values_as_are_allowed_are_read() -> None:
    line = b'{"a":[' + b"10," * (MOST_VALUES - 3) + b"10]}"
    assert len(line) > MOST_VALUES
    assert isinstance(parse_line(line), dict)


def test_what_looks_like_values_inside_a_text_is_none() -> None:
    line = b'{"a":"' + b',[{\\"' * MOST_VALUES + b'"}'
    assert isinstance(parse_line(line), dict)


def test_brackets_inside_strings_do_not_nest() -> None:
    text = "[{" * DEEPEST_NESTING + '\\"['
    line = json.dumps({"a": text}).encode()
    assert parse_line(line) == Parsed(({"a": text},))


def test_nesting_deeper_than_orjson_writes_is_still_read() -> None:
    line = b'{"a":' + b"[" * 300 + b"]" * 300 + b"}"
    assert parse_line(line) == Parsed((json.loads(line),))


@pytest.mark.parametrize("depth", [253, 254, 255, 400, DEEPEST_NESTING - 1])
def test_deep_nesting_within_the_limit_is_read(depth: int) -> None:
    parsed = parse_line(b'{"a":' + b"[" * depth + b"]" * depth + b"}")
    assert len(objects_of(parsed)) == 1


def test_a_string_that_never_ends_takes_no_longer_than_its_length() -> None:
    assert parse_line(b'{"a":"' + b'\\"' * 2_000_000) == Rejected("invalid_json")


@pytest.mark.parametrize(
    "digits", [b"0.1234567890123456789", b"1e-400", b"1e-99999999999999999999"]
)
def test_a_number_of_more_digits_than_a_float_keeps_its_line(digits: bytes) -> None:
    parsed = parse_line(b'{"a":' + digits + b"}")
    assert isinstance(parsed, Parsed)
    assert parsed.flaws == ("long_number",)


def test_a_number_in_another_spelling_is_exact() -> None:
    parsed = parse_line(b'{"a":1.50e2}')
    assert parsed == Parsed(({"a": 150.0},))


def test_half_a_surrogate_is_replaced_in_keys_lists_and_texts() -> None:
    parsed = parse_line(b'{"k\\ud800":["x\\udc00",{"y":"\\ud83d\\ude00"}]}')
    assert parsed == Parsed(({"k\ufffd": ["x\ufffd", {"y": "\U0001f600"}]},), ("lone_surrogate",))
