"""Cases of the views: a page of given rows and the rows expected of them.

A case is a page of tests/views/<view>: `## given <table>` and `## expect <view>`, each with a
table below it. A dash is a null. Columns that a given table leaves out are null, or as PLAIN says.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from etl import views
from etl.tables import ALL_TABLES, PART_TABLES, Table

TABLES = {table.name: table for table in ALL_TABLES}
PLAIN = {
    "file_id": "file",
    "generation": "0",
    "object_index": "0",
    "layout": "main",
    "is_background": "false",
    "is_forked": "false",
    "cache_write_5m_tokens": "0",
    "cache_write_1h_tokens": "0",
    "is_warmup": "false",
    "is_regional": "false",
    "prompt_min": "0",
    "prompt_max": "1000000000",
    "valid_from": "1970-01-01",
    "valid_to": "9999-12-31",
    "batch_hundredths": "50",
    "us_hundredths": "110",
    "regional_hundredths": "110",
}

Rows = list[dict[str, str | None]]


@dataclass(slots=True)
class Case:
    given: dict[str, Rows] = field(default_factory=dict)
    expected: dict[str, Rows] = field(default_factory=dict)
    time_zone: str = "UTC"


def cells_of(line: str) -> list[str | None]:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return [None if cell == "-" else cell for cell in cells]


def case_of(page: str) -> Case:
    """Read a page: headings, and the tables below them."""
    case = Case()
    rows: Rows = []
    names: list[str] = []
    for line in page.splitlines():
        if line.startswith("## "):
            _, kind, name = line.split()
            rows, names = [], []
            (case.given if kind == "given" else case.expected)[name] = rows
        elif line.startswith("time zone: "):
            case.time_zone = line.removeprefix("time zone: ")
        elif line.startswith("| ") and not names:
            names = [str(name) for name in cells_of(line)]
        elif line.startswith("| "):
            rows.append(dict(zip(names, cells_of(line), strict=True)))
    return case


def typed(table: Table, rows: Rows) -> pa.Table:
    """Return given rows with the declared types."""
    assert {name for row in rows for name in row} <= set(table.names())
    casts = ", ".join(f"cast(? as {views.sql_type(column.type)})" for column in table.columns)
    with closing(duckdb.connect()) as con:
        con.execute("set timezone = 'UTC'")
        pieces = [
            con.sql(f"select {casts}", params=[value_of(row, name, at) for name in table.names()])
            .to_arrow_table()
            .rename_columns(table.names())
            .cast(table.schema())
            for at, row in enumerate(rows, 1)
        ]
    return pa.concat_tables(pieces)


def value_of(row: dict[str, str | None], name: str, at: int) -> str | None:
    if name in {"response_hash", "message_hash"}:
        return str(crc32(str(row.get("message_id") or row.get("key")).encode()))
    if name == "call_hash":
        return str(crc32(str(row.get("tool_use_id")).encode()))
    return row.get(name, str(at) if name == "line_no" else PLAIN.get(name))


def laid_out(case: Case, root: Path) -> Path:
    """Write the given rows as a published tree."""
    for name, rows in case.given.items():
        table = TABLES[name.removeprefix("raw.")]
        folder = root / table.name
        if table in PART_TABLES:
            folder = folder / "source=laptop" / "month=2026-03"
        folder.mkdir(parents=True)
        pq.write_table(typed(table, rows), folder / "part-0001.parquet")
    return root


@contextmanager
def views_over(
    root: Path, case: Case, nothing: duckdb.DuckDBPyConnection
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Lead the tables that a case gives to their rows, in a database of their own."""
    tables = [f"view {views.physical(name.removeprefix('raw.'))} as" for name in case.given]
    with closing(nothing.cursor()) as con:
        con.execute(f"set timezone = '{case.time_zone}'")
        con.execute("attach ':memory:' as lake; copy from database memory to lake; use lake")
        for statement in views.statements(root, with_comments=False):
            if any(head in statement for head in ("snapshot() as", *tables)):
                con.execute(statement)
        yield con
        con.execute("use memory; detach lake")


def found_rows(con: duckdb.DuckDBPyConnection, view: str, names: list[str]) -> list[list[str]]:
    columns = ", ".join(f'"{name}"::varchar' for name in names)
    rows = con.sql(f"select {columns} from main.{view}").fetchall()  # noqa: S608 - our own names
    return sorted(
        ["-" if cell is None else cell.replace("\n", "\\n") for cell in row] for row in rows
    )
