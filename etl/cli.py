"""The command: parse options, call one function, show the result."""

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from etl import __version__, output
from etl.errors import CclakeError, StorageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_EVENTS = 5
warehouse_option = click.option(
    "--warehouse",
    metavar="DIR",
    help="Where the warehouse is (default: $CCLAKE_WAREHOUSE, else the platform's data directory).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


class _Group(click.Group):
    """Shows our own errors as a sentence and a hint."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        try:
            return super().invoke(ctx)
        except CclakeError as error:
            output.fail(error)
        except BrokenPipeError:
            raise  # click ends quietly when the reader of a pipe has gone.
        except OSError as error:
            output.fail(StorageError(str(error), hint="free space or name another place"))


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cclake")
def main() -> None:
    """Keep Claude Code's session logs, and ask SQL of them.

    \b
    cclake sync                                   read what is new
    cclake query 'select * from daily_spend'      ask
    """  # noqa: D301 - click wants the control character


@main.command()
@click.option("--logs", multiple=True, metavar="DIR", help="A Claude config or projects directory.")
@click.option("--source", metavar="NAME", help="This machine's name in the warehouse.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes (default: one a core).")
@click.option("--strict", is_flag=True, help="Exit with 4 if something logged has no price.")
@warehouse_option
@json_option
def sync(
    logs: tuple[str, ...],
    source: str | None,
    jobs: int | None,
    strict: bool,
    warehouse: str | None,
    as_json: bool,
) -> None:
    """Bring the warehouse up to date with the logs.

    \b
    Example: cclake sync --logs ~/.claude
    Exit codes: 0 done, 1 done but some files could not be read, 2 usage,
    3 another sync is running, 4 the state was refused, or with --strict something
    has no price, 5 nothing was committed.
    """  # noqa: D301 - click wants the control character
    from etl import bill, config, pipeline
    from etl.commit import Warehouse

    settings = config.settings_of(logs=logs, warehouse=warehouse, source=source, jobs=jobs)
    run = pipeline.sync(settings)
    output.say_each(run.problems)
    output.say_each(run.events, most=_MOST_EVENTS)
    if as_json:
        output.show_json(asdict(run))
    else:
        output.say(output.sentence_of(asdict(run)))
    if strict:
        bill.refuse_unpriced(Warehouse(settings.warehouse))
    sys.exit(run.exit_code())


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
    from etl import answers, config
    from etl.commit import Warehouse

    text = sys.stdin.read() if sql == "-" else sql
    answer = answers.ask(Warehouse(config.warehouse_of(warehouse)), text, time_zone=tz)
    printers: dict[str, Callable[[answers.Answer], None]] = {
        "table": lambda one: output.show_table(one.names(), one.rows()),
        "json": lambda one: click.echo(one.json()),
        "csv": lambda one: click.echo(one.csv(), nl=False),
        "parquet": lambda one: one.write_parquet(sys.stdout.buffer),
    }
    printers[form](answer)


@main.command()
@warehouse_option
@json_option
def status(warehouse: str | None, as_json: bool) -> None:
    """Show what is in the warehouse and how fresh it is.

    Example: cclake status --json
    """
    from etl import config
    from etl import status as report
    from etl.commit import Warehouse

    found = report.status_of(Warehouse(config.warehouse_of(warehouse)))
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
    from etl import config
    from etl import sessions as finder
    from etl.commit import Warehouse

    place = Warehouse(config.warehouse_of(warehouse))
    folder = cwd.expanduser().resolve() if cwd else None
    found = finder.found(place, beginning=session, cwd=folder)
    if as_json:
        output.show_json(found[:limit])
    else:
        output.show_sessions(found[:limit])
        if len(found) > limit:
            output.say(f"{len(found) - limit:,} more; --limit {len(found)} shows them all")


@main.command()
@click.argument("session")
@click.option("--to", "folder", metavar="DIR", required=True, type=click.Path(path_type=Path))
@warehouse_option
@json_option
def restore(session: str, folder: Path, warehouse: str | None, as_json: bool) -> None:
    """Bring a session back from the warehouse, its agents too.

    Its files come to lie below DIR as they lay below the projects directory, every line as it was
    read. SESSION is its id, or as much of its beginning as no other has.

    Example: cclake restore 4f2a --to ~/.claude/projects
    """
    from etl import config
    from etl import restore as way_back
    from etl.commit import Warehouse

    place = Warehouse(config.warehouse_of(warehouse))
    files = way_back.restore(place, session, folder.expanduser())
    if as_json:
        output.show_json([asdict(file) for file in files])
    else:
        lines = sum(file.lines for file in files)
        output.say(f"restored {len(files):,} files, {lines:,} lines, below {folder}")


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
    from etl.commit import Warehouse

    if name.startswith("msg_"):
        shown = bill.bill_of(Warehouse(config.warehouse_of(warehouse)), name)
        output.show_json(asdict(shown)) if as_json else output.show_bill(shown)
        return
    on = datetime.now(tz=UTC).date() if day is None else cards.day_of(day)
    found = cards.explained(config.price_book(), cards.Request(name, on, speed, prompt_tokens))
    if as_json:
        output.show_json(asdict(found))
    else:
        output.show_explanation(found)


@main.command()
@click.option("--docs", metavar="FILE", help="Write the data dictionary there instead.")
@click.option("--print", "as_sql", is_flag=True, help="Print the SQL that makes the views.")
@warehouse_option
def views(docs: str | None, as_sql: bool, warehouse: str | None) -> None:
    """Write the views anew, as after moving the warehouse.

    Example: cclake views --print
    """
    from etl import catalog, config
    from etl import views as lake
    from etl.commit import Warehouse

    if docs:
        output.write_text(Path(docs), catalog.page())
        return
    place = Warehouse(config.warehouse_of(warehouse))
    if not place.exists():
        raise UsageError(
            f"no warehouse at '{place.folder}'", hint="run cclake sync first, or name another"
        )
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
