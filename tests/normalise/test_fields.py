"""Moving values: only the right type moves, and the rest is all that did not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etl.normalise.fields import (
    JsonObject,
    count_at,
    fits,
    kinds_below,
    lift,
    members,
    names_below,
    rest_of_counts,
    text_at,
)
from etl.tables import CONTENT_BLOCKS, ENTRIES

VALUES: list[object] = [None, True, False, 0, 7, 1 << 63, 1.0, "", "words", [], ["a"], {}, {"a": 1}]


@pytest.mark.parametrize(
    ("kind", "moved"),
    [(str, ["", "words"]), (bool, [True, False]), (int, [0, 7])],
    ids=["text", "flag", "count"],
)
def test_only_a_value_of_the_right_type_moves(kind: type, moved: list[object]) -> None:
    found = lift([{"key": value} for value in VALUES], "key", kind)
    kept = [value for value in found if value is not None]
    assert kept == moved
    assert [type(value) for value in kept] == [type(value) for value in moved]


def test_there_is_a_value_for_every_object_in_order() -> None:
    assert lift([{"a": "x"}, {}, {"a": 1}, {"a": "y"}], "a", str) == ["x", None, None, "y"]


@pytest.mark.parametrize("number", [-(1 << 63), -1, 0, (1 << 63) - 1])
def test_an_integer_of_64_bits_fits(number: int) -> None:
    assert fits(number)


@pytest.mark.parametrize("value", [-(1 << 63) - 1, 1 << 63, True, 1.0, "1", None])
def test_anything_else_does_not_fit(value: object) -> None:
    assert not fits(value)


KINDS: dict[str, type] = {"count": int, "name": str, "flag": bool}


@given(st.dictionaries(st.sampled_from([*KINDS, "other"]), st.sampled_from(VALUES)))
def test_what_moved_and_what_is_left_make_the_object(object_: JsonObject) -> None:
    moved = {
        key: value
        for key, kind in KINDS.items()
        if (value := lift([object_], key, kind)[0]) is not None
    }
    left = rest_of_counts(object_, KINDS)
    assert not moved.keys() & left.keys()
    assert moved | left == object_


def test_a_member_that_is_no_object_counts_as_an_empty_one() -> None:
    objects: list[JsonObject] = [{"m": {"a": 1}}, {"m": "words"}, {"m": None}, {"m": [1]}, {}]
    assert members(objects, "m") == [{"a": 1}, {}, {}, {}, {}]


@pytest.mark.parametrize("value", VALUES)
def test_text_and_count_of_any_value_are_that_or_nothing(value: object) -> None:
    assert text_at({"key": value}, "key") == (value if isinstance(value, str) else None)
    assert count_at({"key": value}, "key") == (value if fits(value) else None)


def test_columns_are_found_by_the_path_that_the_table_declares() -> None:
    assert names_below(ENTRIES)["parentUuid"] == "parent_uuid"
    assert names_below(ENTRIES, "message")["id"] == "message_id"
    assert kinds_below(ENTRIES)["isSidechain"] is bool
    assert kinds_below(ENTRIES, "message", "usage")["output_tokens"] is int
    assert names_below(ENTRIES, "nowhere") == {}
    assert names_below(CONTENT_BLOCKS)["is_error"] == "is_error"


def test_an_instant_is_no_plain_value() -> None:
    assert "timestamp" not in names_below(ENTRIES)
