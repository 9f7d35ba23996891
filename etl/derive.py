"""Facts of a part become its derived tables: one SQL file each, over the narrow columns."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache

import duckdb
import pyarrow as pa

from etl import sqlfiles
from etl.errors import StorageError
from etl.tables import DERIVED, FACTS

# Steps that several tables share, in the order in which they build on each other.
STEPS = (
    "lines",
    "blocks",
    "own_turns",
    "agent_links",
    "line_turns",
    "session_facts",
    "block_counts",
)


def derive(facts: Mapping[str, pa.Table]) -> Iterator[tuple[str, pa.Table]]:
    """Yield each derived table of the part, typed as declared."""
    numbered = {**facts, "entries": _with_numbers(facts["entries"], "entry_no", "file_no")}
    numbered["content_blocks"] = _with_numbers(facts["content_blocks"], "block_no")
    try:
        with closing(_connect()) as con:
            for table in FACTS:
                con.register(table.name, numbered[table.name])
            for step in STEPS:
                con.execute(f"create temp table {step} as {_queries('steps')[step]}")
            for table in DERIVED:
                rows = con.sql(_queries("tables")[table.name]).to_arrow_table()
                yield table.name, rows.select(table.names()).cast(table.schema())
    except duckdb.OperationalError as error:
        raise StorageError(
            f"duckdb ran out of memory or space: {error}",
            hint="nothing was committed; try --jobs 1",
        ) from error


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


def _connect() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
    con.execute("set timezone = 'UTC'")
    return con
