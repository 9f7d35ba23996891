"""The book as a table that joins: every request finds one row, or none."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from etl.prices.book import Book, Card

FIRST_DAY = date(1970, 1, 1)
LAST_DAY = date(9999, 12, 31)
LARGEST_PROMPT = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Rate:
    """What a token costs in pico-dollars, for one stretch of days and of prompt sizes."""

    model: str
    speed: str
    service_tier: str
    prompt_min: int
    prompt_max: int
    valid_from: date
    valid_to: date
    pico_usd: Mapping[str, int]
    us_hundredths: int
    regional_hundredths: int
    source: str
    evidence: str


def rates_of(book: Book) -> list[Rate]:
    """Return the rates of all models; no two of them fit the same request."""
    cells: dict[tuple[str, str], list[Card]] = defaultdict(list)
    for card in book.cards:
        cells[card.model, card.speed].append(card)
    return [rate for cards in cells.values() for rate in _rates_of_cell(book, cards)]


def _rates_of_cell(book: Book, cards: list[Card]) -> Iterator[Rate]:
    days = sorted({card.first_day for card in cards} | {card.end_day or LAST_DAY for card in cards})
    for begin, end in pairwise(days):
        held = sorted(
            (card for card in cards if card.holds_on(begin)), key=lambda card: card.prompt_over
        )
        is_first = begin == days[0] and cards[0].speed == "standard"
        for card, above in zip(held, [*held[1:], None], strict=True):
            limit = above.prompt_over if above else LARGEST_PROMPT
            span = (FIRST_DAY if is_first else begin, end)
            yield from _tiers(book, card, limit, span)


def _tiers(book: Book, card: Card, limit: int, span: tuple[date, date]) -> Iterator[Rate]:
    """Yield the rate as it is and, as fast mode has no batches, the standard one for batches."""
    for tier in ("standard", "batch") if card.speed == "standard" else ("standard",):
        share = _hundredths(book, "batch", card.model) if tier == "batch" else 100
        yield Rate(
            model=card.model,
            speed=card.speed,
            service_tier=tier,
            prompt_min=card.prompt_over + 1 if card.prompt_over else 0,
            prompt_max=limit,
            valid_from=span[0],
            valid_to=span[1],
            pico_usd={name: _share(price, share) for name, price in card.pico_usd.items()},
            us_hundredths=_hundredths(book, "us_inference", card.model),
            regional_hundredths=_hundredths(book, "regional_endpoint", card.model),
            source=card.source,
            evidence=card.evidence,
        )


def _hundredths(book: Book, rule: str, model: str) -> int:
    found = book.multipliers.get(rule)
    applies = found is not None and (not found.models or model in found.models)
    return found.hundredths if found and applies else 100


def _share(price: int, hundredths: int) -> int:
    whole, rest = divmod(price * hundredths, 100)
    if rest:
        raise ArithmeticError(f"{hundredths} % of {price} pico-dollars is no whole number")
    return whole
