"""The price book: TOML text in, checked cards out. Whole numbers only, so that sums are exact.

A millionth of a dollar for a million tokens is a pico-dollar for one: the unit of every price here.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise

from etl.hashing import hash_of
from etl.prices.places import Place, read, shown
from etl.prices.vendors import Vendor

COMPONENTS = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
WEB_SEARCH = "web_search"
SPEEDS = frozenset({"standard", "fast"})
EVIDENCE = frozenset({"official", "quoted", "excerpt", "library", "fallback", "derived"})
ANTHROPIC = "anthropic"
_DECIMALS = 6  # A millionth of a dollar for a million tokens is a pico-dollar for one.
_SEARCHES = 1_000  # Searches are priced by the thousand, tokens by the million.
_NUMBER = re.compile(r"([0-9]+)(?:\.([0-9]+))?")
# So that a price times any number of tokens that was ever logged is a number SQL can hold.
_MOST_USD = 1_000
_MOST_TOKENS = 1_000_000_000
_NEEDED = frozenset({"model", "from", "source", "evidence", *COMPONENTS})
_ALLOWED = _NEEDED | {"speed", "prompt_over", "to", "note"}
_TOP = frozenset({"as_of", WEB_SEARCH, "multipliers", "card"})
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

    def fits(self, prompt_tokens: int) -> bool:
        """Say whether the prompt is large enough for the card."""
        return not self.prompt_over or prompt_tokens > self.prompt_over


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
    aliases: Mapping[str, str] = field(default_factory=dict)
    vendors: tuple[Vendor, ...] = ()

    def models(self, provider: str | None = None) -> frozenset[str]:
        """Return the models that have a card: all, or those of one provider."""
        return frozenset(card.model for card in self.cards if provider in {None, card.provider})

    def card_for(self, model: str, speed: str, prompt_tokens: int, day: date) -> Card | None:
        """Return the card of a request; the first of a model holds for the time before it, too."""
        mine = [card for card in self.cards if card.model == model and card.speed == speed]
        if not mine:
            return None
        first_day = min(card.first_day for card in mine)
        on = max(day, first_day) if speed == "standard" else day
        fitting = [card for card in mine if card.holds_on(on) and card.fits(prompt_tokens)]
        return max(fitting, key=lambda card: card.prompt_over, default=None)


def book_of(text: str, name: str) -> Book:
    """Read a price book, or say where it is wrong."""
    place = read(text, name)
    place.refuse_unknown(_TOP)
    cards = tuple(card_of(one) for one in place.each("card"))
    refuse_overlaps(cards, place)
    return Book(
        as_of=place.day_at("as_of"),
        cards=cards,
        multipliers={
            key: _multiplier_of(place.below("multipliers", key))
            for key in place.entry.get("multipliers", {})
        },
        web_search_pico_usd=_web_search(place),
        content_hash=hash_of(text.encode()),
    )


def _web_search(place: Place) -> int:
    has_one = WEB_SEARCH in place.entry
    return searches_at(place.below(WEB_SEARCH), "usd_per_1000") if has_one else 0


def card_of(place: Place) -> Card:
    """Return the card that an entry is, or say where it is wrong."""
    place.refuse_unknown(_ALLOWED)
    if missing := sorted(_NEEDED - place.entry.keys()):
        raise place.wrong(f"it has no {', '.join(missing)}")
    evidence = place.words_at("evidence")
    if evidence not in EVIDENCE:
        raise place.wrong(f"{shown(evidence)} is not known", "evidence")
    speed, prompt_over, first_day, end_day = scope_of(place)
    return Card(
        model=place.words_at("model"),
        speed=speed,
        prompt_over=prompt_over,
        first_day=first_day,
        end_day=end_day,
        pico_usd={name: pico_at(place, name) for name in COMPONENTS},
        source=place.words_at("source"),
        evidence=evidence,
        note=note_at(place),
    )


def scope_of(place: Place) -> tuple[str, int, date, date | None]:
    """Return what a card is for: speed, size of prompt, first day and the day after the last."""
    entry = place.entry
    speed, prompt_over = entry.get("speed", "standard"), entry.get("prompt_over", 0)
    if not isinstance(speed, str) or speed not in SPEEDS:
        raise place.wrong(f"{shown(speed)} is not known; it is standard or fast", "speed")
    if type(prompt_over) is not int or not 0 <= prompt_over <= _MOST_TOKENS:
        raise place.wrong(f"it is a number of tokens, not {shown(prompt_over)}", "prompt_over")
    first_day = place.day_at("from") if "from" in entry else date.min
    end_day = place.day_at("to") if "to" in entry else None
    if end_day is not None and end_day <= first_day:
        raise place.wrong(f"{end_day} is not after {first_day}; it would hold on no day", "to")
    return speed, prompt_over, first_day, end_day


def note_at(place: Place) -> str | None:
    """Return the note of a card, if it has one."""
    return place.words_at("note") if "note" in place.entry else None


def _multiplier_of(place: Place) -> Multiplier:
    place.refuse_unknown(_RULES)
    return Multiplier(
        hundredths=_units_at(place, "multiplier", decimals=2),
        first_day=place.day_at("from"),
        models=frozenset(place.entry.get("models", ())),
        source=place.words_at("source"),
    )


def pico_at(place: Place, key: str) -> int:
    """Return the price of a million tokens as pico-dollars for one."""
    return _units_at(place, key, decimals=_DECIMALS)


def searches_at(place: Place, key: str) -> int:
    """Return the price of a thousand searches as pico-dollars for one."""
    return _units_at(place, key, decimals=_DECIMALS) * _SEARCHES


def _units_at(place: Place, key: str, *, decimals: int) -> int:
    """Return a number that is written as text, in whole units of its last decimal."""
    value = place.entry.get(key)
    if not isinstance(value, str):
        raise place.wrong(f'a price is written as text, such as "0.30", not {shown(value)}', key)
    match = _NUMBER.fullmatch(value)
    if not match:
        raise place.wrong(f'{shown(value)} is no price; it has digits alone, as "0.30" has', key)
    whole, part = match.group(1).lstrip("0"), (match.group(2) or "").rstrip("0")
    if len(part) > decimals:
        raise place.wrong(f"{shown(value)} has more than {decimals} decimals", key)
    # The length is looked at first: Python refuses to read a number of thousands of digits.
    is_short = len(whole) <= len(str(_MOST_USD))
    units = int(f"{whole}{part:0<{decimals}}") if is_short else None
    if units is None or units > _MOST_USD * 10**decimals:
        raise place.wrong(f"{shown(value)} is above {_MOST_USD:,}, and no price is", key)
    return units


def refuse_overlaps(cards: Iterable[Card], place: Place) -> None:
    """Refuse two cards for the same request."""
    cells: dict[tuple[str, str, int], list[Card]] = defaultdict(list)
    for card in cards:
        cells[card.model, card.speed, card.prompt_over].append(card)
    for (model, speed, prompt_over), mine in cells.items():
        for one, other in pairwise(sorted(mine, key=lambda card: card.first_day)):
            if one.end_day is None or other.first_day < one.end_day:
                cell = f"{model}, {speed}, over {prompt_over:,} tokens"
                raise place.wrong(f"two cards of {cell} hold on {other.first_day}")
