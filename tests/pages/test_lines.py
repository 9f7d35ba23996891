"""Lines that fit a terminal, whatever they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etl.pages.lines import (
    arguments_of,
    columns_of,
    cost,
    duration,
    ending,
    rows_of,
    shortened,
)


def test_a_long_line_is_broken_at_spaces_and_goes_on_where_it_began() -> None:
    text = "Short.\n  - a list item that is long\n\nlast"
    assert list(rows_of(text, 16)) == [
        "Short.",
        "  - a list item",
        "  that is long",
        "",
        "last",
    ]


def test_a_word_without_an_end_is_broken_anywhere() -> None:
    assert list(rows_of("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]
    assert list(rows_of("see " + "x" * 12, 10)) == ["see", "x" * 10, "xx"]


def test_wide_letters_take_two_columns_and_marks_none() -> None:
    assert columns_of("漢字") == 4
    assert columns_of("e\u0301") == 1
    assert list(rows_of("漢字漢字", 5)) == ["漢字", "漢字"]


def test_without_a_width_lines_stay_as_they_are() -> None:
    assert list(rows_of("a\tb\r\n" + "x" * 300, None)) == ["a   b", "x" * 300]


def test_what_steers_a_terminal_is_spelled_out() -> None:
    assert list(rows_of("\x1b[2J\u202ea\rb", None)) == ["\\x1b[2J\\u202ea\\rb"]


@given(st.text(alphabet="ab  \n漢é\x1b", max_size=80), st.integers(4, 30))
def test_no_row_is_wider_than_it_may_be_and_no_letter_is_lost(text: str, columns: int) -> None:
    rows = list(rows_of(text, columns))
    assert all(columns_of(row) <= columns for row in rows)
    whole = "".join(rows_of(text, None))
    assert "".join(rows).replace(" ", "") == whole.replace(" ", "")


@given(st.text(alphabet="ab 漢é", max_size=40), st.integers(0, 30))
def test_what_is_cut_fits_and_says_so(text: str, columns: int) -> None:
    for cut, is_kept in ((shortened, text.startswith), (ending, text.endswith)):
        shown = cut(text, columns)
        assert columns_of(shown) <= columns
        assert shown == text or (is_kept(shown.strip("…")) and ("…" in shown or columns == 0))


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (0, "0.0 s"),
        (59_940, "59.9 s"),
        (133_000, "2 min 13 s"),
        (7_260_000, "2 h 01 min"),
    ],
)
def test_a_duration_is_said_as_people_say_it(ms: int, words: str) -> None:
    assert duration(ms) == words


def test_a_cost_is_never_nothing_where_there_is_no_price() -> None:
    assert cost({"cost_usd": 12, "unpriced_tokens": 0}) == "12.00 USD"
    assert cost({"cost_usd": "0.0042", "unpriced_tokens": None}) == "0.0042 USD"
    assert cost({"cost_usd": None, "unpriced_tokens": 1200}) == "no price for 1,200 tokens"
    assert cost({"cost_usd": 1, "unpriced_tokens": 7}) == "1.00 USD, and 7 tokens without a price"
    assert cost({}) == ""


def test_arguments_are_told_a_line_each() -> None:
    assert arguments_of('{"command":"ls\\n-la","n":3}') == "command: ls\n-la\nn: 3"
    assert arguments_of("[1]") == "[1]"
    assert arguments_of(None) == ""
