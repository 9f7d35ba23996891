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
