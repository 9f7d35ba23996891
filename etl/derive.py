"""Facts of a part become its derived tables: one SQL file each, over the narrow columns."""

import atexit
import os
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from etl import engine, sqlfiles
from etl.tables import DERIVED, FACTS

# Steps that several tables share, in the order in which they build on each other.
STEPS = (
    "lines",
    "blocks",
    "block_counts",
    "own_turns",
    "agent_links",
    "agent_spans",
    "line_turns",
    "session_facts",
    "responses",
    "pieces",
)

# Every statement makes the later ones of its database slower: after 250 parts by a third (2.0.0).
_PARTS_A_DATABASE = 16


class DeriveError(Exception):
    """Raised when a part's facts do not go through the SQL: for want of memory, or by a bug."""


def derive(facts: Mapping[str, pa.Table], staging: Path | None = None) -> dict[str, pa.Table]:
    """Return the derived tables of a part by name, typed as declared.

    What memory cannot hold goes to staging, which only its owner can enter.
    """
    numbered = {**facts, "entries": _with_numbers(facts["entries"], "entry_no", "file_no")}
    numbered["content_blocks"] = _with_numbers(facts["content_blocks"], "block_no")
    try:
        database = _database_of(os.getpid(), threading.get_ident())
        con = database.for_a_part()
        spill = engine.spill_below(con, staging) if staging else None
    except duckdb.Error as error:
        raise DeriveError(f"cannot begin to derive its tables: {error}") from error
    try:
        for table in FACTS:
            con.register(table.name, numbered[table.name])
        for step in STEPS:
            con.execute(f"create or replace temp table {step} as {_queries('steps')[step]}")
        return _derived_in_turn(con)
    except duckdb.Error as error:
        raise DeriveError(f"cannot derive its tables: {error}") from error
    finally:
        for table in FACTS:
            con.unregister(table.name)
        if spill and spill.exists():
            database.close()  # It takes away what it put there.


def _derived_in_turn(con: duckdb.DuckDBPyConnection) -> dict[str, pa.Table]:
    """Make one table after the other; a later one may read those before it."""
    derived = {}
    for table in DERIVED:
        # A relation would bind its query twice: when it is made, and when it is fetched.
        con.execute(
            f"create or replace temp table {table.name} as {_queries('tables')[table.name]}"
        )
        rows = con.table(table.name).to_arrow_table()
        derived[table.name] = rows.select(table.names()).cast(table.schema())
    return derived


def _with_numbers(rows: pa.Table, own: str, file: str | None = None) -> pa.Table:
    """Number the rows, and their files if asked for: joins on integers are cheap.

    The rows of a file stand in the order of its lines, so the numbers say what came first.
    """
    rows = rows.append_column(own, pa.array(range(rows.num_rows), pa.int64()))
    if file is None:
        return rows
    files = rows.column("file_id").combine_chunks().dictionary_encode().indices
    return rows.append_column(file, files)


@cache
def _queries(layer: str) -> dict[str, str]:
    return {query.name: query.query for query in sqlfiles.load(layer)}


class _Database:
    """A worker's own database: opening one for each part costs as much as writing it."""

    def __init__(self) -> None:
        self._con: duckdb.DuckDBPyConnection | None = None
        self._parts = 0

    def for_a_part(self) -> duckdb.DuckDBPyConnection:
        """Return the connection, to a fresh database when this one has become slow."""
        if self._parts == _PARTS_A_DATABASE:
            self.close()
        if self._con is None:
            self._con = engine.worker()
            self._con.execute("set timezone = 'UTC'")
        self._parts += 1
        return self._con

    def close(self) -> None:
        """End it; the next part opens another."""
        if self._con is not None:
            self._con.close()
        self._con, self._parts = None, 0


# A fork inherits its parent's: it stays here unused, for closing it there would end the process.
@cache
def _database_of(_process: int, _thread: int) -> _Database:
    database = _Database()
    atexit.register(database.close)  # Or duckdb complains of it when Python ends.
    return database
