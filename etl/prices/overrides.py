"""A person's own prices and names, from a file: read, checked, and laid over the book."""

from collections.abc import Collection
from dataclasses import replace
from difflib import get_close_matches

from etl.hashing import hash_of
from etl.prices.book import (
    COMPONENTS,
    WEB_SEARCH,
    Book,
    Card,
    note_at,
    pico_at,
    scope_of,
    searches_at,
)
from etl.prices.layers import OWN, laid_over
from etl.prices.names import exact, named
from etl.prices.places import Place, read, shown

_TOP = frozenset({"price", "alias"})
_PRICES = (*COMPONENTS, WEB_SEARCH)
_PRICE = frozenset({"model", "speed", "prompt_over", "from", "to", "note", *_PRICES})
_ALIAS = frozenset({"name", "model"})


def with_overrides(book: Book, text: str, file: str) -> Book:
    """Return the book with what a person wrote laid over it, the later over the earlier."""
    place = read(text, file)
    place.refuse_unknown(_TOP)
    cards, known = book.cards, book.models()
    own = [_card_of(one, book) for one in place.each("price")]
    for card in own:
        cards = laid_over(cards, card)
    # Names of models that the book does not have follow no rule: they are what was written.
    strangers = {card.model: card.model for card in own if card.model not in known}
    aliases = {**strangers, **_aliases_of(place, known.union(strangers), strangers)}
    if not own and not aliases:
        return book
    told = f"{book.content_hash} {hash_of(text.encode())}"
    return replace(book, cards=cards, aliases=aliases, content_hash=hash_of(told.encode()))


def close_to(name: str, models: Collection[str]) -> list[str]:
    """Return the models whose names look most like one that is not known; never their price."""
    return get_close_matches(exact(name), sorted(models), n=3, cutoff=0.7)


def _card_of(place: Place, book: Book) -> Card:
    place.refuse_unknown(_PRICE)
    model = _priced_model(place, book)
    prices = {name: pico_at(place, name) for name in COMPONENTS if name in place.entry}
    if WEB_SEARCH in place.entry:
        prices[WEB_SEARCH] = searches_at(place, WEB_SEARCH)
    if not prices:
        raise place.wrong(f"it has no price; name one of {', '.join(_PRICES)}")
    source = f"{place.file.rpartition('/')[2]}, line {place.line_of()}"
    return Card(model, *scope_of(place), prices, source, OWN, note_at(place), provider=OWN)


def _priced_model(place: Place, book: Book) -> str:
    """Return the book's model or a new one, but no other way to write one of the book's."""
    written = place.words_at("model")
    model, models = exact(written), book.models()
    meant = model if model in models else named(model, models, vendors=book.vendors).model
    if meant and meant != model:
        raise place.wrong(f"{shown(written)} is a name of {meant}; write {shown(meant)}", "model")
    return model


def _aliases_of(
    place: Place, models: Collection[str], strangers: Collection[str]
) -> dict[str, str]:
    aliases: dict[str, str] = {}
    for one in place.each("alias"):
        one.refuse_unknown(_ALIAS)
        written, model = one.words_at("name"), exact(one.words_at("model"))
        name = exact(written)
        if name in aliases:
            raise one.wrong(f"{shown(written)} is an alias already", "name")
        if name in strangers:
            raise one.wrong(f"{shown(written)} has a price of its own in this file", "name")
        if model not in models:
            raise one.wrong(_unknown(one.words_at("model"), models), "model")
        aliases[name] = model
    return aliases


def _unknown(model: str, models: Collection[str]) -> str:
    close = ", ".join(close_to(model, models))
    told = f"the book has no {shown(model)}"
    return f"{told}; it has {close}" if close else f"{told}; cclake prices lists what it has"
