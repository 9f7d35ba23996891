"""Commands that keep the history: read it in, bring it back."""

import sys
from dataclasses import asdict, replace
from pathlib import Path

import click

from etl import output, stopping
from etl.cli.base import json_option, main, warehouse_at, warehouse_option
from etl.counts import counted

_MOST_EVENTS = 5


@main.command()
@click.option("--logs", multiple=True, metavar="DIR", help="A Claude config or projects directory.")
@click.option("--source", metavar="NAME", help="This machine's name in the warehouse.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes (default: one a core).")
@click.option("--strict", is_flag=True, help="Exit with 4 if something logged has no price.")
@click.option(
    "--content",
    type=click.Choice(["full", "metrics"]),
    help="metrics: counts, times and costs, not a word; for all that is there and all to come."
    " There is no way back.",
)
@click.option(
    "--redact",
    type=click.Choice(["off", "known"]),
    help="known: hide secrets of known form; for all that is there and all to come.",
)
@warehouse_option
@json_option
@stopping.listening()
def sync(
    logs: tuple[str, ...],
    source: str | None,
    jobs: int | None,
    strict: bool,
    content: str | None,
    redact: str | None,
    warehouse: str | None,
    as_json: bool,
) -> None:
    """Bring the warehouse up to date with the logs.

    \b
    Example: cclake sync --logs ~/.claude
    Exit codes: 0 done, 1 done but not all: some files could not be read, 2 usage,
    3 another sync is running, 4 the state was refused, or with --strict something
    has no price, 5 nothing was committed.
    """  # noqa: D301 - click wants the control character
    from etl import bill, config, pipeline

    settings = config.settings_of(logs=logs, warehouse=warehouse, source=source, jobs=jobs)
    settings = replace(settings, content=content, redact=redact)
    place = warehouse_at(str(settings.warehouse))
    run = pipeline.sync(settings)
    output.say_each(run.problems)
    output.say_each(run.events, most=_MOST_EVENTS)
    if as_json:
        output.show_json(asdict(run))
    else:
        output.say(output.sentence_of(asdict(run)))
    if strict:
        bill.refuse_unpriced(place)
    sys.exit(run.exit_code())


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
    from etl import restore as way_back

    place = warehouse_at(warehouse)
    files = way_back.restore(place, session, folder.expanduser())
    if as_json:
        output.show_json([asdict(file) for file in files])
    else:
        lines = sum(file.lines for file in files)
        many = f"{counted(len(files), 'file')}, {counted(lines, 'line')}"
        output.say(f"restored {many}, below {folder}")
