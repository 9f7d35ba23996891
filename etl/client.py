"""DuckDB's own command-line client, where one is installed: the terminal is handed to it.

It gets a database of nothing but the views, read-only, led to one whole snapshot, and is told to
stay off the network as `engine` tells a query. What it may do beyond that is up to who types.
"""

import re
import shutil
import subprocess

from etl import access, engine, stopping, views
from etl.commit import Warehouse

NAME = "duckdb"
_OLDEST = (1, 5)  # the shipped views need it
_VERSION = re.compile(r"v?(\d+)\.(\d+)")
_PATIENCE_SECONDS = 10


def version_of(program: str) -> tuple[int, int] | None:
    """Return which DuckDB a client is; None if it does not say."""
    try:
        told = subprocess.run(  # noqa: S603 - what the user's own path leads to
            [program, "-version"],
            check=False,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.match(told)
    return (int(match[1]), int(match[2])) if match else None


def found() -> str | None:
    """Return the client that the path leads to, if it is one that can read the views."""
    program = shutil.which(NAME)
    version = version_of(program) if program else None
    return program if version and version >= _OLDEST else None


def hand_over(program: str, warehouse: Warehouse, *, time_zone: str | None) -> int:
    """Let a client ask a warehouse until its user is done; return its exit code."""
    views.connect(warehouse, time_zone=time_zone).close()  # Says what is wrong, in our words.
    folder = engine.private_folder()
    try:
        database = folder / "cclake.duckdb"
        with access.only_for_the_owner():
            views.write_database(database, warehouse.snapshot())
        settings = engine.settings_for_questions(folder)
        if time_zone:
            settings.insert(0, f"set timezone = '{time_zone.replace(chr(39), chr(39) * 2)}'")
        orders = [part for one in settings for part in ("-cmd", f"{one};")]
        with stopping.left_to_another():
            started = [program, "-readonly", *orders, str(database)]
            return subprocess.run(started, check=False).returncode  # noqa: S603 - as above
    finally:
        shutil.rmtree(folder, ignore_errors=True)
