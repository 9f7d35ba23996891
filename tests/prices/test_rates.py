"""The rates: for every request the row that the book's card says, and no second one."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etl.prices import shipped
from etl.prices.book import book_of
from etl.prices.rates import LARGEST_PROMPT, Rate, rates_of

RATES = rates_of(shipped())
DAYS = sorted(
    {day for card in shipped().cards for day in (card.first_day, card.end_day) if day is not None}
)


def fitting(model: str, speed: str, tier: str, prompt: int, day: date) -> list[Rate]:
    return [
        rate
        for rate in RATES
        if (rate.model, rate.speed, rate.service_tier) == (model, speed, tier)
        and rate.prompt_min <= prompt <= rate.prompt_max
        and rate.valid_from <= day < rate.valid_to
    ]


@given(
    model=st.sampled_from(sorted(shipped().models())),
    speed=st.sampled_from(["standard", "fast"]),
    prompt=st.sampled_from([0, 1, 99_999, 100_000, 100_001, 200_000, 200_001, LARGEST_PROMPT]),
    day=st.sampled_from(DAYS)
    | st.sampled_from(DAYS).map(lambda day: date.fromordinal(day.toordinal() - 1))
    | st.dates(date(2023, 1, 1), date(2030, 1, 1)),
)
def test_a_request_finds_the_rate_of_its_card_and_no_other(
    model: str, speed: str, prompt: int, day: date
) -> None:
    card = shipped().card_for(model, speed, prompt, day)
    rates = fitting(model, speed, "standard", prompt, day)
    assert [rate.pico_usd for rate in rates] == ([card.pico_usd] if card else [])


def test_a_batch_costs_half_and_fast_mode_has_none() -> None:
    day = date(2026, 11, 1)
    (batch,) = fitting("claude-haiku-5-5", "standard", "batch", 5, day)
    assert batch.pico_usd["cache_write_5m"] == 62_500
    assert fitting("claude-opus-5-5", "fast", "batch", 5, day) == []


def test_where_it_ran_costs_more_for_the_models_that_the_rule_names() -> None:
    day = date(2026, 11, 1)
    shares = {
        model: (rate.us_hundredths, rate.regional_hundredths)
        for model in ("claude-opus-4-1", "claude-sonnet-4-5", "claude-opus-5-5")
        for rate in fitting(model, "standard", "standard", 5, day)
    }
    assert shares == {
        "claude-opus-4-1": (100, 100),
        "claude-sonnet-4-5": (100, 110),
        "claude-opus-5-5": (110, 110),
    }


def test_a_price_that_half_of_is_no_whole_number_is_refused() -> None:
    prices = "".join(
        f'{name} = "0.000001"\n'
        for name in ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
    )
    text = (
        'as_of = 2026-11-18\n[multipliers.batch]\nmultiplier = "0.5"\nfrom = 2024-10-08\n'
        f'[[card]]\nmodel = "m"\nfrom = 2026-01-01\nsource = "s"\nevidence = "official"\n{prices}'
    )
    with pytest.raises(ArithmeticError, match="no whole number"):
        rates_of(book_of(text, "prices.toml"))
