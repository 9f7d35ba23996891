"""A person's own prices and names: they win for the days and components they name, no further."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from etl.hashing import hash_of
from etl.prices.book import COMPONENTS, Book, Card, pico_of, refuse_unknown, scope_of, wrong

_PRICE = frozenset({"model", "speed", "prompt_over", "from", "to", "note", *COMPONENTS})
_ALIAS = frozenset({"name", "model"})
OWN = "own"


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a person wrote: partial cards, and names for models of the book."""

    cards: tuple[Card, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    content_hash: str = ""


def overrides_of(text: str, name: str) -> Overrides:
    """Read a file of own prices, or say where it is wrong."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise wrong(name, str(error)) from error
    refuse_unknown(document, frozenset({"price", "alias"}), name)
    cards = [
        _card_of(entry, f"{name}, price {number}")
        for number, entry in enumerate(document.get("price", ()), start=1)
    ]
    aliases = dict(
        _alias_of(entry, f"{name}, alias {number}")
        for number, entry in enumerate(document.get("alias", ()), start=1)
    )
    return Overrides(tuple(cards), aliases, hash_of(text.encode()))


def with_overrides(book: Book, overrides: Overrides) -> Book:
    """Return the book with a person's prices laid over it, the later over the earlier."""
    cards = book.cards
    for own in overrides.cards:
        cards = _laid_over(cards, own)
    told = f"{book.content_hash} {overrides.content_hash}"
    return replace(book, cards=cards, content_hash=hash_of(told.encode()))


def _card_of(entry: Mapping[str, Any], place: str) -> Card:
    refuse_unknown(entry, _PRICE, place)
    prices = {
        name: pico_of(entry[name], f"{place}, {name}") for name in COMPONENTS if name in entry
    }
    model = entry.get("model")
    if not isinstance(model, str) or not prices:
        raise wrong(place, f"it needs a model and a price of {', '.join(COMPONENTS)}")
    return Card(model, *scope_of(entry, place), prices, place, OWN)


def _alias_of(entry: Mapping[str, Any], place: str) -> tuple[str, str]:
    refuse_unknown(entry, _ALIAS, place)
    name, model = entry.get("name"), entry.get("model")
    if not isinstance(name, str) or not isinstance(model, str):
        raise wrong(place, "it needs a name and a model")
    return name, model


def _laid_over(cards: tuple[Card, ...], own: Card) -> tuple[Card, ...]:
    cell = (own.model, own.speed, own.prompt_over)
    mine = [card for card in cards if (card.model, card.speed, card.prompt_over) == cell]
    others = [card for card in cards if card not in mine]
    if not mine:
        return (*others, own)
    # What has no first day begins with the model, whose first card also prices the time before.
    first_day = max(own.first_day, min(card.first_day for card in mine))
    own = replace(own, first_day=first_day)
    return (*others, *(piece for card in mine for piece in _pieces(card, own)))


def _pieces(card: Card, own: Card) -> list[Card]:
    """Cut a card into the days before, under and after a person's own price."""
    begin, end = max(card.first_day, own.first_day), _earlier(card.end_day, own.end_day)
    if end is not None and end <= begin:
        return [card]
    before = replace(card, end_day=begin)
    under = replace(
        card,
        first_day=begin,
        end_day=end,
        pico_usd={**card.pico_usd, **own.pico_usd},
        source=own.source,
        evidence=own.evidence,
    )
    pieces = [before, under] if card.first_day < begin else [under]
    if end is not None and end != card.end_day:
        pieces.append(replace(card, first_day=end))
    return pieces


def _earlier(one: date | None, other: date | None) -> date | None:
    if one is None or other is None:
        return one or other
    return min(one, other)
