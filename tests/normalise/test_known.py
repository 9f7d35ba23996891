"""A field that nobody has seen before is noticed, wherever it stands."""

from etl.normalise.fields import members
from etl.normalise.known import names_in, unknown_fields
from tests.sessions import assistant, text, user


def unknown_in(*lines: dict[str, object]) -> list[object]:
    messages = members(lines, "message")
    usages = members(messages, "usage")
    return unknown_fields(lines, messages, usages, names_in(lines, messages, usages))


def test_known_lines_have_no_news() -> None:
    assert unknown_in(user("Hi"), assistant(stop="end_turn"), {}) == [None, None, None]


def test_news_is_told_by_its_path_and_only_where_it_stands() -> None:
    odd = assistant(usage={"mana": 7, "luck": 1}, mood="fine")
    odd["message"]["aura"] = "blue"
    told = b'["message.aura","message.usage.luck","message.usage.mana","mood"]'
    assert unknown_in(user("Hi"), odd) == [None, told]


def test_values_of_any_type_are_no_trouble() -> None:
    assert unknown_in({"message": "text"}, {"message": {"usage": [1]}}) == [None, None]


def test_news_is_noticed_in_blocks_and_deep_in_usage() -> None:
    odd = assistant(
        text("Hi") | {"tone": "warm"}, usage={"cache_creation": {"ephemeral_9h_input_tokens": 1}}
    )
    told = b'["message.content.tone","message.usage.cache_creation.ephemeral_9h_input_tokens"]'
    assert unknown_in(odd) == [told]
