"""A person's own prices: which days and components they change, and what is refused."""

from datetime import date

import pytest

from etl.errors import UsageError
from etl.prices import shipped
from etl.prices.book import COMPONENTS
from etl.prices.overrides import OWN, Overrides, overrides_of, with_overrides
from etl.prices.rates import rates_of

OPUS = "claude-opus-4-5"


def own(text: str) -> Overrides:
    return overrides_of(text, "prices.toml")


def price(text: str, day: str, component: str = "input", model: str = OPUS) -> int | None:
    card = with_overrides(shipped(), own(text)).card_for(
        model, "standard", 5, date.fromisoformat(day)
    )
    return card.pico_usd.get(component) if card else None


def test_an_own_price_holds_for_its_days_alone() -> None:
    text = f'[[price]]\nmodel = "{OPUS}"\nfrom = 2026-02-01\nto = 2026-03-01\ninput = "4"\n'
    days = ("2026-01-31", "2026-02-01", "2026-02-28", "2026-03-01")
    assert [price(text, day) for day in days] == [5_000_000, 4_000_000, 4_000_000, 5_000_000]
    assert price(text, "2026-02-01", "output") == 25_000_000


def test_an_own_price_without_days_holds_for_ever() -> None:
    text = f'[[price]]\nmodel = "{OPUS}"\ncache_read = "0.25"\n'
    assert [price(text, day, "cache_read") for day in ("2020-01-01", "2030-01-01")] == [250_000] * 2
    card = with_overrides(shipped(), own(text)).card_for(OPUS, "standard", 5, date(2026, 1, 1))
    assert card
    assert (card.evidence, card.source) == (OWN, "prices.toml, price 1")


def test_a_book_with_own_prices_is_another_book() -> None:
    texts = ("", f'[[price]]\nmodel = "{OPUS}"\ninput = "4"\n')
    hashes = {with_overrides(shipped(), own(text)).content_hash for text in texts}
    assert len(hashes | {shipped().content_hash}) == 3


def test_the_later_of_two_own_prices_wins() -> None:
    text = "".join(f'[[price]]\nmodel = "{OPUS}"\ninput = "{n}"\n' for n in (1, 2))
    assert price(text, "2026-01-01") == 2_000_000


def test_an_own_price_of_a_stranger_is_all_that_is_known_of_it() -> None:
    text = '[[price]]\nmodel = "glow-1"\ninput = "1"\n'
    assert price(text, "2026-01-01", "input", "glow-1") == 1_000_000
    assert price(text, "2026-01-01", "output", "glow-1") is None


def test_a_book_with_own_prices_has_rates_like_any_other() -> None:
    text = f'[[price]]\nmodel = "{OPUS}"\nfrom = 2026-02-01\ninput = "4"\n'
    rates = [rate for rate in rates_of(with_overrides(shipped(), own(text))) if rate.model == OPUS]
    assert [(rate.valid_from.year, rate.pico_usd["input"]) for rate in rates] == [
        (1970, 5_000_000),
        (2026, 4_000_000),
    ]
    assert set(rates[1].pico_usd) == set(COMPONENTS)


def test_aliases_name_models_of_the_book() -> None:
    text = f'[[alias]]\nname = "gateway/big"\nmodel = "{OPUS}"\n'
    assert own(text).aliases == {"gateway/big": OPUS}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[price]]\nmodel = 'm'\ninput = 3.5\n", "price 1, input: a price is written as text"),
        ("[[price]]\nmodel = 'm'\nimput = '3'\n", "price 1: imput is not known"),
        ("[[price]]\nmodel = 'm'\n", "price 1: it needs a model and a price"),
        ("[[price]]\ninput = '3'\n", "price 1: it needs a model and a price"),
        ("[[price]]\nmodel = 'm'\ninput = '3'\nspeed = 'warp'\n", "speed 'warp' is not known"),
        ("[[price]]\nmodel = 'm'\ninput = '3'\nprompt_over = true\n", "prompt_over is a number"),
        (
            "[[price]]\nmodel = 'm'\ninput = '3'\nfrom = 2026-02-01\nto = 2026-01-01\n",
            "it ends before it begins",
        ),
        ("[[alias]]\nname = 'x'\n", "alias 1: it needs a name and a model"),
        ("[[alias]]\nname = 'x'\nmodel = 'y'\nwhy = 'z'\n", "alias 1: why is not known"),
        ("[[prices]]\n", "prices is not known"),
        ("[[price]\n", "at line 1"),
    ],
)
def test_own_prices_that_are_wrong_are_refused_with_their_place(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=r"prices\.toml") as caught:
        own(text)
    assert told in str(caught.value)
