"""Commands about prices."""

from dataclasses import asdict
from datetime import UTC, datetime

import click

from etl import output
from etl.cli.base import json_option, main, warehouse_at, warehouse_option


class _ListGroup(click.Group):
    """Runs `list` where no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["list", *args]
        return super().parse_args(ctx, args)


@main.group(cls=_ListGroup)
def prices() -> None:
    """Show the price book, your own prices among it.

    \b
    cclake prices                                 the cards of Claude's models and your own
    cclake prices claude-opus zai/                those of some models
    cclake prices explain claude-opus-4-8[1m]     what a logged name means, and costs

    Example: cclake prices claude-opus claude-haiku-5
    """  # noqa: D301 - click wants the control character


@prices.command("list")
@click.argument("models", metavar="[MODEL-PREFIX]...", nargs=-1)
@json_option
def list_prices(models: tuple[str, ...], as_json: bool) -> None:
    """List the cards of Claude's and your own models, or of all whose names begin so.

    Those of other vendors begin with the vendor's name: deepseek/, google/, meta/, minimax/,
    mistral/, moonshotai/, openai/, x-ai/, zai/, zhipuai/.

    Prices are in US dollars for a million tokens. This is what runs without a command.

    Example: cclake prices claude-opus --json
    """
    from etl import cards, config

    found = cards.listed(config.price_book(), models)
    if as_json:
        output.show_json([asdict(card) for card in found])
    elif found:
        output.show_cards(found)
    else:
        wanted = output.printable(" or ".join(models))
        output.say(f"no model begins with {wanted}; cclake prices lists them all")


@prices.command()
@click.argument("name", metavar="MODEL|MESSAGE_ID")
@click.option("--on", "day", metavar="DAY", help="The request's day, UTC (default: today).")
@click.option(
    "--speed",
    type=click.Choice(["standard", "fast"]),
    default="standard",
    help="As usage says it (default: standard); a name that ends in -fast says so itself.",
)
@click.option(
    "--prompt",
    "prompt_tokens",
    type=click.IntRange(min=0),
    default=0,
    metavar="TOKENS",
    help="Size of the prompt, cache included.",
)
@warehouse_option
@json_option
def explain(
    name: str,
    day: str | None,
    speed: str,
    prompt_tokens: int,
    warehouse: str | None,
    as_json: bool,
) -> None:
    """Say what a logged model name means and costs, or show a response's cost line by line.

    \b
    Example: cclake prices explain claude-opus-4-6-fast --on 2026-03-01
             cclake prices explain msg_01Kq3
    """  # noqa: D301 - click wants the control character
    from etl import bill, cards, config

    if name.startswith("msg_"):
        shown = bill.bill_of(warehouse_at(warehouse), name)
        output.show_json(asdict(shown)) if as_json else output.show_bill(shown)
        return
    on = datetime.now(tz=UTC).date() if day is None else cards.day_of(day)
    found = cards.explained(config.price_book(), cards.Request(name, on, speed, prompt_tokens))
    if as_json:
        output.show_json(asdict(found))
    else:
        output.show_explanation(found)
