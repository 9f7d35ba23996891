"""The prices of other vendors: TOML text in, checked cards and the names of their models out.

`make prices` writes the text from a package's data. What a vendor says nothing of is left out
there, and costs here what the input costs: most charge nothing extra for writing a cache.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from etl.hashing import hash_of
from etl.prices.book import COMPONENTS, Book, Card, card_of, refuse_overlaps
from etl.prices.places import Place, read, shown
from etl.prices.rates import FIRST_DAY
from etl.prices.vendors import Vendor

_TOP = frozenset({"source", "vendor"})
_VENDOR = frozenset({"id", "called", "family", "takes_bare_names", "model"})
_MODEL = frozenset({"id", "names", "cards"})
_CARD = frozenset({"from", "to", "prompt_over", *COMPONENTS})


@dataclass(frozen=True, slots=True)
class Others:
    """What other vendors' models cost, and the names that mean them."""

    vendors: tuple[Vendor, ...]
    cards: tuple[Card, ...]
    content_hash: str


def others_of(text: str, name: str) -> Others:
    """Read the prices of other vendors, or say where they are wrong."""
    place = read(text, name)
    place.refuse_unknown(_TOP)
    source = place.words_at("source")
    entries = [*place.each("vendor")]
    vendors = tuple(map(_vendor_of, entries))
    cards = tuple(card for entry in entries for card in _cards_of(entry, source))
    refuse_overlaps(cards, place)
    return Others(vendors, cards, hash_of(text.encode()))


def with_others(book: Book, others: Others) -> Book:
    """Return the book together with the prices of other vendors."""
    told = f"{book.content_hash} {others.content_hash}"
    cards = (*book.cards, *others.cards)
    return replace(book, cards=cards, vendors=others.vendors, content_hash=hash_of(told.encode()))


def _vendor_of(place: Place) -> Vendor:
    place.refuse_unknown(_VENDOR)
    provider = place.words_at("id")
    return Vendor(
        provider=provider,
        called=frozenset(place.entry.get("called", ())),
        family=_pattern(place, "family"),
        takes_bare_names=place.entry.get("takes_bare_names", True) is True,
        patterns=tuple(
            (_pattern(model, "names"), f"{provider}/{model.words_at('id')}")
            for model in place.each("model")
        ),
    )


def _cards_of(vendor: Place, source: str) -> Iterator[Card]:
    provider = vendor.words_at("id")
    for model in vendor.each("model"):
        model.refuse_unknown(_MODEL)
        if not model.entry.get("cards"):
            raise model.wrong("it has no cards")
        for card in model.each("cards"):
            named = {"model": f"{provider}/{model.words_at('id')}", "source": source}
            yield replace(_card_of(card, named), provider=provider)


def _card_of(place: Place, named: Mapping[str, str]) -> Card:
    place.refuse_unknown(_CARD)
    entry = place.entry
    missing = [name for name in COMPONENTS if name.startswith("cache") and name not in entry]
    filled = {
        "from": FIRST_DAY,
        **entry,
        **{name: entry.get("input") for name in missing},
        **named,
        "evidence": "fallback" if missing else "library",
    }
    return card_of(replace(place, entry=filled))


def _pattern(place: Place, key: str) -> str:
    pattern = place.words_at(key)
    try:
        re.compile(pattern)
    except re.error as error:
        raise place.wrong(f"{shown(pattern)} is no expression: {error}", key) from error
    return pattern
