"""Commands that read on: one session, words in all of them, and a prompt for questions."""

import shutil
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from etl import output
from etl.cli.base import advise, json_option, main, warehouse_at, warehouse_option
from etl.counts import counted

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


@main.command()
@click.argument("text")
@click.option(
    "--in",
    "areas",
    multiple=True,
    type=click.Choice(["prompts", "answers", "inputs", "results", "thinking"]),
    help="Where to look; may be said again (default: everywhere but in thinking).",
)
@click.option(
    "--project", metavar="DIR", type=click.Path(path_type=Path), help="Sessions of a directory."
)
@click.option("--since", metavar="DAY", type=click.DateTime(["%Y-%m-%d"]), help="From that day on.")
@click.option("--until", metavar="DAY", type=click.DateTime(["%Y-%m-%d"]), help="That day too.")
@click.option("--tool", metavar="NAME", help="Only inputs and results of that tool.")
@click.option("--session", metavar="ID", help="One session, by its id or its beginning.")
@click.option("--case", is_flag=True, help="Tell capital letters from small ones.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@tz_option
@warehouse_option
@json_option
def search(
    text: str,
    areas: tuple[str, ...],
    project: Path | None,
    since: datetime | None,
    until: datetime | None,
    tool: str | None,
    session: str | None,
    case: bool,
    limit: int,
    tz: str | None,
    warehouse: str | None,
    as_json: bool,
) -> None:
    """Find TEXT in prompts, answers, and in what went into tools and came out of them.

    The newest come first, and what was copied counts once. TEXT is found as it stands, within
    words too, capital or small. Of what the program itself put in, nothing is searched.

    \b
    Example: cclake search 'connection refused' --in results --tool Bash
             cclake search kiln --project . --since 2026-03-01
    """  # noqa: D301 - click wants the control character
    from etl import search as finding
    from etl.pages import hits

    wish = finding.Wish(
        text,
        areas,
        str(project.expanduser().absolute()) if project else None,
        since.date() if since else None,
        until.date() if until else None,
        tool,
        session,
        case,
    )
    place = warehouse_at(warehouse)
    found = finding.search(place, wish, limit=limit, time_zone=tz)
    if as_json:
        output.show_json([asdict(hit) for hit in found.hits])
    else:
        width = _columns() or _NARROWEST * 2
        output.show_lines(line for hit in found.hits for line in hits.lines_of(hit, width))
    output.say(_sum_of(found.total, len(found.hits)))
    advise(place)


def _sum_of(total: int, shown: int) -> str:
    if not total:
        return "nothing found"
    more = f", the newest {shown:,} shown; --limit {total} shows them all"
    return f"{counted(total, 'hit')}{more if total > shown else ''}"


@main.command()
@click.option("--plain", is_flag=True, help="cclake's own prompt, also where duckdb is installed.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Rows that are shown of a result.",
)
@tz_option
@warehouse_option
def shell(plain: bool, limit: int, tz: str | None, warehouse: str | None) -> None:
    """Ask one query after the other at a prompt, all of one commit.

    Where DuckDB's own client (1.5 or later) is on the path, it gets the terminal; --plain and
    --limit are for the prompt of cclake's own. Lines on stdin are read and answered without a
    prompt; if one of them fails, the exit code is 2.

    \b
    Example: cclake shell --tz Europe/Berlin
             cclake shell < questions.sql
    """  # noqa: D301 - click wants the control character
    from etl import client, config
    from etl import shell as own

    place = warehouse_at(warehouse)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        failures = own.of_lines(place, sys.stdin, time_zone=tz, limit=limit)
        sys.exit(2 if failures else 0)
    if not plain and (program := client.found()):
        output.say("this is DuckDB's own client; cclake shell --plain is without it")
        sys.exit(client.hand_over(program, place, time_zone=tz))
    own.at_a_terminal(place, time_zone=tz, limit=limit, history=config.history_file())
