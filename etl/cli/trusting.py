"""Commands about trust: prove what is there, mend it, and make it forget."""

import sys
from dataclasses import asdict

import click

from etl import output
from etl.cli.base import json_option, main, warehouse_option


@main.command()
@click.option("--deep", is_flag=True, help="Read every byte, and the logs that are still there.")
@warehouse_option
@json_option
def check(deep: bool, warehouse: str | None, as_json: bool) -> None:
    """Prove that nothing is lost and nothing is there twice.

    \b
    Every byte of every log is held against its rows, every key and every file of every commit is
    looked at; --deep also hashes every file, derives every table once more, and holds the logs
    that are still there beside their lines. Nothing is changed.

    \b
    Example: cclake check --deep
    Exit codes: 0 all is as promised (perhaps with warnings), 4 it is not.
    """  # noqa: D301 - click wants the control character
    from etl import check as proof
    from etl import config
    from etl.commit import Warehouse
    from etl.errors import UsageError

    place = Warehouse(config.warehouse_of(warehouse))
    if not place.exists():
        raise UsageError(f"no warehouse at '{place.folder}'", hint="run cclake sync first")
    report = proof.check(place, deep=deep)
    if as_json:
        output.show_json(asdict(report))
    else:
        output.show_check(report)
    sys.exit(4 if report.is_broken() else 0)


@main.command()
@click.option(
    "--to", metavar="N", type=int, help="Start from commit N, though later ones are sound."
)
@click.option("--logs", multiple=True, metavar="DIR", help="A Claude config or projects directory.")
@click.option("--source", metavar="NAME", help="This machine's name in the warehouse.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would be done.")
@warehouse_option
@json_option
def repair(
    to: int | None,
    logs: tuple[str, ...],
    source: str | None,
    is_dry: bool,
    warehouse: str | None,
    as_json: bool,
) -> None:
    """Make a damaged warehouse sound again, from what is left of it and from the logs.

    \b
    What is whole is kept, what can be computed is computed again, and what the logs still have is
    read again. Files that are damaged are moved to _store/damaged, not deleted.

    \b
    Example: cclake repair --dry-run
    Exit codes: 0 all is sound, 1 something could not be had, 2 usage, 3 a sync is running,
    4 written by another version of cclake, 5 nothing was committed.
    """  # noqa: D301 - click wants the control character
    from etl import config, reread
    from etl import repair as mending
    from etl.commit import Warehouse
    from etl.errors import UsageError

    place = Warehouse(config.warehouse_of(warehouse))
    if not place.store.exists():
        raise UsageError(f"no warehouse at '{place.folder}'", hint="run cclake sync first")
    settings = config.settings_to_repair(logs=logs, warehouse=warehouse, source=source)
    report = mending.repair(place, settings.book, to=to, is_dry=is_dry)
    if report.wrong and not (is_dry or report.asks):
        reread.read_again(place, report, settings)
        if not settings.roots:
            output.say("no log folder was found; name yours with --logs DIR")
    if as_json:
        output.show_json(asdict(report))
    else:
        output.show_repair(report)
    sys.exit(report.exit_code())
