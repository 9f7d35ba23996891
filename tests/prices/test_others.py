"""Other vendors' models: what they cost, which names mean them, and which must not."""

import re
from datetime import date
from pathlib import Path

import pytest

import etl.prices
from etl.errors import UsageError
from etl.prices import shipped
from etl.prices.book import ANTHROPIC, COMPONENTS
from etl.prices.names import named
from etl.prices.others import Others, others_of

FILE = Path(etl.prices.__file__).parent / "others.toml"
TODAY = date(2026, 11, 18)
OTHERS = others_of(FILE.read_text("utf-8"), FILE.name)

TWO = """
source = "a package 1.0"

[[vendor]]
id = "glowworks"
called = ["glow"]
family = 'glow-[\\w.-]+'

[[vendor.model]]
id = "glow-1"
names = 'glow-1|glow-one'
cards = [
    { to = 2026-02-01, input = "1", output = "4", cache_read = "0.1" },
    { from = 2026-02-01, input = "2", output = "8", cache_read = "0.2" },
    { from = 2026-02-01, prompt_over = 1000, input = "3", output = "9", cache_read = "0.3" },
]

[[vendor.model]]
id = "glow-2"
names = 'glow-.*'
cards = [
    { input = "5", output = "6", cache_write_5m = "7", cache_write_1h = "8", cache_read = "9" },
]

[[vendor]]
id = "embers"
called = ["embers"]
family = '(?:glow|ember)-[\\w.-]+'

[[vendor.model]]
id = "ember-1"
names = 'ember-1|glow-1'
cards = [{ input = "1", output = "1" }]

[[vendor]]
id = "lanterns"
called = ["lanterns"]
family = 'glow-[\\w.-]+'
takes_bare_names = false

[[vendor.model]]
id = "glow-3"
names = 'glow-3'
cards = [{ input = "1", output = "1" }]
"""


def two(text: str = TWO) -> Others:
    return others_of(text, "others.toml")


def meant(name: str, others: Others = OTHERS) -> str | None:
    return named(name, shipped().models(), vendors=others.vendors).model


def usd(model: str, prompt: int = 5, day: date = TODAY) -> list[float] | None:
    card = shipped().card_for(model, "standard", prompt, day)
    return [card.pico_usd[name] / 1_000_000 for name in COMPONENTS] if card else None


def test_every_card_of_the_file_is_sane() -> None:
    for card in OTHERS.cards:
        assert set(card.pico_usd) == set(COMPONENTS)
        assert 0 < card.pico_usd["input"] <= card.pico_usd["output"] * 2 < 2_000_000_000
        assert 0 < card.pico_usd["cache_read"] <= card.pico_usd["input"]
        assert card.provider != ANTHROPIC
        assert card.model.startswith(f"{card.provider}/")
        assert (card.speed, card.evidence in {"library", "fallback"}) == ("standard", True)


def test_the_file_says_what_it_is_from_and_under_which_licence() -> None:
    text = FILE.read_text("utf-8")
    (source,) = {card.source for card in OTHERS.cards}
    assert f"from the data of {source};" in text
    assert "# Copyright (c)" in text
    assert "# The above copyright notice and this permission notice shall be included" in text
    assert f"{len(OTHERS.cards)} cards" in text
    assert FILE.stat().st_size < 300_000


def test_the_file_is_part_of_the_shipped_book() -> None:
    book = shipped()
    assert tuple(card for card in book.cards if card.provider != ANTHROPIC) == OTHERS.cards
    assert book.vendors == OTHERS.vendors


@pytest.mark.parametrize(
    ("name", "model", "prices"),
    [
        ("glm-4.6", "zai/glm-4.6", [0.6, 2.2, 0.6, 0.6, 0.11]),
        ("GLM-4.5-Air", "zai/glm-4.5-air", [0.2, 1.1, 0.2, 0.2, 0.03]),
        ("glm-5.3", "zai/glm-5.3", [1.4, 4.4, 1.4, 1.4, 0.26]),
        ("kimi-k2-0905-preview", "moonshotai/kimi-k2-0905-preview", [0.6, 2.5, 0.6, 0.6, 0.15]),
        ("kimi-k3", "moonshotai/kimi-k3", [3, 15, 3, 6, 0.3]),
        ("deepseek-chat", "deepseek/deepseek-chat", [0.27, 1.1, 0.27, 0.27, 0.07]),
        ("deepseek-v4-pro", "deepseek/deepseek-v4-pro", [0.66, 1.98, 0.66, 0.66, 0.022]),
        ("MiniMax-M2", "minimax/minimax-m2", [0.3, 1.2, 0.375, 0.375, 0.03]),
        ("gpt-5", "openai/gpt-5", [1.25, 10, 1.25, 1.25, 0.125]),
        ("gpt-5.2-codex", "openai/gpt-5.2", [1.75, 14, 1.75, 1.75, 0.175]),
        ("gpt-6.1-sol", "openai/gpt-6.1-sol", [2, 10, 2.5, 2.5, 0.1]),
        ("gemini-2.5-pro", "google/gemini-2.5-pro", [1.25, 10, 1.25, 1.25, 0.125]),
        ("grok-code-fast-1", "x-ai/grok-code-fast-1", [0.2, 1.5, 0.2, 0.2, 0.02]),
        ("devstral-2512", "mistral/devstral-2512", [0.4, 2, 0.4, 0.4, 0.04]),
        ("mistral-large-4", "mistral/mistral-large-4", [0.7, 2.1, 0.7, 0.7, 0.07]),
    ],
)
def test_well_known_models_have_the_price_of_their_vendor(
    name: str, model: str, prices: list[float]
) -> None:
    assert (meant(name), usd(model)) == (model, prices)


def test_prices_change_with_the_day_and_the_prompt() -> None:
    flash = [usd("deepseek/deepseek-v4-flash", day=date(2026, month, 10)) for month in (8, 9)]
    assert [prices[0] if prices else None for prices in flash] == [0.14, 0.15]
    gemini = [usd("google/gemini-2.5-pro", prompt) for prompt in (200_000, 200_001)]
    assert [prices[1] if prices else None for prices in gemini] == [10, 15]


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("z-ai/glm-4.6", "zai/glm-4.6"),
        ("zai-org/GLM-4.6", "zai/glm-4.6"),
        ("openrouter/z-ai/glm-4.6", "zai/glm-4.6"),
        ("zai/glm-4.7[1m]", "zai/glm-4.7"),
        ("zhipuai/glm-4.7", "zhipuai/glm-4.7"),
        ("moonshotai/kimi-k2", "moonshotai/kimi-k2"),
        ("openai/gpt-5", "openai/gpt-5"),
        ("gpt-5-2025-08-07", "openai/gpt-5"),
        ("openai/gpt-5.2-20251211", "openai/gpt-5.2"),
        ("gpt-4o-2024-05-13", "openai/gpt-4o-2024-05-13"),
        ("glm-4.6-20250930", "zai/glm-4.6"),
        ("gpt-5 (high)", "openai/gpt-5"),
        (" Gemini-2.5-Flash ", "google/gemini-2.5-flash"),
        ("gemini/gemini-2.5-flash", "google/gemini-2.5-flash"),
        ("x-ai/grok-4-fast", "x-ai/grok-4-fast-reasoning"),
    ],
)
def test_a_name_means_a_model_by_whichever_route(name: str, model: str) -> None:
    found = named(name, shipped().models(), vendors=OTHERS.vendors)
    assert (found.name, found.model, found.speed, found.is_regional) == (name, model, None, False)


@pytest.mark.parametrize(
    "name",
    [
        "z-ai/glm-4.6:free",
        "glm-4.6:free",
        "kimi-k2.5-free",
        "moonshotai/kimi-k2:exacto",
        "deepseek-chat:thinking",
        "groq/openai/gpt-5",
        "azure/gpt-5",
        "accounts/fireworks/models/glm-4.6",
        "openai/glm-4.6",
        "gpt-oss-120b",
        "gpt-oss:20b",
        "deepseek-r1-distill-qwen-32b",
        "glm-4.9",
        "glm-4.6-turbo",
        "glm-5-turbo",
        "gpt-5.9",
        "qwen3-coder-plus",
        "my-gemini-2.5-pro",
        "gemini-2.5-pro\nx",
        "gemma-3-27b-it",
        "<synthetic>",
        "",
        "/",
        "glm-" + "4" * 900,
        "gemini-" * 140,
        "gemini-" * 10_000,
    ],
    ids=lambda name: name[:40],
)
def test_a_name_that_could_cost_something_else_means_no_model(name: str) -> None:
    assert meant(name) is None


@pytest.mark.parametrize(
    "name",
    ["claude-opus-9", "openai/claude-gpt-5", "gpt-5-claude", "deepseek-chat-claude", "claude"],
)
def test_a_name_with_claude_in_it_is_never_another_vendors(name: str) -> None:
    assert meant(name) is None


def test_claude_names_mean_with_the_vendors_what_they_mean_without() -> None:
    for model in shipped().models(ANTHROPIC):
        assert meant(model) == model


def test_whoever_names_a_model_by_its_key_is_understood_or_gets_no_price() -> None:
    """Some keys are no names: what a vendor calls `codestral-latest` has the key `codestral`."""
    for model in {card.model for card in OTHERS.cards}:
        found = meant(model)
        assert found is None or found.split("/")[0] == model.split("/")[0]


def test_the_first_pattern_of_a_vendor_wins() -> None:
    assert meant("glow/glow-1", two()) == "glowworks/glow-1"
    assert meant("glow/glow-9", two()) == "glowworks/glow-2"


def test_what_two_vendors_call_the_same_means_neither_unless_the_name_says_whose() -> None:
    assert meant("glow-1", two()) is None
    assert meant("embers/glow-1", two()) == "embers/ember-1"
    assert meant("ember-1", two()) == "embers/ember-1"


def test_a_vendor_may_have_to_be_named() -> None:
    assert meant("glow-3", two()) == "glowworks/glow-2"
    assert meant("lanterns/glow-3", two()) == "lanterns/glow-3"


def test_what_has_no_price_costs_what_the_input_costs() -> None:
    dated, full = two().cards[0], two().cards[3]
    assert [dated.pico_usd[name] for name in COMPONENTS] == [
        1_000_000,
        4_000_000,
        1_000_000,
        1_000_000,
        100_000,
    ]
    assert (dated.evidence, full.evidence) == ("fallback", "library")
    assert (dated.source, dated.provider) == ("a package 1.0", "glowworks")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("from = 2026-02-01, input", "input", "two cards of glowworks/glow-1, standard, over 0"),
        ('input = "5"', "input = 5.0", "input: a price is written as text"),
        ('input = "5", ', "", "it has no input"),
        ('input = "5"', 'input = "0.0000001"', "more than 6 decimals"),
        ('input = "5"', 'imput = "5"', "imput: nobody reads this"),
        ("glow-.*", "glow-(", 'names: "glow-(" is no expression'),
        ('source = "a package 1.0"', "", "it has no source"),
        ("names = 'glow-3'\n", "", "it has no names"),
        ("takes_bare_names = false", "colour = 1", "colour: nobody reads this"),
        ('names = \'glow-3\'\ncards = [{ input = "1", output = "1" }]', "names = 'g'", "no cards"),
        ("[[vendor]]", "[[vendor]", "others.toml, line "),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_place(old: str, new: str, told: str) -> None:
    assert old in TWO
    with pytest.raises(UsageError, match=r"others\.toml") as caught:
        two(TWO.replace(old, new))
    assert told in str(caught.value)


def test_no_family_lets_a_variant_through() -> None:
    for vendor in OTHERS.vendors:
        names = [model.split("/")[1] for _, model in vendor.patterns]
        assert all(re.fullmatch(vendor.family, name) for name in names)
        assert not any(re.fullmatch(vendor.family, f"{name}:x") for name in names)
