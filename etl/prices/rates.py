"""The book as a table that joins: every request finds one row, or none."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from etl.prices.book import ANTHROPIC, WEB_SEARCH, Book, Card

FIRST_DAY = date.min
LAST_DAY = date(9999, 12, 31)
RULES = ("batch", "us_inference", "regional_endpoint")
LARGEST_PROMPT = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Rate:
    """What a token costs in pico-dollars, for one stretch of days and of prompt sizes.

    Shares of the price are in hundredths; none means that there is no such price.
    """

    model: str
    provider: str
    speed: str
    prompt_min: int
    prompt_max: int
    valid_from: date
    valid_to: date
    pico_usd: Mapping[str, int]
    web_search_pico_usd: int | None
    batch_hundredths: int | None
    us_hundredths: int | None
    regional_hundredths: int | None
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
        limits = [*(card.prompt_over for card in held[1:]), LARGEST_PROMPT]
        # Between two cards there may be days without any.
        for card, limit in zip(held, limits, strict=False):
            yield _rate_of(book, card, limit, (FIRST_DAY if is_first else begin, end))


def _rate_of(book: Book, card: Card, limit: int, span: tuple[date, date]) -> Rate:
    shares = shares_of(book, card)
    return Rate(
        model=card.model,
        provider=card.provider,
        speed=card.speed,
        prompt_min=card.prompt_over + 1 if card.prompt_over else 0,
        prompt_max=limit,
        valid_from=span[0],
        valid_to=span[1],
        pico_usd=card.pico_usd,
        web_search_pico_usd=web_search_of(book, card),
        batch_hundredths=shares["batch"],
        us_hundredths=shares["us_inference"],
        regional_hundredths=shares["regional_endpoint"],
        source=card.source,
        evidence=card.evidence,
    )


def web_search_of(book: Book, card: Card) -> int | None:
    """Return what a search costs in pico-dollars: the card's own price, else Anthropic's."""
    of_all = book.web_search_pico_usd if card.provider == ANTHROPIC else None
    return card.pico_usd.get(WEB_SEARCH, of_all)


def shares_of(book: Book, card: Card) -> dict[str, int | None]:
    """Return the share of the price under every rule; none where there is no such price."""
    shares = {rule: _hundredths(book, rule, card) for rule in RULES}
    return shares if card.speed == "standard" else {**shares, "batch": None}


def _hundredths(book: Book, rule: str, card: Card) -> int | None:
    """Return a rule's share for a model; the rules are Anthropic's and say nothing of others."""
    if card.provider != ANTHROPIC:
        return None
    found = book.multipliers.get(rule)
    applies = found is not None and (not found.models or card.model in found.models)
    return found.hundredths if found and applies else 100
