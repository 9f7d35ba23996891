"""Our book beside two libraries: what agrees, what differs, and for which known reason."""

import json
from datetime import date

import pytest

from etl.prices import shipped
from etl.prices.book import ANTHROPIC, Book, book_of
from tests.prices.beside import Row, genai_rows, litellm_rows, shown
from tests.prices.differences import KNOWN, UNEXPLAINED, judged, known_in, report, unseen

BOOK = """
as_of = 2026-11-18
[web_search]
usd_per_1000 = "10"
[multipliers.batch]
multiplier = "0.5"
from = 2024-01-01
source = "a page"
[multipliers.us_inference]
multiplier = "1.1"
from = 2024-01-01
source = "a page"
models = ["claude-kiln-1"]
"""
CARD = """
[[card]]
model = "claude-kiln-1"
from = {begin}
{more}
input = "{unit}"
output = "5"
cache_write_5m = "1.25"
cache_write_1h = "2"
cache_read = "0.1"
source = "a page"
evidence = "official"
"""
GENAI = """
providers: list[Provider] = [
    Provider(
        id='anthropic',
        models=[
            ModelInfo(
                id='claude-kiln-1-latest',
                match=ClauseStartsWith(starts_with='claude-kiln-1'),
                prices=ModelPrice(
                    input_mtok=Decimal('1'),
                    output_mtok=Decimal('5'),
                    cache_write_mtok=Decimal('1.25'),
                    cache_write_1h_mtok=Decimal('2'),
                    cache_read_mtok=Decimal('0.1'),
                    web_searches_kcount=Decimal('10'),
                ),
                price_variants=[
                    PriceVariant(
                        when={'processing': 'batch'},
                        prices=ModelPrice(
                            input_mtok=Decimal('0.5'),
                            output_mtok=Decimal('2.5'),
                            cache_write_mtok=Decimal('0.625'),
                            cache_write_1h_mtok=Decimal('1'),
                            cache_read_mtok=Decimal('0.05'),
                        ),
                        constraint=StartDateConstraint(start_date=datetime.date(2026, 10, 14)),
                    )
                ],
            ),
            ModelInfo(
                id='claude-clay',
                match=ClauseEquals(equals='claude-clay'),
                prices=ModelPrice(input_mtok=Decimal('8'), output_mtok=Decimal('24')),
            ),
        ],
    ),
]
"""
LITELLM = {
    "input_cost_per_token": 1e-06,
    "output_cost_per_token": 5e-06,
    "cache_creation_input_token_cost": 1.25e-06,
    "cache_creation_input_token_cost_above_1hr": 2e-06,
    "cache_read_input_token_cost": 1e-07,
    "litellm_provider": "anthropic",
    "search_context_cost_per_query": {"search_context_size_medium": 0.01},
    "provider_specific_entry": {"us": 1.1},
}
REASON = """
[[difference]]
library = "genai-prices"
features = ["US inference"]
theirs = "-"
reason = "it knows no places"
"""


def book(*more: str, unit: str = "1", begin: str = "2026-01-01") -> Book:
    return book_of(BOOK + CARD.format(begin=begin, unit=unit, more="") + "".join(more), "book.toml")


def told(rows: list[Row]) -> list[tuple[str, str, str]]:
    return [(row.feature, str(row.since), row.compared()) for row in rows]


def litellm(**more: object) -> list[Row]:
    return litellm_rows(book(), json.dumps({"claude-kiln-1-20260101": {**LITELLM, **more}}))


def test_genai_is_compared_on_every_day_on_which_something_changes() -> None:
    rows = genai_rows(book(), GENAI)
    assert told(rows) == [
        ("standard", "2026-01-01", "=/=/=/=/="),
        ("batch", "2026-01-01", "-"),
        ("web search", "2026-01-01", "="),
        ("US inference", "2026-01-01", "-"),
        ("batch", "2026-10-14", "=/=/=/=/="),
        ("model", "None", "8/24/-/-/-"),
    ]
    assert [row.agrees() for row in rows] == [True, False, True, False, True, False]
    assert rows[-1].model == "claude-clay"


def test_a_change_of_ours_that_genai_does_not_know_is_a_difference_from_that_day() -> None:
    first = CARD.format(begin="2025-01-01", unit="2", more="to = 2026-01-01")
    rows = [row for row in genai_rows(book(first), GENAI) if row.feature == "standard"]
    assert told(rows) == [
        ("standard", "2025-01-01", "1/=/=/=/="),
        ("standard", "2026-01-01", "=/=/=/=/="),
    ]
    assert (shown(rows[0].ours), shown(rows[0].theirs)) == (
        "2/5/1.25/2/0.1",
        "1/5/1.25/2/0.1",
    )


def test_tiers_and_fast_mode_are_features_of_their_own() -> None:
    tier = CARD.format(begin="2026-01-01", unit="2", more="prompt_over = 200000")
    fast = CARD.format(begin="2026-02-01", unit="6", more='speed = "fast"\nto = 2026-03-01')
    rows = genai_rows(book(tier, fast), GENAI)
    assert ("standard over 200,000", "2026-01-01", "1/=/=/=/=") in told(rows)
    assert [row for row in told(rows) if row[0] == "fast"] == [("fast", "2026-02-01", "-")]


def test_a_model_that_a_library_does_not_have_is_one_row() -> None:
    nothing = "providers: list[Provider] = [Provider(id='anthropic', models=[])]"
    for rows in (genai_rows(book(), nothing), litellm_rows(book(), "{}")):
        assert told(rows) == [("model", "None", "-")]
        assert shown(rows[0].ours) == "1/5/1.25/2/0.1"


def test_litellm_is_compared_on_the_day_of_the_book() -> None:
    assert told(litellm()) == [
        ("standard", "2026-11-18", "=/=/=/=/="),
        ("batch", "2026-11-18", "-"),
        ("web search", "2026-11-18", "="),
        ("US inference", "2026-11-18", "="),
    ]


def test_litellms_tiers_batches_and_fast_mode_are_read_from_its_keys() -> None:
    rows = litellm(
        input_cost_per_token_above_200k_tokens=2e-06,
        input_cost_per_token_batches=5e-07,
        provider_specific_entry={"fast": 2.0},
    )
    assert told(rows)[1:] == [
        ("batch", "2026-11-18", "=/-/-/-/-"),
        ("fast", "2026-11-18", "2/10/2.5/4/0.2"),
        ("standard over 200,000", "2026-11-18", "2/-/-/-/-"),
        ("batch over 200,000", "2026-11-18", "-"),
        ("fast over 200,000", "2026-11-18", "4/-/-/-/-"),
        ("web search", "2026-11-18", "="),
        ("US inference", "2026-11-18", "-"),
    ]


def test_models_that_only_a_library_has_are_shown() -> None:
    table = {"claude-clay-2": LITELLM, "clay/claude-clay-3": {"litellm_provider": "clay"}}
    rows = litellm_rows(book(), json.dumps(table))
    assert [(row.model, row.feature, row.compared()) for row in rows] == [
        ("claude-kiln-1", "model", "-"),
        ("claude-clay-2", "model", "1/5/1.25/2/0.1"),
    ]


def test_a_difference_has_a_reason_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row for row in genai_rows(book(), GENAI) if row.feature != "model"]
    known = known_in(REASON)
    assert [line.verdict for line in judged(rows, known)] == [
        "agrees",
        UNEXPLAINED,
        "agrees",
        "it knows no places",
        "agrees",
    ]
    assert report(rows, known) == 1
    assert UNEXPLAINED in capsys.readouterr().out
    assert report([row for row in rows if row.feature != "batch"], known) == 0
    assert UNEXPLAINED not in capsys.readouterr().out


def test_a_reason_holds_for_its_number_its_models_and_its_days_alone() -> None:
    row = Row("genai-prices", "claude-kiln-1", "US inference", date(2026, 1, 1), None, None)
    (known,) = known_in(REASON)
    assert known.explains(row)
    for more in ('models = ["claude-clay"]\n', "before = 2026-01-01\n"):
        (narrow,) = known_in(REASON + more)
        assert not narrow.explains(row)
    (other,) = known_in(REASON.replace('"-"', '"1.2"'))
    assert not other.explains(row)


def test_reasons_that_nothing_needs_any_more_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    known = known_in(REASON)
    assert unseen([], known) == known
    assert report([], known) == 0
    assert "no longer seen: genai-prices, US inference" in capsys.readouterr().err


def test_the_known_differences_name_libraries_and_models_that_there_are() -> None:
    known = known_in(KNOWN.read_text("utf-8"))
    older = {"claude-2", "claude-v1"}
    for each in known:
        assert each.library in {"genai-prices", "litellm"}
        assert each.models <= shipped().models(ANTHROPIC) | older
        assert each.reason
