"""Where in a file something is written: the line of every key, whatever stands around it."""

import pytest

from etl.errors import UsageError
from etl.prices.places import read, shown

FILE = '''\
# [[price]] in a comment is none
title = """
[[price]]
input = "1"
"""

[[ price ]]  # the first
model = "glow-1"

"input" = [
    # not yet
    "3",
]

[["price"]]
note = \'\'\'one
input = "9"
two\'\'\'
output = "2"

[price.deep]
er = 1

[[price]]
input.usd = "3"
'''


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        read(text, "prices.toml")
    assert caught.value.hint
    return str(caught.value)


@pytest.mark.parametrize("text", [FILE, FILE.replace("\n", "\r\n")], ids=["unix", "dos"])
@pytest.mark.parametrize(
    ("number", "key", "line"),
    [
        (1, "", 7),
        (1, "model", 8),
        (1, "input", 10),
        (1, "absent", 7),
        (2, "", 15),
        (2, "note", 16),
        (2, "output", 19),
        (2, "deep", 21),
        (2, "input", 15),
        (3, "input", 25),
    ],
)
def test_a_key_has_the_line_it_is_written_in(text: str, number: int, key: str, line: int) -> None:
    places = list(read(text, "prices.toml").each("price"))
    assert len(places) == 3
    assert places[number - 1].line_of(key) == line


def test_what_is_written_in_one_line_has_the_line_of_all_of_it() -> None:
    text = 'a = 1\nprice = [\n  { model = "x" },\n  { model = "y" },\n]\n'
    assert [place.line_of("model") for place in read(text, "prices.toml").each("price")] == [2, 2]


def test_a_table_of_a_table_is_found_by_its_name() -> None:
    place = read("[rule.one]\na = 1\n[rule.two]\na = 2\n", "prices.toml").below("rule", "two")
    assert (place.line_of("a"), place.line_of(), place.entry) == (4, 3, {"a": 2})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[price]\n", "prices.toml, line 1: Expected ']]'"),
        ("a = 1\n\nb = \n", "prices.toml, line 3: Invalid value (column 5)"),
        ("a = 1\nb = 2026-02-30\n", "prices.toml, line 2: "),
        ('a = 1\nb = """\nc\n\n', "prices.toml, line 3: "),
        ("a = 1\na = 2\n", "prices.toml, line 2: Cannot overwrite a value"),
        ("a = " + "9" * 5000, "prices.toml: it cannot be read: "),
        ("a = " + "[" * 5000, "prices.toml"),
    ],
)
def test_what_is_no_toml_is_refused_with_its_line(text: str, told: str) -> None:
    assert told in refusal(text)


@pytest.mark.parametrize("text", ["price = 3\n", "[price]\nmodel = 'x'\n", "price = [1]\n"])
def test_a_list_of_entries_has_double_brackets(text: str) -> None:
    with pytest.raises(UsageError, match=r"line 1: price: it is written \[\[price\]\]"):
        read(text, "prices.toml").each("price")


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.3, "0.3"), (True, "true"), ("a", '"a"'), (None, "None"), ("x" * 99, '"' + "x" * 38 + "…")],
)
def test_a_value_is_shown_as_it_is_written(value: object, told: str) -> None:
    assert shown(value) == told
