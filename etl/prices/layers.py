"""A person's price over the book's: it wins for the days and components it names, no further."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from etl.prices.book import Card

OWN = "own"


def laid_over(cards: Sequence[Card], own: Card) -> tuple[Card, ...]:
    """Return the cards with one laid over those of its model, speed and size of prompt."""
    whose = next((card.provider for card in cards if card.model == own.model), own.provider)
    own = replace(own, provider=whose)
    kin = [card for card in cards if (card.model, card.speed) == (own.model, own.speed)]
    others = [card for card in cards if (card.model, card.speed) != (own.model, own.speed)]
    if not kin:
        return (*others, own)
    own, kin = _begun(own, kin)
    left = [piece for card in kin for piece in _outside(card, own)]
    return (*others, *left, *_inside(own, kin))


def _begun(own: Card, kin: list[Card]) -> tuple[Card, list[Card]]:
    """Settle how the two begin: the first card of a model also prices the time before it."""
    first_day = min(card.first_day for card in kin)
    if own.first_day == date.min and first_day < _end(own):
        return replace(own, first_day=first_day), kin
    if own.first_day < first_day and own.speed == "standard":
        # Else the own price would become the first card, and hold for days it does not name.
        return own, [
            replace(card, first_day=date.min) if card.first_day == first_day else card
            for card in kin
        ]
    return own, kin


def _outside(card: Card, own: Card) -> Iterator[Card]:
    """Yield what is left of a card, before and after the own price."""
    if card.prompt_over != own.prompt_over:
        yield card
        return
    if card.first_day < own.first_day:
        yield replace(card, end_day=min(_end(card), own.first_day))
    if own.end_day is not None and own.end_day < _end(card):
        yield replace(card, first_day=max(card.first_day, own.end_day))


def _inside(own: Card, kin: Sequence[Card]) -> Iterator[Card]:
    """Yield the own price, stretch by stretch, over the cards that would have priced its days."""
    below = [card for card in kin if card.prompt_over <= own.prompt_over]
    turns = {day for card in below for day in (card.first_day, _end(card))}
    inside = {day for day in turns if own.first_day < day < _end(own)}
    for begin, end in pairwise(sorted({own.first_day, _end(own)} | inside)):
        held = [card for card in below if card.holds_on(begin)]
        under = max(held, key=lambda card: card.prompt_over, default=None)
        stretch = replace(own, first_day=begin, end_day=None if end == date.max else end)
        yield _merged(stretch, under) if under else stretch


def _merged(own: Card, under: Card) -> Card:
    source = own.source
    if under.pico_usd.keys() - own.pico_usd.keys():
        source = f"{own.source} ({', '.join(own.pico_usd)}); {under.source}"
    return replace(own, pico_usd={**under.pico_usd, **own.pico_usd}, source=source)


def _end(card: Card) -> date:
    return card.end_day or date.max
