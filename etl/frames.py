"""The notebooks' door: tables, views and queries as polars frames, each over one whole snapshot."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

import polars as pl
from polars.io.plugins import register_io_source

from etl import answers, sqlfiles, views
from etl.commit import Warehouse
from etl.config import warehouse_of
from etl.errors import UsageError
from etl.tables import ALL_TABLES, LOGICAL, PART_TABLES, Table

_NEAR_NAMES = 3
# A folder named source=7 is a machine called 7, not a number.
_FOLDER_COLUMNS = {"source": pl.String(), "month": pl.String()}
# A name that no column has.
_BARRIER = "row of the view"


def query(
    sql: str, *, warehouse: str | Path | None = None, time_zone: str | None = None
) -> pl.DataFrame:
    """Return the result of one query over the views; days are those of the reader's own zone."""
    return answers.ask(_place(warehouse), sql, time_zone=time_zone).frame()


def scan(
    name: str,
    *,
    physical: bool = False,
    warehouse: str | Path | None = None,
    time_zone: str | None = None,
) -> pl.LazyFrame:
    """Return a table lazily: the rows of `select * from usage`, with copies taken out.

    As with a view, columns and a head are left to DuckDB, filters are not. With `physical`, or as
    `raw.usage`, it is the Parquet as written: all copies, `source` and `month` of its folders,
    instants in UTC; filters reach the files, too.
    """
    place = _place(warehouse)
    copied = {f"raw.{table.name}": table for table in LOGICAL}
    tables = {table.name: table for table in ALL_TABLES} | copied
    table = tables[_known(name, tables, "table")]
    if physical or name in copied:
        return _parquet(table, views.snapshot_of(place))
    return _computed(name, place, time_zone)


def view(
    name: str, *, warehouse: str | Path | None = None, time_zone: str | None = None
) -> pl.LazyFrame:
    """Return a view lazily: computed anew by DuckDB whenever collected, over the same snapshot.

    DuckDB computes just the columns asked for, and of a head just its rows. Filters are polars'
    own: where they leave little of much, `query` with a `where` is the better way.
    """
    known = {one.name: one for one in sqlfiles.load("views")}
    return _computed(_known(name, known, "view"), _place(warehouse), time_zone)


def _place(warehouse: str | Path | None) -> Warehouse:
    return Warehouse(warehouse_of(str(warehouse) if warehouse else None))


def _known(name: str, known: Mapping[str, object], kind: str) -> str:
    """Return a name that is known, or list those that are near."""
    if name in known:
        return name
    near = get_close_matches(name, known, n=_NEAR_NAMES) or sorted(known)
    other = "; frames.view has the views" if kind == "table" else "; frames.scan has the tables"
    raise UsageError(f"no {kind} is called {name!r}", hint=f"there is {', '.join(near)}{other}")


def _parquet(table: Table, snapshot: Path | None) -> pl.LazyFrame:
    is_in_folders = table in PART_TABLES
    if snapshot is None or not (snapshot / table.name).is_dir():
        nothing = answers.Answer(table.schema().empty_table()).frame()
        return pl.LazyFrame(schema={**nothing.schema, **(_FOLDER_COLUMNS if is_in_folders else {})})
    return pl.scan_parquet(
        snapshot / table.name,
        glob=False,
        hive_partitioning=is_in_folders,
        hive_schema=_FOLDER_COLUMNS if is_in_folders else None,
    )


def _computed(name: str, place: Warehouse, time_zone: str | None) -> pl.LazyFrame:
    """Leave columns and a head to DuckDB, but no filter: polars may push what it cannot apply.

    Filters do not pass where rows are numbered. Passed on, one of Python's own needs cloudpickle,
    and one that polars itself makes for the top rows of a sort panics in polars 1.4x.
    """
    snapshot = views.snapshot_of(place)

    def frames(
        columns: list[str] | None, _filter: pl.Expr | None, rows: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        chosen = ", ".join(f'"{column}"' for column in columns or ()) or "*"
        head = f" limit {rows}" if rows is not None else ""
        sql = f"select {chosen} from {name}{head}"  # noqa: S608 - names that are known
        yield from answers.stream(place, snapshot, sql, time_zone=time_zone)

    schema = next(frames(None, None, 0, None)).schema
    source = register_io_source(frames, schema=schema, validate_schema=True)
    return source.with_row_index(_BARRIER).drop(_BARRIER)
