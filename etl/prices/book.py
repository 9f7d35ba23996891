"""The price book: TOML text in, checked cards out. Whole numbers only, so that sums are exact.

A millionth of a dollar for a million tokens is a pico-dollar for one: the unit of every price here.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from etl.errors import UsageError
from etl.hashing import hash_of

COMPONENTS = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
SPEEDS = frozenset({"standard", "fast"})
EVIDENCE = frozenset({"official", "quoted", "excerpt", "library", "derived"})
ANTHROPIC = "anthropic"
_PICO = 1_000_000
_NEEDED = frozenset({"model", "from", "source", "evidence", *COMPONENTS})
_ALLOWED = _NEEDED | {"speed", "prompt_over", "to", "note"}
_TOP = frozenset({"as_of", "web_search", "multipliers", "card"})
_RULES = frozenset({"multiplier", "from", "source", "models"})


@dataclass(frozen=True, slots=True)
class Card:
    """What one model costs at one speed, for some days and some sizes of prompt."""

    model: str
    speed: str
    prompt_over: int
    first_day: date
    end_day: date | None
    pico_usd: Mapping[str, int]
    source: str
    evidence: str
    note: str | None = None
    provider: str = ANTHROPIC

    def holds_on(self, day: date) -> bool:
        """Say whether the card is one of that day."""
        return self.first_day <= day and (self.end_day is None or day < self.end_day)


@dataclass(frozen=True, slots=True)
class Multiplier:
    """A share of the price in hundredths, and the models it applies to; none named means all."""

    hundredths: int
    first_day: date
    models: frozenset[str]
    source: str


@dataclass(frozen=True, slots=True)
class Book:
    """All cards and rules of one price book."""

    as_of: date
    cards: tuple[Card, ...]
    multipliers: Mapping[str, Multiplier] = field(default_factory=dict)
    web_search_pico_usd: int = 0
    content_hash: str = ""

    def models(self) -> frozenset[str]:
        """Return the models that have a card."""
        return frozenset(card.model for card in self.cards)

    def card_for(self, model: str, speed: str, prompt_tokens: int, day: date) -> Card | None:
        """Return the card of a request; the first of a model holds for the time before it, too."""
        mine = [card for card in self.cards if card.model == model and card.speed == speed]
        if not mine:
            return None
        first_day = min(card.first_day for card in mine)
        on = max(day, first_day) if speed == "standard" else day
        fitting = [
            card
            for card in mine
            if card.holds_on(on) and (not card.prompt_over or prompt_tokens > card.prompt_over)
        ]
        return max(fitting, key=lambda card: card.prompt_over, default=None)


def book_of(text: str, name: str) -> Book:
    """Read a price book, or say where it is wrong."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise wrong(name, str(error)) from error
    refuse_unknown(document, _TOP, name)
    cards = tuple(_card_of(entry, f"{name}, card {n}") for n, entry in _numbered(document, "card"))
    _refuse_overlaps(cards, name)
    searches = document.get("web_search", {})
    return Book(
        as_of=day_at(document, "as_of", name),
        cards=cards,
        multipliers={
            key: _multiplier_of(entry, f"{name}, multiplier {key}")
            for key, entry in document.get("multipliers", {}).items()
        },
        web_search_pico_usd=pico_of(searches.get("usd_per_1000", "0"), name, 1_000_000_000),
        content_hash=hash_of(text.encode()),
    )


def _numbered(document: Mapping[str, Any], key: str) -> Iterable[tuple[int, Mapping[str, Any]]]:
    return enumerate(document.get(key, ()), start=1)


def _card_of(entry: Mapping[str, Any], place: str) -> Card:
    refuse_unknown(entry, _ALLOWED, place)
    if missing := sorted(_NEEDED - entry.keys()):
        raise wrong(place, f"it has no {', '.join(missing)}")
    if entry["evidence"] not in EVIDENCE:
        raise wrong(place, f"evidence {entry['evidence']!r} is not known")
    speed, prompt_over, first_day, end_day = scope_of(entry, place)
    return Card(
        model=str(entry["model"]),
        speed=speed,
        prompt_over=prompt_over,
        first_day=first_day,
        end_day=end_day,
        pico_usd={name: pico_of(entry[name], f"{place}, {name}") for name in COMPONENTS},
        source=str(entry["source"]),
        evidence=entry["evidence"],
        note=entry.get("note"),
    )


def scope_of(entry: Mapping[str, Any], place: str) -> tuple[str, int, date, date | None]:
    """Return what a card is for: speed, size of prompt, first day and the day after the last."""
    speed, prompt_over = entry.get("speed", "standard"), entry.get("prompt_over", 0)
    if speed not in SPEEDS:
        raise wrong(place, f"speed {speed!r} is not known")
    if type(prompt_over) is not int or prompt_over < 0:
        raise wrong(place, f"prompt_over is a number of tokens, not {prompt_over!r}")
    first_day = day_at(entry, "from", place) if "from" in entry else date.min
    end_day = day_at(entry, "to", place) if "to" in entry else None
    if end_day is not None and end_day <= first_day:
        raise wrong(place, "it ends before it begins")
    return speed, prompt_over, first_day, end_day


def _multiplier_of(entry: Mapping[str, Any], place: str) -> Multiplier:
    refuse_unknown(entry, _RULES, place)
    return Multiplier(
        hundredths=pico_of(entry.get("multiplier"), place, 100),
        first_day=day_at(entry, "from", place),
        models=frozenset(entry.get("models", ())),
        source=str(entry.get("source", "")),
    )


def pico_of(value: object, place: str, scale: int = _PICO) -> int:
    """Return a price as a whole number of units; a float, or more digits than fit, is an error."""
    if not isinstance(value, str):
        raise wrong(place, f'a price is written as text, such as "0.30", not {value!r}')
    try:
        scaled = Decimal(value) * scale
    except InvalidOperation as error:
        raise wrong(place, f"{value!r} is no price") from error
    if not scaled.is_finite() or scaled < 0 or scaled != scaled.to_integral_value():
        raise wrong(place, f"{value!r} is no price of at most 6 decimals")
    return int(scaled)


def day_at(entry: Mapping[str, Any], key: str, place: str) -> date:
    """Return a day of an entry."""
    value = entry.get(key)
    if type(value) is not date:
        raise wrong(place, f"{key} is a day such as 2026-11-18, not {value!r}")
    return value


def refuse_unknown(entry: Mapping[str, Any], allowed: frozenset[str], place: str) -> None:
    """Refuse keys that nobody reads: a misspelt price must not be taken for none."""
    if unknown := sorted(entry.keys() - allowed):
        raise wrong(place, f"{', '.join(unknown)} is not known")


def _refuse_overlaps(cards: Iterable[Card], name: str) -> None:
    cells: dict[tuple[str, str, int], list[Card]] = defaultdict(list)
    for card in cards:
        cells[card.model, card.speed, card.prompt_over].append(card)
    for (model, speed, prompt_over), mine in cells.items():
        for one, other in pairwise(sorted(mine, key=lambda card: card.first_day)):
            if one.end_day is None or other.first_day < one.end_day:
                cell = f"{model}, {speed}, over {prompt_over:,} tokens"
                raise wrong(name, f"two cards of {cell} hold on {other.first_day}")


def wrong(place: str, what: str) -> UsageError:
    """Return the error that says where a book is wrong."""
    return UsageError(f"{place}: {what}", hint="README.md shows how prices are written")
