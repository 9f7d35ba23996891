"""Commands about trust: prove what is there, mend it, and make it forget."""

import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path, PureWindowsPath

import click

from etl import output, stopping
from etl.cli.base import json_option, main, warehouse_at, warehouse_option


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
    Exit codes: 0 all is as promised (perhaps with warnings), 2 usage, 3 a sync came in
    between: run it again, 4 it is not as promised.
    """  # noqa: D301 - click wants the control character
    from etl import check as proof

    place = warehouse_at(warehouse)
    place.refuse_if_missing()
    report = proof.check(place, deep=deep)
    if as_json:
        output.show_json(asdict(report))
    else:
        output.show_check(report)
    sys.exit(4 if report.is_broken() else 0)


@main.command()
@click.option("--session", metavar="ID", help="A session, by its id or its beginning.")
@click.option("--project", metavar="DIR", help="Sessions of a directory.")
@click.option(
    "--before",
    metavar="DAY",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Sessions that ended before that day.",
)
@click.option(
    "--match", metavar="TEXT", help="Every line that has these words; nothing else of it."
)
@click.option("--tz", metavar="ZONE", help="Time zone of the day, such as Europe/Berlin.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@warehouse_option
@json_option
@stopping.listening()
def forget(
    session: str | None,
    project: str | None,
    before: datetime | None,
    match: str | None,
    tz: str | None,
    dry_run: bool,
    yes: bool,
    warehouse: str | None,
    as_json: bool,
) -> None:
    """Take sessions, or lines, out of the warehouse for good.

    \b
    What is named goes from the newest commit, and every older one goes with it. It is not read
    again from its log; every byte that is left is searched to prove that it is gone. Of several
    conditions all must hold; with --match only lines go, and not their session.

    \b
    It does not reach the logs themselves, backups, blocks that the disk has set free, nor other
    sessions that repeat the same words: those that share lines are listed.

    \b
    Example: cclake forget --session 4f2a
             cclake forget --match 'the words' --dry-run
    Exit codes: 0 done, or there is nothing like that, 1 not agreed to, or left to the
    next run to finish, 2 usage, 3 another run is at work or came in between, 4 the state
    was refused, or something of it is left, 5 nothing was committed.
    """  # noqa: D301 - click wants the control character
    from etl import config
    from etl import forget as forgetting
    from etl.omit import Wish

    wish = Wish(session, _directory(project), before.date() if before else None, match)
    place = warehouse_at(warehouse)
    found = forgetting.find(place, wish, time_zone=tz)
    if not (dry_run or found.scope.is_empty()):
        output.show_scope(found.scope, is_done=False)
        if not yes:
            click.confirm("Forget this for good?", abort=True, err=True)
        forgetting.forget(place, found, source=config.machine_name())
    if as_json:
        output.show_json(asdict(found.scope))
    else:
        output.show_scope(found.scope, is_done=bool(found.scope.commit))
        if project and found.scope.is_empty():
            output.say("hint: cclake query 'select distinct project from sessions' lists projects")


def _directory(project: str | None) -> str | None:
    """Return a project's directory as logs name it; one of Windows is whole as it is."""
    if project is None or PureWindowsPath(project).drive:
        return project
    return str(Path(project).expanduser().absolute())


@main.command()
@click.option(
    "--to", metavar="N", type=int, help="Start from commit N, though later ones are sound."
)
@click.option("--logs", multiple=True, metavar="DIR", help="A Claude config or projects directory.")
@click.option("--source", metavar="NAME", help="This machine's name in the warehouse.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would be done.")
@warehouse_option
@json_option
@stopping.listening()
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
    4 written by another version of cclake, or open to changes by others, 5 nothing was
    committed.
    """  # noqa: D301 - click wants the control character
    from etl import config, reread
    from etl import repair as mending
    from etl.errors import UsageError

    place = warehouse_at(warehouse)
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
