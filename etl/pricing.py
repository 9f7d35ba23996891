"""The price book in the warehouse: its rates, and the models that logged names mean."""

from collections.abc import Collection, Iterable, Mapping

import pyarrow as pa

from etl.prices.book import ANTHROPIC, COMPONENTS, Book
from etl.prices.names import NamedModel, named
from etl.prices.rates import rates_of
from etl.tables import MODEL_NAMES, RATE_CARDS


def news(book: Book, logged: Iterable[str], stored: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return the tables that are not as they were: another book, own prices, or a new name."""
    known = stored.get(MODEL_NAMES.name)
    names = set(known.column("name").to_pylist()) if known is not None else set()
    return {
        name: rows
        for name, rows in tables_of(book, names.union(logged)).items()
        if name not in stored or not stored[name].equals(rows)
    }


def tables_of(book: Book, names: Iterable[str]) -> dict[str, pa.Table]:
    """Return the tables of a book, for the model names that are logged."""
    models = book.models()
    found = [
        named(name, models, aliases=book.aliases, vendors=book.vendors)
        for name in sorted(set(names))
    ]
    rates = _rate_rows(book, {name.model for name in found})
    return {
        RATE_CARDS.name: pa.Table.from_pylist([*rates], schema=RATE_CARDS.schema()),
        MODEL_NAMES.name: pa.Table.from_pylist(
            [_name_row(name) for name in found], schema=MODEL_NAMES.schema()
        ),
    }


def _rate_rows(book: Book, logged: Collection[str | None]) -> Iterable[dict[str, object]]:
    """Give all of Claude's rates, and of the many other models those that are logged."""
    for rate in rates_of(book):
        if rate.provider != ANTHROPIC and rate.model not in logged:
            continue
        yield {
            "model": rate.model,
            "provider": rate.provider,
            "speed": rate.speed,
            "prompt_min": rate.prompt_min,
            "prompt_max": rate.prompt_max,
            "valid_from": rate.valid_from,
            "valid_to": rate.valid_to,
            **{f"{name}_pico_usd": rate.pico_usd.get(name) for name in COMPONENTS},
            "web_search_pico_usd": rate.web_search_pico_usd,
            "batch_hundredths": rate.batch_hundredths,
            "us_hundredths": rate.us_hundredths,
            "regional_hundredths": rate.regional_hundredths,
            "source": rate.source,
            "evidence": rate.evidence,
        }


def _name_row(found: NamedModel) -> dict[str, object]:
    return {
        "name": found.name,
        "model": found.model,
        "is_regional": found.is_regional,
        "speed": found.speed,
    }
