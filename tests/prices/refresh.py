"""`python -m tests.prices.refresh [VERSION]`: write etl/prices/others.toml from genai-prices.

The same wheel gives the same bytes. Read the diff before you keep it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from textwrap import fill

import click

from etl.output import say
from etl.prices.book import COMPONENTS
from etl.prices.others import others_of
from tests.prices import genai, wheels
from tests.prices.genai import Made

PACKAGE = "genai-prices"
TARGET = Path(__file__).parents[2] / "etl" / "prices" / "others.toml"
_FINEST = Decimal("0.000001")
_ABOUT = """\
# List prices of other vendors' models in US dollars, for a million tokens.
#
# Written by `make prices` from the data of {package} {version}; do not edit. They are indicative:
# third-party data, one price list a vendor, and no reseller's.
#
# A vendor is known by what it is called before a slash; its models are tried in this order, and
# `names` must match the whole name in lower case, as `family` must. A card holds from its first
# day to the day before its last, UTC, for prompts of more than prompt_over tokens.
# What no price is given for, writing or reading a cache, costs what the input costs.
#
# {models} models of {vendors} vendors, {cards} cards.
# Rounded to 6 decimals, half to even: {rounded} prices.
# Prices by time of day are ignored, that of most hours holds: {timed}.
# Left out for want of a price of input and output tokens: {without}.
# Left out because the package took the price from a reseller: {imported}.
#
# The data is used under this licence:
#
{licence}
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """A vendor whose own models people run behind Claude Code, and how its names look."""

    provider: str
    called: tuple[str, ...]
    family: str
    takes_bare_names: bool = True


# No family lets a colon through: variants such as `:free` or `:nitro` have prices of their own.
CHOICES = (
    Choice("zai", ("z-ai", "z.ai", "zai", "zai-org"), r"glm-[\w.-]+"),
    # The same models for other money, and only the cheapest of its tiers: for those who say so.
    Choice("zhipuai", ("bigmodel", "zhipu", "zhipuai"), r"glm-[\w.-]+", takes_bare_names=False),
    Choice("moonshotai", ("kimi", "moonshot", "moonshotai"), r"(?:kimi|moonshot)-[\w.-]+"),
    # What it distilled into small models of others, it does not sell.
    Choice("deepseek", ("deepseek", "deepseek-ai"), r"deepseek-(?!.*(?:distill|qwen))[\w.-]+"),
    Choice("minimax", ("minimax", "minimaxai"), r"minimax-[\w.-]+"),
    Choice("openai", ("openai",), r"(?:gpt-|chatgpt-|codex-|computer-use|o\d)[\w.-]*"),
    Choice("google", ("gemini", "google"), r"(?:gemini|gemma)-[\w.-]+"),
    Choice("x-ai", ("x-ai", "xai"), r"grok-[\w.-]+"),
    Choice(
        "mistral",
        ("mistral", "mistralai"),
        r"(?:labs-|open-)?(?:codestral|devstral|magistral|ministral|mistral|mixtral|pixtral)"
        r"[\w.-]*",
    ),
    Choice("meta", ("meta",), r"muse-[\w.-]+"),
)


@dataclass(slots=True)
class Account:
    """What was taken, changed and left out on the way."""

    models: int = 0
    cards: int = 0
    rounded: int = 0
    timed: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)


def rendered(source: str, version: str, licence: str, choices: Sequence[Choice] = CHOICES) -> str:
    """Return the file of prices for a `data.py` and its licence."""
    account = Account()
    by_id = {provider["id"]: provider for provider in genai.providers_in(source)}
    vendors = [_vendor_text(choice, by_id[choice.provider], account) for choice in choices]
    about = _ABOUT.format(
        package=PACKAGE,
        version=version,
        vendors=len(vendors),
        models=account.models,
        cards=account.cards,
        rounded=account.rounded,
        timed=_listed(account.timed),
        without=_listed(account.without),
        imported=_listed(account.imported),
        licence="\n".join(f"# {line}".rstrip() for line in licence.strip().splitlines()),
    )
    return "\n".join([_folded(about), f'source = "{PACKAGE} {version}"\n', *vendors])


def _vendor_text(choice: Choice, provider: Made, account: Account) -> str:
    models = [model for model in provider["models"] if _is_of(choice, model)]
    taken = [model for model in models if _is_taken(choice, model, account)]
    _refuse_mistaken(models, taken)
    account.models += len(taken)
    called = ", ".join(f'"{word}"' for word in choice.called)
    head = [
        "[[vendor]]",
        f'id = "{choice.provider}"',
        f"called = [{called}]",
        f"family = '{choice.family}'",
        *([] if choice.takes_bare_names else ["takes_bare_names = false"]),
    ]
    texts = [_model_text(choice, model, account) for model in taken]
    return "\n".join([*head, "", *texts])


def _is_of(choice: Choice, model: Made) -> bool:
    return re.fullmatch(choice.family, model["id"].lower()) is not None


def _is_taken(choice: Choice, model: Made, account: Account) -> bool:
    name = _key(choice, model)
    if (model.get("price_comments") or "").startswith("Imported from"):
        account.imported.append(name)
        return False
    stretches = genai.stretches_of(model)
    is_priced = all(_is_sold_by_the_token(stretch.prices) for stretch in stretches)
    if not stretches or not is_priced:
        account.without.append(name)
        return False
    if genai.is_timed(model):
        account.timed.append(name)
    return True


def _is_sold_by_the_token(prices: Made) -> bool:
    """Say whether input and output both have a price; nothing at all is no price, either."""
    return all(genai.price_at(prices, name, 0) for name in ("input", "output"))


def _refuse_mistaken(models: Sequence[Made], taken: Sequence[Made]) -> None:
    """Refuse to leave out a model whose name the pattern of another would then catch."""
    patterns = [genai.pattern_of(model["match"]) for model in taken]
    for model in models:
        name = model["id"].lower()
        if model not in taken and any(re.fullmatch(pattern, name) for pattern in patterns):
            raise ValueError(f"{name} is left out, but another model's pattern matches it")


def _model_text(choice: Choice, model: Made, account: Account) -> str:
    pattern = genai.pattern_of(model["match"])
    if "'" in pattern:
        raise ValueError(f"{_key(choice, model)}: {pattern} cannot be written between quotes")
    lines = [
        f"    {{ {_card_text(stretch, tier, account)} }},"
        for stretch in genai.stretches_of(model)
        for tier in genai.tiers_of(stretch.prices)
    ]
    account.cards += len(lines)
    head = ["[[vendor.model]]", f'id = "{model["id"].lower()}"', f"names = '{pattern}'"]
    return "\n".join([*head, "cards = [", *lines, "]", ""])


def _card_text(stretch: genai.Stretch, tier: int, account: Account) -> str:
    days = {"from": stretch.first_day, "to": stretch.end_day}
    scope = [f"{name} = {day}" for name, day in days.items() if day]
    size = [f"prompt_over = {tier}"] if tier else []
    prices = {name: genai.price_at(stretch.prices, name, tier) for name in COMPONENTS}
    return ", ".join(
        [*scope, *size]
        + [
            f'{name} = "{_price_text(price, account)}"'
            for name, price in prices.items()
            if price is not None
        ]
    )


def _price_text(price: Decimal, account: Account) -> str:
    rounded = price.quantize(_FINEST, ROUND_HALF_EVEN)
    account.rounded += rounded != price
    return f"{rounded.normalize():f}"


def _key(choice: Choice, model: Made) -> str:
    return f"{choice.provider}/{model['id'].lower()}"


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "0"


def _folded(about: str) -> str:
    """Break the long lines of a comment."""
    return "\n".join(
        fill(line, 100, subsequent_indent="#   ", break_on_hyphens=False)
        for line in about.split("\n")
    )


@click.command()
@click.argument("version", required=False)
@click.option("--wheels", "folder", type=click.Path(path_type=Path), help="Download nothing.")
def main(version: str | None, folder: Path | None) -> None:
    """Write the prices of other vendors from a VERSION of genai-prices, else from its newest."""
    with wheels.wheel_of(PACKAGE, version, folder) as wheel:
        source = wheels.text_in(wheel, "genai_prices/data.py")
        licence = wheels.text_in(wheel, "/LICENSE")
        text = rendered(source, wheels.version_of(wheel), licence)
    others = others_of(text, TARGET.name)
    TARGET.write_text(text, encoding="utf-8")
    say(f"{TARGET.name}: {len(others.cards)} cards of {len(others.vendors)} vendors; see the diff")


if __name__ == "__main__":
    main()
