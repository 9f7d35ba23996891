"""A field that nobody has seen before is noticed, wherever it stands."""

from etl.normalise.fields import members
from etl.normalise.known import unknown_fields
from tests.sessions import assistant, user


def unknown_in(*lines: dict[str, object]) -> list[object]:
    messages = members(lines, "message")
    return unknown_fields(lines, messages, members(messages, "usage"))


def test_known_lines_have_no_news() -> None:
    assert unknown_in(user("Hi"), assistant(stop="end_turn"), {}) == [None, None, None]


def test_news_is_told_by_its_path_and_only_where_it_stands() -> None:
    odd = assistant(usage={"mana": 7, "luck": 1}, mood="fine")
    odd["message"]["aura"] = "blue"
    told = b'["message.aura","message.usage.luck","message.usage.mana","mood"]'
    assert unknown_in(user("Hi"), odd) == [None, told]


def test_values_of_any_type_are_no_trouble() -> None:
    assert unknown_in({"message": "text"}, {"message": {"usage": [1]}}) == [None, None]
