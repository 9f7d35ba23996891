"""Commands that read on: a session as it went."""

import shutil
import sys

import click

from etl import output
from etl.cli.base import main, warehouse_at, warehouse_option

_NARROWEST, _WIDEST = 60, 200
tz_option = click.option("--tz", metavar="ZONE", help="Time zone of times, such as Europe/Berlin.")


def _columns() -> int | None:
    """Return how wide the terminal is, within reason; None where the result goes elsewhere."""
    if not sys.stdout.isatty():
        return None
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


@main.command()
@click.argument("session")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    help="How to print it; json has all of it.",
)
@click.option("--agents/--no-agents", "agents", default=True, help="What agents said and did.")
@click.option("--thinking", is_flag=True, help="What was thought, too.")
@click.option("--tools", is_flag=True, help="What went into tools and came out of them, too.")
@tz_option
@warehouse_option
def show(
    session: str,
    form: str,
    agents: bool,
    thinking: bool,
    tools: bool,
    tz: str | None,
    warehouse: str | None,
) -> None:
    """Show a session as it went: prompts, answers, calls, and its agents among them.

    It is read from the warehouse alone. A fork is shown whole, with what it copied. SESSION is its
    id, or as much of its beginning as no other has.

    \b
    Example: cclake show 4f2a
             cclake show 4f2a --format markdown > session.md
    """  # noqa: D301 - click wants the control character
    from etl import reading
    from etl.pages import markdown, text, tree

    conversation = reading.conversation_of(warehouse_at(warehouse), session, time_zone=tz)
    if form == "json":
        output.show_json(tree.tree_of(conversation, with_agents=agents))
    elif form == "markdown":
        look = markdown.document_of(conversation, with_agents=agents, with_thinking=thinking)
        output.show_lines(look)
    else:
        wanted = text.Look(_columns(), agents, thinking, tools)
        output.show_lines(text.page_of(conversation, wanted))
