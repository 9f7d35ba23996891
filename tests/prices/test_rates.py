"""The rates: for every request the row that the book's card says, and no second one."""

from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from etl.prices import shipped
from etl.prices.rates import FIRST_DAY, LARGEST_PROMPT, Rate, rates_of

RATES = rates_of(shipped())
DAYS = sorted(
    {
        day
        for card in shipped().cards
        for day in (card.first_day, card.end_day)
        if day is not None and day > FIRST_DAY
    }
)


def fitting(model: str, speed: str, prompt: int, day: date) -> list[Rate]:
    return [
        rate
        for rate in RATES
        if (rate.model, rate.speed) == (model, speed)
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
    rates = fitting(model, speed, prompt, day)
    assert [rate.pico_usd for rate in rates] == ([card.pico_usd] if card else [])


def test_a_batch_costs_half_and_fast_mode_has_none() -> None:
    day = date(2026, 11, 1)
    (batch,) = fitting("claude-opus-5-5", "standard", 5, day)
    (fast,) = fitting("claude-opus-5-5", "fast", 5, day)
    assert (batch.batch_hundredths, fast.batch_hundredths) == (50, None)


def test_where_it_ran_costs_more_for_the_models_that_the_rule_names() -> None:
    day = date(2026, 11, 1)
    shares = {
        model: (rate.us_hundredths, rate.regional_hundredths)
        for model in ("claude-opus-4-1", "claude-sonnet-4-5", "claude-opus-5-5")
        for rate in fitting(model, "standard", 5, day)
    }
    assert shares == {
        "claude-opus-4-1": (100, 100),
        "claude-sonnet-4-5": (100, 110),
        "claude-opus-5-5": (110, 110),
    }


def test_the_rules_of_anthropic_say_nothing_of_other_providers() -> None:
    cards = [replace(card, provider="glowworks") for card in shipped().cards]
    for rate in rates_of(replace(shipped(), cards=tuple(cards))):
        assert rate.batch_hundredths is None
        assert rate.us_hundredths is None
        assert rate.regional_hundredths is None
        assert rate.web_search_pico_usd is None
