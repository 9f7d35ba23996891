"""What two libraries say that Claude costs, feature by feature beside what our book says."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from etl.prices.book import ANTHROPIC, COMPONENTS, Book
from etl.prices.names import named
from tests.prices import genai
from tests.prices.genai import Made

GENAI = "genai-prices"
LITELLM = "litellm"
_PICO = 1_000_000
_LITELLM_KEYS = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_write_5m": "cache_creation_input_token_cost",
    "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
    "cache_read": "cache_read_input_token_cost",
}
_TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")

# One number for each component, or one alone; none where there is no price.
Prices = tuple[Decimal | None, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One feature of one model, as we and as a library price it from some day on."""

    library: str
    model: str
    feature: str
    since: date | None
    ours: Prices | None
    theirs: Prices | None

    def compared(self) -> str:
        """Return their prices with = where they are ours."""
        if self.ours is None or self.theirs is None:
            return shown(self.theirs)
        pairs = zip(self.ours, self.theirs, strict=True)
        return "/".join("=" if our == their else number(their) for our, their in pairs)

    def agrees(self) -> bool:
        """Say whether both price it, and alike."""
        return self.ours is not None and self.ours == self.theirs


def number(value: Decimal | None) -> str:
    """Return a price as short as it can be written."""
    return "-" if value is None else f"{value.normalize():f}"


def shown(prices: Prices | None) -> str:
    """Return prices as people write them: 3/15/3.75/6/0.3."""
    return "-" if prices is None else "/".join(map(number, prices))


def _over(feature: str, tier: int) -> str:
    return f"{feature} over {tier:,}" if tier else feature


def _our_card(book: Book, model: str, speed: str, tier: int, day: date) -> Prices | None:
    card = book.card_for(model, speed, tier + 1, day)
    return tuple(Decimal(card.pico_usd[name]) / _PICO for name in COMPONENTS) if card else None


def _times(prices: Prices | None, factor: Decimal) -> Prices | None:
    return prices and tuple(None if price is None else price * factor for price in prices)


def _our_share(book: Book, rule: str, model: str) -> Decimal | None:
    found = book.multipliers[rule]
    applies = not found.models or model in found.models
    return Decimal(found.hundredths) / 100 if applies else None


def _single(value: Decimal | None) -> Prices | None:
    return None if value is None else (value,)


def _our_tiers(book: Book, model: str, day: date) -> set[int]:
    cards = [card for card in book.cards if card.model == model and card.holds_on(day)]
    return {0, *(card.prompt_over for card in cards)}


def _first_day(book: Book, model: str) -> date:
    return min(card.first_day for card in book.cards if card.model == model)


def _last_standard(book: Book, model: str) -> Prices | None:
    return _our_card(book, model, "standard", 0, date.max)


def _differing(rows: Iterator[Row]) -> Iterator[Row]:
    """Pass on the rows that say something new of their feature, and that anybody has a price of."""
    last: dict[tuple[str, str], tuple[Prices | None, Prices | None]] = {}
    for row in rows:
        said, key = (row.ours, row.theirs), (row.model, row.feature)
        if said not in {last.get(key), (None, None)}:
            yield row
        last[key] = said


# ---- genai-prices: prices by day.


def genai_rows(book: Book, source: str) -> list[Row]:
    """Compare the book with a `data.py`, on every day on which either of them changes."""
    models = next(each["models"] for each in genai.providers_in(source) if each["id"] == ANTHROPIC)
    rows: list[Row] = []
    for ours in sorted(book.models(ANTHROPIC)):
        if theirs := _genai_model(ours, models):
            rows += _differing(_genai_rows_of(book, ours, theirs))
        else:
            rows.append(Row(GENAI, ours, "model", None, _last_standard(book, ours), None))
    met = [_genai_model(ours, models) for ours in book.models(ANTHROPIC)]
    return [*rows, *(_genai_stranger(model) for model in models if model not in met)]


def _genai_model(name: str, models: Sequence[Made]) -> Made | None:
    fitting = (one for one in models if re.fullmatch(genai.pattern_of(one["match"]), name))
    return next(fitting, None)


def _genai_stranger(model: Made) -> Row:
    prices = genai.stretches_of(model)[-1].prices
    return Row(GENAI, model["id"], "model", None, None, _genai_card(prices, 0))


def _genai_rows_of(book: Book, model: str, theirs: Made) -> Iterator[Row]:
    for day in _genai_days(book, model, theirs):
        prices = next(each for each in genai.stretches_of(theirs) if each.holds_on(day)).prices
        batch = _genai_batch(theirs, prices, day)
        for tier in sorted(_our_tiers(book, model, day) | {*genai.tiers_of(prices)}):
            ours = _our_card(book, model, "standard", tier, day)
            half = _times(ours, _our_share(book, "batch", model) or Decimal(1))
            fast = _our_card(book, model, "fast", tier, day)
            their_batch = None if batch is None else _genai_card(batch, tier)
            yield Row(GENAI, model, _over("standard", tier), day, ours, _genai_card(prices, tier))
            yield Row(GENAI, model, _over("batch", tier), day, half, their_batch)
            yield Row(GENAI, model, _over("fast", tier), day, fast, None)
        searches = Decimal(book.web_search_pico_usd) / _PICO / 1000
        their_searches = _single(prices.get("web_searches_kcount"))
        yield Row(GENAI, model, "web search", day, (searches,), their_searches)
        us = _single(_our_share(book, "us_inference", model))
        yield Row(GENAI, model, "US inference", day, us, None)


def _genai_days(book: Book, model: str, theirs: Made) -> list[date]:
    cards = [card for card in book.cards if card.model == model]
    constraints = [each.get("constraint") for each in theirs.get("price_variants") or []]
    days = {
        *(card.first_day for card in cards),
        *(card.end_day for card in cards),
        *(stretch.first_day for stretch in genai.stretches_of(theirs)),
        *(each["start_date"] for each in constraints if each),
    }
    first_day = _first_day(book, model)
    return sorted(day for day in days if day and day >= first_day)


def _genai_batch(model: Made, standard: Made, day: date) -> Made | None:
    for variant in model.get("price_variants") or []:
        constraint = variant.get("constraint")
        is_on = constraint is None or constraint["start_date"] <= day
        if is_on and variant["when"] == {"processing": "batch"}:
            return Made("ModelPrice", {**standard.given, **variant["prices"].given})
    return None


def _genai_card(prices: Made, tier: int) -> Prices:
    return tuple(genai.price_at(prices, name, tier) for name in COMPONENTS)


# ---- LiteLLM: prices of today.


def litellm_rows(book: Book, text: str) -> list[Row]:
    """Compare the book with LiteLLM's table, on the day of the book."""
    entries: dict[str, Mapping[str, Any]] = {}
    strangers: list[Row] = []
    models = book.models(ANTHROPIC)
    for name, entry in json.loads(text, parse_float=Decimal, parse_int=Decimal).items():
        if entry.get("litellm_provider") != ANTHROPIC:
            continue
        model = named(name, models).model
        if model is None:
            prices = _litellm_card(entry, "")
            strangers.append(Row(LITELLM, name, "model", None, None, prices))
        elif name == model or model not in entries:
            entries[model] = entry
    rows = [row for model in sorted(models) for row in _litellm_of(book, model, entries)]
    return [*rows, *strangers]


def _litellm_of(book: Book, model: str, entries: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    if entry := entries.get(model):
        return [*_differing(_litellm_rows_of(book, model, entry))]
    return [Row(LITELLM, model, "model", None, _last_standard(book, model), None)]


def _litellm_rows_of(book: Book, model: str, entry: Mapping[str, Any]) -> Iterator[Row]:
    day = book.as_of
    tiers = {int(match[1]) * 1000 for key in entry if (match := _TIER.fullmatch(key))}
    extra = entry.get("provider_specific_entry", {})
    for tier in sorted(_our_tiers(book, model, day) | tiers):
        above = f"_above_{tier // 1000}k_tokens" if tier in tiers else ""
        ours, theirs = _our_card(book, model, "standard", tier, day), _litellm_card(entry, above)
        half = _times(ours, _our_share(book, "batch", model) or Decimal(1))
        batch = _litellm_card(entry, above, "_batches")
        fast = _our_card(book, model, "fast", tier, day)
        their_fast = _times(theirs, extra["fast"]) if "fast" in extra else None
        yield Row(LITELLM, model, _over("standard", tier), day, ours, theirs)
        yield Row(LITELLM, model, _over("batch", tier), day, half, batch)
        yield Row(LITELLM, model, _over("fast", tier), day, fast, their_fast)
    searches = entry.get("search_context_cost_per_query", {}).get("search_context_size_medium")
    ours_searches = (Decimal(book.web_search_pico_usd) / _PICO / 1000,)
    yield Row(LITELLM, model, "web search", day, ours_searches, searches and (searches * 1000,))
    us = _single(_our_share(book, "us_inference", model))
    yield Row(LITELLM, model, "US inference", day, us, _single(extra.get("us")))


def _litellm_card(entry: Mapping[str, Any], above: str, batches: str = "") -> Prices | None:
    values: Sequence[Decimal | None] = [
        entry.get(f"{key}{above}{batches}") for key in _LITELLM_KEYS.values()
    ]
    prices = tuple(None if value is None else value * _PICO for value in values)
    return prices if any(price is not None for price in prices) else None
