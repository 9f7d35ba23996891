"""Markdown out of which nothing that was logged can break."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etl.pages.markdown import coded, escaped, fenced, folded, quoted

HARMFUL = "<script>x</script> ![track](http://127.0.0.1/)"
SAFE = "&lt;script>x&lt;/script> &#33;[track](http://127.0.0.1/)"


def quote(*lines: str) -> list[str]:
    return [line.removeprefix("> ") for line in quoted("\n".join(lines))]


def test_words_are_quoted_line_by_line() -> None:
    assert list(quoted("\n# One\n\n- two\n")) == ["> # One", ">", "> - two"]


def test_tags_and_images_are_spelled_out_and_code_is_left_alone() -> None:
    assert quote(HARMFUL, "```html", HARMFUL, "```", HARMFUL) == [
        SAFE,
        "```html",
        HARMFUL,
        "```",
        SAFE,
    ]


@pytest.mark.parametrize(
    "before",
    [
        ["    ```"],  # code by its indent, or in a list a fence
        ["- a", "  ```"],  # ends with its list
        ["\t```"],
        ["> ```"],
        ["1. ```"],
        ["``` a`b"],  # a span
        ["```", "```"],
        ["~~~", "code", "   ~~~~"],
    ],
    ids="|".join,
)
def test_what_may_be_no_code_holds_no_tag(before: list[str]) -> None:
    *_, last = quote(*before, HARMFUL)
    assert last == SAFE


def test_a_fence_is_closed_only_by_one_as_long_of_its_kind() -> None:
    inside = ["```", "~~~~", "````x", "    ````"]
    assert quote("````", *inside, HARMFUL, "`````", HARMFUL)[-3:] == [HARMFUL, "`````", SAFE]


def test_a_tab_is_as_long_behind_the_mark_of_a_quote_as_it_was() -> None:
    assert quote("```", "\t```", HARMFUL) == ["```", "    ```", HARMFUL]
    assert quote("\t```", HARMFUL) == ["    ```", SAFE]


def test_a_carriage_return_begins_no_line() -> None:
    assert quote("a\r# b\r") == ["a\\r# b"]


@given(st.text(alphabet="`~ab \n\r\t\x1b", max_size=60))
def test_a_fence_is_longer_than_any_inside(text: str) -> None:
    first, *inside, last = fenced(text)
    assert first == f"{last}text"
    assert not any(line.strip().startswith(last) for line in inside)
    assert len(inside) == text.count("\n") + 1


def test_what_is_folded_away_has_a_title_that_opens_nothing() -> None:
    assert list(folded("a </summary>\n\n<b>", iter(["", "inside"]))) == [
        "",
        "<details><summary>a &lt;/summary&gt; &lt;b&gt;</summary>",
        "",
        "inside",
        "",
        "</details>",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, 2026-03-01.", "plain, 2026-03-01."),
        ("*a* <b> [c](d) `e` #f @g", r"\*a\* \<b\> \[c\](d) \`e\` \#f \@g"),
        ("- item", r"\- item"),
        ("12. item", r"12\. item"),
        ("11111111-1111", "11111111-1111"),
        ("a\n\n# b", r"a \# b"),
        ("\x1b[2J", r"\\x1b\[2J"),
    ],
)
def test_a_text_on_a_line_means_nothing_but_its_letters(text: str, shown: str) -> None:
    assert escaped(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("ls -la", "`ls -la`"), ("a `b` c", "`` a `b` c ``"), ("``", "``` `` ```"), ("", "")],
)
def test_code_in_a_line_is_held_by_more_ticks_than_are_in_it(text: str, shown: str) -> None:
    assert coded(text) == shown
