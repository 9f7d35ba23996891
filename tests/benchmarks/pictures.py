"""A picture of everything a warehouse says, to hold beside another."""

from contextlib import closing
from pathlib import Path

import duckdb

from etl import views
from etl.commit import Warehouse

Picture = dict[str, tuple[int, int]]

# Clocks: which run it was, and when. Everything else must be the same whatever happened.
LEFT_OUT = frozenset({"sync_events", "sync_runs"})
COLUMNS = {"source_files": "* exclude (first_seen_at) replace (gone_at is null as gone_at)"}

_NAMES = """
select schema_name, view_name from duckdb_views() where not internal order by all
"""
_ROWS = """
select count(*), coalesce(sum(hash(row_of)::hugeint), 0)
from (select {columns} from {schema}.{name}) as row_of
"""


def picture_of(folder: Path) -> Picture:
    """Return the rows of every table and view, physical ones too: how many, and their hash."""
    with closing(views.connect(Warehouse(folder), time_zone="UTC")) as con:
        names = con.execute(_NAMES).fetchall()
        return {
            f"{schema}.{name}": _rows_of(con, schema, name)
            for schema, name in names
            if name not in LEFT_OUT
        }


def _rows_of(con: duckdb.DuckDBPyConnection, schema: str, name: str) -> tuple[int, int]:
    query = _ROWS.format(columns=COLUMNS.get(name, "*"), schema=schema, name=name)
    rows, digest = con.execute(query).fetchall()[0]
    return int(rows), int(digest)


def differences(one: Picture, other: Picture) -> list[str]:
    """Return the names of the tables that are not the same in both."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
