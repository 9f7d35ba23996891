"""Facts of a part become its derived tables: one SQL file each, over the narrow columns."""

from collections.abc import Iterator, Mapping
from contextlib import closing

import duckdb
import pyarrow as pa

from etl import sqlfiles
from etl.tables import DERIVED, FACTS

# Steps that several tables share, in the order in which they build on each other.
STEPS = ("lines", "agent_links", "line_turns", "session_facts", "block_counts")


def derive(facts: Mapping[str, pa.Table]) -> Iterator[tuple[str, pa.Table]]:
    """Yield each derived table of the part, typed as declared."""
    with closing(_connect()) as con:
        for table in FACTS:
            con.register(f"arrow_{table.name}", facts[table.name])
            con.execute(f"create temp view {table.name} as select * from arrow_{table.name}")
        queries = {query.name: query.query for query in sqlfiles.load("steps")}
        for step in STEPS:
            con.execute(f"create temp table {step} as {queries[step]}")
        tables = {query.name: query.query for query in sqlfiles.load("tables")}
        for table in DERIVED:
            rows = con.sql(tables[table.name]).to_arrow_table()
            yield table.name, rows.select(table.names()).cast(table.schema())


def _connect() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": 1, "autoinstall_known_extensions": False})
    con.execute("set timezone = 'UTC'")
    con.execute("set preserve_insertion_order = true")
    return con
