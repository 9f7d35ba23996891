"""Commands that ask: queries, what is there, the views and a tree to try them on."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from etl import output
from etl.cli.base import advise, json_option, main, warehouse_at, warehouse_option
from etl.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


# SQL may begin with a comment, which looks like an option.
@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("sql")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "parquet"]),
    default="table",
    help="How to print the result; parquet goes to stdout as it is.",
)
@click.option("--tz", metavar="ZONE", help="Time zone of days, such as Europe/Berlin.")
@warehouse_option
def query(sql: str, form: str, tz: str | None, warehouse: str | None) -> None:
    """Ask one query of the views; - reads it from stdin.

    \b
    Example: cclake query 'select day, sum(output_tokens) from daily_spend group by day'
             cclake query - < my.sql
    """  # noqa: D301 - click wants the control character
    from etl import answers

    text = sys.stdin.read() if sql == "-" else sql
    place = warehouse_at(warehouse)
    answer = answers.ask(place, text, time_zone=tz)
    printers: dict[str, Callable[[answers.Answer], None]] = {
        "table": lambda one: output.show_table(one.names(), one.rows()),
        "json": lambda one: click.echo(one.json()),
        "csv": lambda one: click.echo(one.csv(), nl=False),
        "parquet": lambda one: one.write_parquet(sys.stdout.buffer),
    }
    printers[form](answer)
    advise(place)


@main.command()
@warehouse_option
@json_option
def status(warehouse: str | None, as_json: bool) -> None:
    """Show what is in the warehouse and how fresh it is.

    Example: cclake status --json
    """
    from etl import status as report

    found = report.status_of(warehouse_at(warehouse))
    if as_json:
        output.show_json(found)
    else:
        output.show_status(found)


@main.command()
@click.argument("session", required=False)
@click.option("--cwd", metavar="DIR", type=click.Path(path_type=Path), help="Those of a directory.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True)
@warehouse_option
@json_option
def sessions(
    session: str | None, cwd: Path | None, limit: int, warehouse: str | None, as_json: bool
) -> None:
    """List sessions, the last first; all whose id begins with SESSION, if given.

    With --cwd, the sessions that ran in DIR, or else in the nearest directory above it.

    Example: cclake sessions --cwd .
    """
    from etl import sessions as finder

    place = warehouse_at(warehouse)
    folder = cwd.expanduser().resolve() if cwd else None
    found = finder.found(place, beginning=session, cwd=folder)
    if as_json:
        output.show_json(found[:limit])
    else:
        output.show_sessions(found[:limit])
        if len(found) > limit:
            output.say(f"{len(found) - limit:,} more; --limit {len(found)} shows them all")
    advise(place)


@main.command()
@click.option("--docs", metavar="FILE", help="Write the data dictionary there instead.")
@click.option("--print", "as_sql", is_flag=True, help="Print the SQL that makes the views.")
@warehouse_option
def views(docs: str | None, as_sql: bool, warehouse: str | None) -> None:
    """Write the views anew, as after moving the warehouse.

    Example: cclake views --print
    """
    from etl import catalog
    from etl import views as lake

    if docs:
        output.write_text(Path(docs), catalog.page())
        return
    place = warehouse_at(warehouse)
    place.refuse_if_missing()
    is_empty = place.snapshot() is None
    if as_sql:
        for statement in lake.statements(None if is_empty else place.current):
            click.echo(f"{statement};")
        return
    with place.lock():
        (place.store / "views").unlink(missing_ok=True)
        lake.refresh(place, is_empty=is_empty)
    output.say(f"wrote {place.folder / 'cclake.duckdb'}")


@main.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--mb",
    type=click.FloatRange(0, 1e6, min_open=True),
    default=5.0,
    show_default=True,
    help="Size in megabytes.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Same seed, same bytes.")
@json_option
def demo(folder: Path, mb: float, seed: int, as_json: bool) -> None:
    """Write a made-up log tree to try things on.

    Beside it stands truth.json: what a right reader must find.

    Example: cclake demo /tmp/logs --mb 20 --seed 7
    """
    from etl.demo import write_tree

    try:
        truth = write_tree(folder, megabytes=mb, seed=seed)
    except (ValueError, OSError) as error:
        raise UsageError(str(error), hint="name a folder that does not exist yet") from error
    if as_json:
        output.show_json(truth)
    else:
        output.say(f"wrote {folder}; try: cclake sync --logs {folder} --warehouse DIR")
