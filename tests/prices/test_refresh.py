"""How prices are taken from genai-prices: made-up literals in, patterns, cards and the file out."""

import re
import zipfile
from datetime import date
from pathlib import Path

import pytest

from etl.prices.book import COMPONENTS, Card
from etl.prices.others import others_of
from tests.prices import genai, wheels
from tests.prices.genai import Made
from tests.prices.refresh import Choice, rendered

GLOW = Choice("glowworks", ("glow",), r"glow-[\w.-]+")
ANY, ALL = "ClauseOr(or_=[{}])", "ClauseAnd(and_=[{}])"
ENDS = "ClauseEndsWith(ends_with='y'), ClauseEndsWith(ends_with='Z')"
PLAIN = "ModelPrice(input_mtok=Decimal('1'), output_mtok=Decimal('4'))"


def data_py(*models: str) -> str:
    return f"""
import datetime
from decimal import Decimal
from .types import *

__all__ = ('providers',)

providers: list[Provider] = [
    Provider(id='embers', name='Embers', models=[]),
    Provider(
        id='glowworks',
        pricing_urls=['a page'],
        extractors=[UsageExtractor(root='usage', mappings=[])],
        models=[{", ".join(models)}],
    ),
]
"""


def model(name: str, prices: str = PLAIN, match: str | None = None, extra: str = "") -> str:
    clause = match or f"ClauseEquals(equals='{name}')"
    return f"ModelInfo(id='{name}', match={clause}, prices={prices}, {extra})"


def written(*models: str) -> str:
    return rendered(data_py(*models), "1.2.3", "A licence\n\nCopyright (c) Glow\n", [GLOW])


def cards(*models: str) -> list[Card]:
    return [*others_of(written(*models), "others.toml").cards]


def usd(card: Card) -> str:
    return "/".join(f"{card.pico_usd[name] / 1_000_000:g}" for name in COMPONENTS)


def spans(found: list[Card]) -> list[tuple[int, str, str]]:
    return [
        (card.prompt_over, f"{card.first_day} {card.end_day}", usd(card).partition("/")[0])
        for card in found
    ]


def dated(*entries: tuple[str | None, str]) -> str:
    texts = [
        f"ConditionalPrice({f'constraint={when}, ' if when else ''}"
        f"prices=ModelPrice(input_mtok=Decimal('{price}'), output_mtok=Decimal('4')))"
        for when, price in entries
    ]
    return f"[{', '.join(texts)}]"


def since(year: int, month: int, day: int) -> str:
    return f"StartDateConstraint(start_date=datetime.date({year}, {month}, {day}))"


def between(begin: str, end: str) -> str:
    times = (f"datetime.time({begin}, tzinfo=datetime.UTC)", f"datetime.time({end})")
    return f"TimeOfDateConstraint(start_time={times[0]}, end_time={times[1]})"


def clause(text: str) -> Made:
    (provider,) = genai.providers_in(f"providers: list[Provider] = [Provider(match={text})]")
    found = provider["match"]
    assert isinstance(found, Made)
    return found


@pytest.mark.parametrize(
    ("text", "matching", "others"),
    [
        ("ClauseEquals(equals='Glow-1.5')", ["glow-1.5"], ["glow-1x5", "glow-1.50", "aglow-1.5"]),
        ("ClauseStartsWith(starts_with='glow-')", ["glow-", "glow-1"], ["aglow-1"]),
        ("ClauseEndsWith(ends_with='-GLOW')", ["-glow", "a-glow"], ["a-glow-1"]),
        ("ClauseContains(contains='glow')", ["glow", "a-glow-1"], ["glo-w"]),
        ("ClauseRegex(regex='^glow-\\\\d$')", ["glow-1"], ["glow-12", "aglow-1"]),
        ("ClauseRegex(regex='^glow-\\\\d')", ["glow-1", "glow-12"], ["aglow-1"]),
        ("ClauseRegex(regex='glow$')", ["glow", "a-glow"], ["glow-1"]),
        ("ClauseRegex(regex='^a|b$')", ["ax", "xb"], ["xax"]),
        ("ClauseRegex(regex='^(?!.*-tts(?:$|-))')", ["glow-1"], ["glow-tts", "glow-tts-1"]),
        (
            ANY.format("ClauseEquals(equals='a'), ClauseStartsWith(starts_with='b')"),
            ["a", "b", "bc"],
            ["ab", "c"],
        ),
        (
            ALL.format(f"ClauseStartsWith(starts_with='a'), {ANY.format(ENDS)}"),
            ["ay", "abcz"],
            ["a", "y", "zay1"],
        ),
        ("ClauseNot(not_=ClauseContains(contains='b'))", ["", "ac"], ["b", "abc"]),
    ],
)
def test_a_clause_becomes_an_expression_for_whole_names(
    text: str, matching: list[str], others: list[str]
) -> None:
    pattern = genai.pattern_of(clause(text))
    assert [name for name in matching if not re.fullmatch(pattern, name)] == []
    assert [name for name in others if re.fullmatch(pattern, name)] == []


def test_patterns_are_as_plain_as_the_clauses() -> None:
    equal = "ClauseEquals(equals='glow-1.5'), ClauseEquals(equals='Glow-1.5')"
    text = f"{equal}, ClauseRegex(regex='^glow-\\\\d$')"
    assert genai.pattern_of(clause(ANY.format(text))) == r"glow-1\.5|glow-\d"


def test_a_plain_price_is_one_card_of_all_days() -> None:
    (card,) = cards(model("glow-1"))
    assert (card.model, card.provider, card.end_day) == ("glowworks/glow-1", "glowworks", None)
    assert usd(card) == "1/4/1/1/1"


def test_a_price_of_cache_writes_is_one_of_both_unless_one_has_its_own() -> None:
    prices = PLAIN.removesuffix(")")
    both = f"{prices}, cache_write_mtok=Decimal('2'))"
    own = f"{prices}, cache_write_mtok=Decimal('2'), cache_write_1h_mtok=Decimal('3'))"
    assert [usd(card) for card in cards(model("glow-1", both), model("glow-2", own))] == [
        "1/4/2/2/1",
        "1/4/2/3/1",
    ]


def test_tiers_are_cards_and_a_component_keeps_its_price_where_it_has_no_tier() -> None:
    tiers = "tiers=[Tier(start=500, price=Decimal('3')), Tier(start=200, price=Decimal('2'))]"
    prices = (
        f"ModelPrice(input_mtok=TieredPrices(base=Decimal('1'), {tiers}), "
        "output_mtok=Decimal('4'), cache_read_mtok=Decimal('0.5'))"
    )
    found = cards(model("glow-1", prices))
    assert [(card.prompt_over, usd(card)) for card in found] == [
        (0, "1/4/1/1/0.5"),
        (200, "2/4/2/2/0.5"),
        (500, "3/4/3/3/0.5"),
    ]


def test_dated_prices_follow_each_other() -> None:
    prices = dated((None, "1"), (since(2026, 2, 1), "2"), (since(2026, 3, 1), "3"))
    assert spans(cards(model("glow-1", prices))) == [
        (0, "0001-01-01 2026-02-01", "1"),
        (0, "2026-02-01 2026-03-01", "2"),
        (0, "2026-03-01 None", "3"),
    ]


def test_a_date_that_changes_nothing_is_no_card() -> None:
    prices = dated((None, "1"), (since(2026, 2, 1), "1"), (since(2026, 3, 1), "3"))
    assert [span for _, span, _ in spans(cards(model("glow-1", prices)))] == [
        "0001-01-01 2026-03-01",
        "2026-03-01 None",
    ]


def test_of_entries_that_hold_at_once_the_last_counts_and_before_all_of_them_the_first() -> None:
    prices = dated((since(2026, 3, 1), "3"), (since(2026, 2, 1), "2"))
    assert spans(cards(model("glow-1", prices))) == [
        (0, "0001-01-01 2026-02-01", "3"),
        (0, "2026-02-01 None", "2"),
    ]


def test_prices_of_some_hours_are_ignored_and_told() -> None:
    peaks = [(between("1, 0", "4, 0"), "9"), (between("6, 0", "10, 0"), "9")]
    prices = dated((None, "1"), (since(2026, 2, 1), "2"), *peaks)
    found = cards(model("glow-1", prices))
    assert [price for _, _, price in spans(found)] == ["1", "2"]
    assert "time of day are ignored, that of most hours holds: 1 (glowworks/glow-1)." in written(
        model("glow-1", prices), model("glow-2")
    )


def test_the_price_of_most_hours_is_the_ordinary_one() -> None:
    prices = dated((None, "1"), (between("16, 30", "8, 30"), "2"))
    assert [price for _, _, price in spans(cards(model("glow-1", prices)))] == ["2"]


def test_long_decimals_are_rounded_half_to_even_and_counted() -> None:
    prices = "ModelPrice(input_mtok=Decimal('0.0000025'), output_mtok=Decimal('0.12345678'))"
    text = written(model("glow-1", prices), model("glow-2"))
    assert 'input = "0.000002", output = "0.123457"' in text
    assert "half to even: 2 prices." in text


def test_what_is_not_sold_by_the_token_is_left_out_and_told() -> None:
    text = written(
        model("glow-1"),
        model("glow-free", "ModelPrice()"),
        model("glow-embed", "ModelPrice(input_mtok=Decimal('1'))"),
        model("glow-gift", PLAIN.replace("'1'", "'0'").replace("'4'", "'0'")),
        model("glow-old", extra="price_comments='Imported from elsewhere.'"),
        model("ember-1"),
    )
    names = ", ".join(f"glowworks/glow-{word}" for word in ("free", "embed", "gift"))
    folded = " ".join(text.replace("\n#", "").split())
    assert f"want of a price of input and output tokens: 3 ({names})." in folded
    assert "took the price from a reseller: 1 (glowworks/glow-old)." in folded
    assert {card.model for card in others_of(text, "others.toml").cards} == {"glowworks/glow-1"}


def test_no_model_is_left_out_that_would_be_taken_for_another() -> None:
    wide = model("glow-1", match="ClauseStartsWith(starts_with='glow-')")
    with pytest.raises(ValueError, match="glow-free is left out, but another"):
        written(wide, model("glow-free", "ModelPrice()"))


def test_the_file_names_version_licence_and_counts_and_is_the_same_every_time() -> None:
    texts = {written(model("glow-1"), model("glow-2")) for _ in range(2)}
    (text,) = texts
    assert "data of genai-prices 1.2.3;" in text
    assert "# A licence\n#\n# Copyright (c) Glow\n" in text
    assert "2 models of 1 vendors, 2 cards." in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (data_py(model("glow-1", "PRICES")), "PRICES is not understood"),
        (data_py("ModelInfo('glow-1')"), "ModelInfo has values without names"),
        (data_py(model("glow-1", match="ClauseLike(like='a')")), "ClauseLike is not understood"),
        (data_py(model("glow-1", dated(("Weekday(day=1)", "1")))), "Weekday is not understood"),
        ("models = []", "it declares no providers"),
    ],
)
def test_what_is_not_understood_stops_the_refresh(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        rendered(text, "1", "", [GLOW])


def test_nothing_of_the_package_is_run() -> None:
    hostile = data_py(model("glow-1")) + "\nraise SystemExit\n"
    assert "glow-1" in rendered(hostile, "1", "", [GLOW])


def test_a_wheel_is_read_from_a_folder(tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        with zipfile.ZipFile(tmp_path / f"a_package-{version}-py3-none-any.whl", "w") as archive:
            archive.writestr("a_package/data.py", f"version = '{version}'")
    with wheels.wheel_of("a-package", "2.0", tmp_path) as wheel:
        assert wheels.version_of(wheel) == "2.0"
        assert wheels.text_in(wheel, "a_package/data.py") == "version = '2.0'"
    with (
        pytest.raises(FileNotFoundError, match="2 wheels"),
        wheels.wheel_of("a-package", None, tmp_path),
    ):
        pass


def test_a_stretch_holds_on_its_days() -> None:
    stretch = genai.Stretch(date(2026, 1, 2), date(2026, 1, 4), Made("ModelPrice", {}))
    days = [date(2026, 1, day) for day in (1, 2, 3, 4)]
    assert [stretch.holds_on(day) for day in days] == [False, True, True, False]
