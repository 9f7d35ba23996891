"""The price book: what it holds, what it refuses, and that its past stands."""

from datetime import date
from pathlib import Path

import pytest

from etl.errors import UsageError
from etl.prices import shipped
from etl.prices.book import ANTHROPIC, COMPONENTS, book_of

PAST = Path(__file__).parent / "cards.txt"
CARD = """
[[card]]
model = "claude-kiln-1"
from = 2026-01-01
input = "3"
output = "15"
cache_write_5m = "3.75"
cache_write_1h = "6"
cache_read = "0.30"
source = "a page"
evidence = "official"
"""
BOOK = "as_of = 2026-11-18\n"


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        book_of(text, "prices.toml")
    assert caught.value.hint
    return str(caught.value)


def card_line(model: str, day: str, prompt: int = 0, speed: str = "standard") -> list[int] | None:
    card = shipped().card_for(model, speed, prompt, date.fromisoformat(day))
    return [card.pico_usd[name] for name in COMPONENTS] if card else None


def test_the_cards_of_the_past_stand() -> None:
    """A price that changed needs a new dated card; this file may only grow."""
    lines = [
        " ".join(
            [
                card.model,
                card.speed,
                f">{card.prompt_over}",
                str(card.first_day),
                str(card.end_day or "-"),
                *(f"{name}={card.pico_usd[name]}" for name in COMPONENTS),
            ]
        )
        for card in shipped().cards
        if card.provider == ANTHROPIC
    ]
    assert lines == PAST.read_text().splitlines()


def test_the_book_has_every_model_a_source_and_evidence_on_every_card() -> None:
    book = shipped()
    assert len(book.models(ANTHROPIC)) == 28
    assert all(card.source and card.evidence for card in book.cards)
    for rule in book.multipliers.values():
        assert rule.models <= book.models()
        assert rule.source


def test_prices_are_whole_pico_dollars_a_token() -> None:
    assert card_line("claude-haiku-5-5", "2026-11-01") == [
        100_000,
        500_000,
        125_000,
        200_000,
        10_000,
    ]
    assert shipped().web_search_pico_usd == 10_000_000_000
    assert {name: rule.hundredths for name, rule in shipped().multipliers.items()} == {
        "batch": 50,
        "us_inference": 110,
        "regional_endpoint": 110,
    }


@pytest.mark.parametrize(
    ("model", "day", "prompt", "input_price"),
    [
        ("claude-sonnet-5-5", "2026-10-06", 1, 2_000_000),
        ("claude-sonnet-4-5", "2026-01-01", 200_000, 3_000_000),
        ("claude-sonnet-4-5", "2026-01-01", 200_001, 6_000_000),
        ("claude-opus-4-6", "2026-03-12", 300_000, 10_000_000),
        ("claude-opus-4-6", "2026-03-13", 300_000, 5_000_000),
        ("claude-haiku-5-5", "2026-10-07", 100_001, 500_000),
        ("claude-opus-4", "2020-01-01", 5, 15_000_000),
    ],
)
def test_a_request_is_priced_by_its_day_and_the_size_of_its_prompt(
    model: str, day: str, prompt: int, input_price: int
) -> None:
    line = card_line(model, day, prompt)
    assert line
    assert line[0] == input_price


def test_a_cut_of_one_component_is_a_card_of_its_own() -> None:
    before, after = (card_line("claude-sonnet-5-5", day) for day in ("2026-10-06", "2026-10-07"))
    assert before
    assert after
    assert (before[:4], before[4], after[4]) == (after[:4], 200_000, 100_000)


def test_fast_mode_has_its_days_and_no_others() -> None:
    days = ("2026-02-06", "2026-02-07", "2026-06-28", "2026-06-29")
    lines = [card_line("claude-opus-4-6", day, speed="fast") for day in days]
    assert [line[0] if line else None for line in lines] == [None, 30_000_000, 30_000_000, None]
    assert card_line("claude-haiku-4-5", "2026-06-01", speed="fast") is None


def test_a_model_without_a_card_has_no_price() -> None:
    assert card_line("claude-opus-9", "2026-11-01") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOOK + CARD + CARD, "two cards of claude-kiln-1, standard, over 0 tokens hold on"),
        (BOOK + CARD.replace('"3"', "3.0"), "line 6: input: a price is written as text"),
        (BOOK + CARD.replace('"3"', '"dear"'), 'line 6: input: "dear" is no price'),
        (BOOK + CARD.replace("input", "inputs"), "line 6: inputs: nobody reads this"),
        (BOOK + CARD.replace('cache_read = "0.30"\n', ""), "line 3: it has no cache_read"),
        (BOOK + CARD + 'speed = "warp"\n', 'line 13: speed: "warp" is not known'),
        (BOOK + CARD + "speed = []\n", "line 13: speed: [] is not known"),
        (BOOK + CARD + "prompt_over = -1\n", "line 13: prompt_over: it is a number of tokens"),
        (BOOK + CARD + "prompt_over = true\n", "it is a number of tokens, not true"),
        (BOOK + CARD + "prompt_over = 1_000_000_001\n", "it is a number of tokens, not 1000000001"),
        (BOOK + CARD.replace("official", "hearsay"), 'line 12: evidence: "hearsay" is not known'),
        (BOOK + CARD.replace('"a page"', "1"), "line 11: source: it is some text in quotes"),
        (BOOK + CARD + "to = 2026-01-01\n", "line 13: to: 2026-01-01 is not after 2026-01-01"),
        (BOOK + CARD.replace("2026-01-01", '"2026-01-01"'), "line 5: from: a day is written as"),
        (BOOK + "[multipliers.batch]\nmultiplier = 0.5\n", "line 3: multiplier: a price is"),
        (BOOK + "colour = 1\n", "prices.toml, line 2: colour: nobody reads this"),
        (CARD, "line 1: as_of: a day is written as 2026-11-18, not None"),
        ("as_of = ", "prices.toml, line 1: Invalid value"),
    ],
)
def test_a_book_that_is_wrong_is_refused_with_its_place(text: str, told: str) -> None:
    assert told in refusal(text)
