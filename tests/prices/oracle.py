"""What one logged response costs, worked out a second time: exact decimals over the price book.

It shares nothing with the package but the book itself, and is written to be read, not to be quick.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal, Inexact, localcontext
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]

BOOK = tomllib.loads((Path(__file__).parents[2] / "etl/prices/claude.toml").read_text("utf-8"))
CARDS: list[dict[str, Any]] = BOOK["card"]
MODELS = sorted({str(card["model"]) for card in CARDS})

INPUT, OUTPUT, READ = "input", "output", "cache_read"
WRITE_5M, WRITE_1H = "cache_write_5m", "cache_write_1h"
PROMPT = (INPUT, WRITE_5M, WRITE_1H, READ)
COMPONENTS = (*PROMPT, OUTPUT)
EXTRA = ("compaction", "advisor_message")

# Every form of a name that the tests log: how it is written, a regional endpoint, fast mode.
_KEY = "(" + "|".join(MODELS) + r")(?:-\d{8})?"
NAME_FORMS = (
    (rf"{_KEY}(?:\[1m\])?", False, False),
    (rf"{_KEY}-fast", False, True),
    (rf"(?:(?:us|eu|apac)\.)?anthropic\.{_KEY}-v\d(?::\d)?", True, False),
    (rf"global\.anthropic\.{_KEY}-v\d(?::\d)?", False, False),
)
# With these digits no sum of ours is ever rounded; if one were, it would raise.
_EXACT = Context(prec=60, traps=[Inexact])


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a response that is billed on its own."""

    kind: str
    name: str | None
    tokens: Mapping[str, int]
    is_serving: bool = False
    is_declined: bool = False

    @property
    def prompt(self) -> int:
        return sum(self.tokens[component] for component in PROMPT)


@dataclass(frozen=True, slots=True)
class Charge:
    """What a piece costs, and by which card of the book."""

    piece: Piece
    cost_usd: Decimal | None
    status: str
    card: int | None = None


def charges(
    name: str | None,
    at: datetime,
    usage: Json,
    *,
    stop_reason: str | None = None,
    searches: int = 0,
) -> list[Charge]:
    """Return what each piece of a response costs; `searches` are those told by tool results."""
    told = (usage.get("server_tool_use") or {}).get("web_search_requests") or 0
    with localcontext(_EXACT):
        return [
            _unbilled(piece)
            if piece.is_declined or (piece.is_serving and _refused(stop_reason, piece))
            else _priced(piece, at, usage, max(told, searches) if piece.is_serving else 0)
            for piece in pieces_of(name, usage)
        ]


def _refused(stop_reason: str | None, piece: Piece) -> bool:
    return stop_reason == "refusal" and piece.tokens[OUTPUT] == 0


def _unbilled(piece: Piece) -> Charge:
    return Charge(piece, Decimal(0), "not_billable")


# ---- The pieces of a response.


def pieces_of(name: str | None, usage: Json) -> list[Piece]:
    """Return what is billed: the top level and the extras, or each item of its own."""
    if name == "<synthetic>":
        return []
    top = tokens_of(usage)
    items: Sequence[Json] = usage.get("iterations") or []
    executors = [place for place, item in enumerate(items) if item["type"] not in EXTRA]
    is_fallback = any(item["type"] == "fallback_message" for item in items)
    declined = [place for place in executors[:-1] if not items[place].get("output_tokens")]
    if len(items) > 1 and executors and (is_fallback or adds_up(items, executors, top)):
        return [
            _piece_of(
                item,
                name,
                top,
                is_serving=place == executors[-1],
                is_declined=is_fallback and place in declined,
            )
            for place, item in enumerate(items)
        ]
    extras = [_piece_of(item, name, top) for item in items if item["type"] in EXTRA]
    return [Piece("message", name, top, is_serving=True), *extras]


def _piece_of(
    item: Json,
    name: str | None,
    top: Mapping[str, int],
    *,
    is_serving: bool = False,
    is_declined: bool = False,
) -> Piece:
    kind = str(item["type"])
    own = item.get("model") or (None if kind == "advisor_message" else name)
    return Piece(kind, own, tokens_of(item, top), is_serving, is_declined)


def adds_up(items: Sequence[Json], executors: Sequence[int], top: Mapping[str, int]) -> bool:
    """Say whether the executor's items make up the top level.

    They add up to it; or their output does, and its input and reads are those of the first: so the
    documentation of the advisor tool had it in its first version.
    """
    each = [tokens_of(items[place], top) for place in executors]
    is_sum = {one: sum(tokens[one] for tokens in each) == top[one] for one in COMPONENTS}
    if all(is_sum.values()):
        return True
    return is_sum[OUTPUT] and bool(each) and all(each[0][one] == top[one] for one in (INPUT, READ))


def tokens_of(counts: Json, top: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return the five counts; writes of unknown kind are those of the top level's only kind."""
    split = counts.get("cache_creation") or {}
    for_5m = split.get("ephemeral_5m_input_tokens") or 0
    for_1h = split.get("ephemeral_1h_input_tokens") or 0
    written = max(counts.get("cache_creation_input_tokens") or 0, for_5m + for_1h)
    if top and top[WRITE_1H] and not top[WRITE_5M]:
        for_1h = written - for_5m
    return {
        INPUT: counts.get("input_tokens") or 0,
        OUTPUT: counts.get("output_tokens") or 0,
        WRITE_5M: written - for_1h,
        WRITE_1H: for_1h,
        READ: counts.get("cache_read_input_tokens") or 0,
    }


# ---- The price of a piece.


def _priced(piece: Piece, at: datetime, usage: Json, searches: int) -> Charge:
    found = named(piece.name)
    if found is None:
        return Charge(piece, None, "unpriced_model")
    model, is_regional, is_fast = found
    speed = "fast" if is_fast else usage.get("speed") or "standard"
    speed = "standard" if piece.kind == "advisor_message" else speed
    card = card_for(model, speed, piece.prompt, at.astimezone(UTC).date())
    share = share_of(model, usage, speed, is_regional=is_regional)
    if card is None or share is None:
        return Charge(piece, None, "unpriced_variant")
    tokens = sum(Decimal(CARDS[card][one]) * piece.tokens[one] for one in COMPONENTS)
    looked_up = Decimal(BOOK["web_search"]["usd_per_1000"]) * searches
    cost_usd = tokens * share * Decimal("1e-6") + looked_up * Decimal("1e-3")
    return Charge(piece, cost_usd, "priced", card)


def named(name: str | None) -> tuple[str, bool, bool] | None:
    """Return the model of a name, and whether it says a regional endpoint and fast mode."""
    for form, is_regional, is_fast in NAME_FORMS:
        if match := re.fullmatch(form, name or ""):
            return match.group(1), is_regional, is_fast
    return None


def card_for(model: str, speed: str, prompt: int, day: date) -> int | None:
    """Return the place in the book of the card for a request."""
    mine = [place for place, card in enumerate(CARDS) if _is_for(card, model, speed, prompt)]
    if speed == "standard":  # what was logged before the first card is priced by it, too
        day = max(day, min(CARDS[place]["from"] for place in mine))
    held = [place for place in mine if CARDS[place]["from"] <= day < _end(CARDS[place])]
    return max(held, key=lambda place: CARDS[place].get("prompt_over", 0), default=None)


def _is_for(card: Json, model: str, speed: str, prompt: int) -> bool:
    is_long_enough: bool = prompt > card.get("prompt_over", -1)
    return (card["model"], card.get("speed", "standard")) == (model, speed) and is_long_enough


def _end(card: Json) -> date:
    end: date = card.get("to", date.max)
    return end


def share_of(model: str, usage: Json, speed: str, *, is_regional: bool) -> Decimal | None:
    """Return the share of the list price that all tokens cost; none if it is not known."""
    tier = usage.get("service_tier") or "standard"
    geo = usage.get("inference_geo") or "global"
    is_batch = tier == "batch"
    if tier not in ("standard", "priority", "batch") or (is_batch and speed != "standard"):
        return None
    if geo not in ("global", "not_available", "us"):
        return None
    share = _rule("batch", model) if is_batch else Decimal(1)
    share *= _rule("us_inference", model) if geo == "us" else 1
    return share * (_rule("regional_endpoint", model) if is_regional else 1)


def _rule(rule: str, model: str) -> Decimal:
    found = BOOK["multipliers"][rule]
    return Decimal(found["multiplier"] if model in found.get("models", MODELS) else 1)
