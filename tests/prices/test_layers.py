"""A person's price over the book's: for any request, the days and components it names, no more."""

from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from etl.prices import shipped
from etl.prices.book import COMPONENTS, Book, Card
from etl.prices.layers import OWN, laid_over
from etl.prices.rates import rates_of

OPUS = "claude-opus-4-6"
MODELS = (OPUS, "claude-sonnet-4", "claude-sonnet-5-5", "zai/glm-5.3-flash", "glow-1")
EDGES = sorted(
    {day for card in shipped().cards for day in (card.first_day, card.end_day) if day} - {date.min}
)
DAYS = (
    st.sampled_from(EDGES)
    | st.sampled_from(EDGES).map(lambda day: day - timedelta(days=1))
    | st.dates(date(2019, 1, 1), date(2030, 1, 1))
)
PROMPTS = (0, 1, 100_000, 100_001, 200_000, 200_001, 300_000, 300_001)
SPEEDS = st.sampled_from(["standard", "fast"])


@st.composite
def own_cards(draw: st.DrawFn) -> Card:
    first_day = draw(st.just(date.min) | DAYS)
    end_day = draw(st.none() | DAYS.filter(lambda day: day > first_day))
    named = draw(st.sets(st.sampled_from(COMPONENTS), min_size=1))
    price = draw(st.integers(0, 9))
    return Card(
        draw(st.sampled_from(MODELS)),
        draw(SPEEDS),
        draw(st.sampled_from([0, 100_000, 200_000, 300_000])),
        first_day,
        end_day,
        dict.fromkeys(sorted(named), price),
        "prices.toml, line 1",
        OWN,
        provider=OWN,
    )


def own_card(model: str, *, prompt_over: int = 0, names: tuple[str, ...] = ("input",)) -> Card:
    prices = dict.fromkeys(names, 7)
    return Card(model, "standard", prompt_over, date.min, None, prices, "mine", OWN, provider=OWN)


def with_own(*own: Card) -> Book:
    cards = shipped().cards
    for card in own:
        cards = laid_over(cards, card)
    return replace(shipped(), cards=cards)


def expected(own: Card, speed: str, prompt: int, day: date) -> dict[str, int]:
    """Price a request in the plainest way: the book's card, and the own one if it is for it."""
    card = shipped().card_for(own.model, speed, prompt, day)
    listed = dict(card.pico_usd) if card else {}
    if card is not None and card.prompt_over > own.prompt_over:
        return listed
    if speed != own.speed or (own.prompt_over and prompt <= own.prompt_over):
        return listed
    first_day, end_day = first_day_of(own), own.end_day or date.max
    if own.first_day == date.min and first_day < end_day:
        own = replace(own, first_day=first_day)  # without a first day it begins with the model
    # A day before the first counts as the first, but for a price that names days before it.
    on = max(day, first_day) if speed == "standard" and own.first_day >= first_day else day
    return {**listed, **own.pico_usd} if own.holds_on(on) else listed


def first_day_of(own: Card) -> date:
    kin = [card for card in shipped().cards if (card.model, card.speed) == (own.model, own.speed)]
    return min(card.first_day for card in kin or [own])


@given(own=own_cards(), speed=SPEEDS, prompt=st.sampled_from(PROMPTS), day=DAYS)
def test_an_own_price_changes_the_requests_it_is_for_and_no_other(
    own: Card, speed: str, prompt: int, day: date
) -> None:
    card = with_own(own).card_for(own.model, speed, prompt, day)
    assert dict(card.pico_usd if card else {}) == expected(own, speed, prompt, day)


@given(own=st.lists(own_cards(), min_size=1, max_size=4), prompt=st.sampled_from(PROMPTS), day=DAYS)
def test_a_request_finds_one_rate_at_most_under_any_own_prices(
    own: list[Card], prompt: int, day: date
) -> None:
    book = with_own(*own)
    rates = rates_of(book)
    for model, speed in {(card.model, card.speed) for card in own}:
        fitting = [
            rate.pico_usd
            for rate in rates
            if (rate.model, rate.speed) == (model, speed)
            and rate.prompt_min <= prompt <= rate.prompt_max
            and rate.valid_from <= day < rate.valid_to
        ]
        card = book.card_for(model, speed, prompt, day)
        assert fitting == ([card.pico_usd] if card else [])


@given(own=st.lists(own_cards(), min_size=1, max_size=4))
def test_no_two_cards_of_a_cell_hold_on_one_day(own: list[Card]) -> None:
    cells: dict[tuple[str, str, int], list[Card]] = {}
    for card in with_own(*own).cards:
        cells.setdefault((card.model, card.speed, card.prompt_over), []).append(card)
    for cards in cells.values():
        for one, other in pairwise(sorted(cards, key=lambda card: card.first_day)):
            assert one.end_day is not None
            assert one.first_day < one.end_day <= other.first_day


def test_rules_of_the_provider_still_hold_under_an_own_price() -> None:
    book = with_own(own_card(OPUS), own_card("glow-1"))
    assert {card.provider for card in book.cards if card.model == OPUS} == {"anthropic"}
    assert {card.provider for card in book.cards if card.model == "glow-1"} == {OWN}
    rates = {rate.model: rate for rate in rates_of(book) if rate.speed == "standard"}
    assert rates[OPUS].us_hundredths == 110
    assert (rates["glow-1"].us_hundredths, rates["glow-1"].web_search_pico_usd) == (None, None)


def test_a_source_says_what_is_whose() -> None:
    some, all_of_it = own_card(OPUS), own_card(OPUS, names=COMPONENTS)
    books = [with_own(some), with_own(some, all_of_it)]
    cards = [book.card_for(OPUS, "standard", 1, date(2026, 7, 1)) for book in books]
    assert [card and card.source for card in cards] == ["mine (input); pricing page", "mine"]


def test_a_longer_prompt_takes_what_is_not_named_from_the_card_below() -> None:
    book = with_own(own_card(OPUS, prompt_over=300_000))
    for day, output in (("2026-03-12", 37_500_000), ("2026-03-13", 25_000_000)):
        card = book.card_for(OPUS, "standard", 300_001, date.fromisoformat(day))
        assert card
        assert (card.pico_usd["input"], card.pico_usd["output"]) == (7, output)
