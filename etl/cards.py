"""The price book for people: its cards, and why a name is priced as it is, or is not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from etl.errors import UsageError
from etl.prices.book import ANTHROPIC, COMPONENTS, Book, Card
from etl.prices.layers import OWN
from etl.prices.names import NamedModel, exact, named, pieces_of
from etl.prices.overrides import close_to
from etl.prices.rates import shares_of, web_search_of

_CENT = Decimal("0.01")
_FIRST = frozenset({ANTHROPIC, OWN})
_WHOLE_PRICE = 100  # hundredths
_WHEN = {
    "batch": "for a request whose service_tier is batch",
    "us_inference": "for a request whose inference_geo is us",
}


@dataclass(frozen=True, slots=True)
class Request:
    """What decides a price: the name as it is logged, the day, the speed, the size of prompt."""

    name: str
    day: date
    speed: str = "standard"
    prompt_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ShownCard:
    """A card as it is shown: exact dollars; null where there is no price, or no first day."""

    model: str
    provider: str
    speed: str
    valid_from: date | None
    valid_to: date | None
    prompt_over: int
    usd_per_million_tokens: Mapping[str, Decimal | None]
    usd_per_1000_searches: Decimal | None
    evidence: str
    source: str
    note: str | None

    def days(self) -> str:
        """Return the days of the card in words; the last one named is not among them."""
        begun = f"from {self.valid_from}" if self.valid_from else ""
        ended = f"before {self.valid_to}" if self.valid_to else ""
        return ", ".join(filter(None, [begun, ended])) or "on every day"


@dataclass(frozen=True, slots=True)
class ShownRule:
    """A share of the price, and whether it applies; null where that is up to the request."""

    rule: str
    multiplier: Decimal | None
    applies: bool | None
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Which model a name means, by which rule, and its card; or why there is none."""

    name: str
    model: str | None
    how: str | None
    day: date
    speed: str
    prompt_tokens: int
    card: ShownCard | None
    multipliers: tuple[ShownRule, ...]
    remarks: tuple[str, ...]
    unpriced: str | None
    closest: tuple[str, ...]


def day_of(text: str) -> date:
    """Return a day that was given as text."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"'{text}' is no day", hint="write it as 2026-11-18") from error


def usd(units: int | None, decimals: int = 6) -> Decimal | None:
    """Return a number of small units exactly, with two decimals or as many as it needs."""
    if units is None:
        return None
    amount = Decimal(units).scaleb(-decimals).normalize()
    return amount.quantize(_CENT) if amount == round(amount, 2) else amount


def listed(book: Book, beginnings: Sequence[str] = ()) -> list[ShownCard]:
    """Return the cards of Claude's and a person's own models, or of all that begin so, by name."""
    wanted = tuple(exact(beginning) for beginning in beginnings)
    cards = [
        card
        for card in book.cards
        if (card.model.startswith(wanted) if wanted else card.provider in _FIRST)
    ]
    return [_shown(book, card) for card in sorted(cards, key=_order)]


def explained(book: Book, request: Request) -> Explanation:
    """Say which model a logged name means, by which rule, and what it costs, or why not."""
    found = named(request.name, book.models(), aliases=book.aliases, vendors=book.vendors)
    speed = found.speed or request.speed
    card = None
    if found.model:
        card = book.card_for(found.model, speed, request.prompt_tokens, request.day)
    return Explanation(
        name=request.name,
        model=found.model,
        how=_how(book, found, found.model) if found.model else None,
        day=request.day,
        speed=speed,
        prompt_tokens=request.prompt_tokens,
        card=_shown(book, card) if card else None,
        multipliers=tuple(_rules(book, card, found)) if card else (),
        remarks=tuple(_remarks(book, card, request.day)) if card else (),
        unpriced=None if card else _why_not(book, found.model, speed, request),
        closest=() if found.model else _closest(book, request.name),
    )


def _order(card: Card) -> tuple[str, bool, int, date]:
    return card.model, card.speed != "standard", card.prompt_over, card.first_day


def _shown(book: Book, card: Card) -> ShownCard:
    return ShownCard(
        model=card.model,
        provider=card.provider,
        speed=card.speed,
        valid_from=None if card.first_day == date.min else card.first_day,
        valid_to=card.end_day,
        prompt_over=card.prompt_over,
        usd_per_million_tokens={name: usd(card.pico_usd.get(name)) for name in COMPONENTS},
        usd_per_1000_searches=usd(web_search_of(book, card), decimals=9),
        evidence=card.evidence,
        source=card.source,
        note=card.note,
    )


def _how(book: Book, found: NamedModel, model: str) -> str:
    text = exact(found.name)
    if text == model:
        return "the name as it is"
    if text in book.aliases:
        return "by an alias of your own"
    vendor = model.partition("/")[0]
    if vendor in {one.provider for one in book.vendors}:
        return f"a name that {vendor} gives it"
    route, spelled, ending = pieces_of(text)
    cut = " and ".join(f"'{piece}'" for piece in (route, ending) if piece)
    words = [f"without {cut}"] if cut else []
    return ", ".join([*words, f"spelled '{spelled}'"] if spelled != model else words)


def _rules(book: Book, card: Card, found: NamedModel) -> Iterator[ShownRule]:
    for rule, share in shares_of(book, card).items():
        applies, why = _applied(card, rule, share, is_regional=found.is_regional)
        yield ShownRule(rule, usd(share, 2), applies, why)


def _applied(
    card: Card, rule: str, share: int | None, *, is_regional: bool
) -> tuple[bool | None, str]:
    if share is None and card.provider != ANTHROPIC:
        return False, "not known: it is a rule of Anthropic's prices"
    if share is None:
        return False, "no price: fast mode has no batches"
    if share == _WHOLE_PRICE:
        return False, "no surcharge: the rule names other models"
    if rule != "regional_endpoint":
        return None, _WHEN[rule]
    told = "the name says a regional endpoint" if is_regional else "the name says no region"
    return is_regional, f"{'applies' if is_regional else 'does not apply'}: {told}"


def _remarks(book: Book, card: Card, day: date) -> Iterator[str]:
    if day < card.first_day:
        yield f"the model's first card prices the days before {card.first_day}, too"
    for other in _kin(book, card.model, card.speed):
        if other.holds_on(day) and other.prompt_over > card.prompt_over:
            yield f"prompts over {other.prompt_over:,} tokens have a card of their own"


def _why_not(book: Book, model: str | None, speed: str, request: Request) -> str:
    if model is None:
        return "no model of the price book has this name, and none is priced as its neighbour"
    kin = _kin(book, model, speed)
    if not kin:
        return f"{model} has no card for {speed} speed"
    fitting = [card for card in kin if card.fits(request.prompt_tokens)]
    if not fitting:
        return f"{model} has a card for prompts over {kin[0].prompt_over:,} tokens alone"
    days = "; ".join(dict.fromkeys(_shown(book, card).days() for card in fitting))
    return f"{model} has no card for {speed} speed on {request.day}, but {days}"


def _kin(book: Book, model: str, speed: str) -> list[Card]:
    cards = [card for card in book.cards if (card.model, card.speed) == (model, speed)]
    return sorted(cards, key=_order)


def _closest(book: Book, name: str) -> tuple[str, ...]:
    return tuple(close_to(pieces_of(name)[1], book.models()))
