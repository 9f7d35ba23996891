"""What a warehouse shows after a fault, and what is wrong with it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

import duckdb
import pyarrow as pa

from etl import sqlfiles, views
from etl.commit import Warehouse
from etl.errors import CclakeError
from etl.write import hash_file

FAILURES = (CclakeError, OSError, duckdb.Error, pa.ArrowException)


def failing(look: Callable[[], Iterable[str]]) -> list[str]:
    """Return what a look finds wrong; to fail at it is wrong as well."""
    try:
        return list(look())
    except FAILURES as error:
        return [f"{type(error).__name__}: {error}"]


def damaged_files(lake: Warehouse) -> Iterator[str]:
    """Hold every file of every commit against what was committed."""
    for number in lake.commit_numbers():
        for file in lake.read_commit(number).files:
            if hash_file(lake.files / file.name) != file.content_hash:
                yield f"{file.name} of commit {number} is another than was committed"


def what_readers_see(lake: Warehouse, *only: str) -> tuple[list[str], list[str]]:
    """Return the ids of all lines, and the shipped checks that found something."""
    with closing(views.connect(lake, time_zone="UTC")) as con:
        uuids = [uuid for (uuid,) in con.execute("select uuid from raw.entries").fetchall()]
        checks = [one for one in sqlfiles.load("checks") if not only or one.name in only]
        return uuids, [f"{one.name} speaks" for one in checks if con.execute(one.query).fetchall()]
