"""The views: physical rows in schema raw, what people query in schema main, with comments.

They hold no data. `cclake.duckdb` is replaced by rename, so no reader ever blocks a sync. Where
the tables lie is said in one place, the macro `snapshot()`: to lead all views elsewhere is one
statement.
"""

import atexit
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from etl import __version__, access, engine, sqlfiles
from etl.commit import Warehouse
from etl.errors import StateError, StorageError, UsageError
from etl.hashing import hash_of
from etl.sqlfiles import SqlFile
from etl.tables import ALL_TABLES, LOGICAL, PART_TABLES, Table

STORAGE_VERSION = "v1.4.0"
_DATABASE = "cclake.duckdb"
_IF_DAMAGED = (
    "run it again; if it fails again, cclake check --deep names what is damaged,"
    " and cclake repair mends it"
)
_MARK = "views"
SOURCE_MEANING = "The machine whose logs it was read from."
_SQL_TYPES = {
    pa.string(): "varchar",
    pa.int64(): "bigint",
    pa.int32(): "integer",
    pa.bool_(): "boolean",
    pa.timestamp("us", "UTC"): "timestamptz",
    pa.binary(): "blob",
    pa.date32(): "date",
}
_PHYSICAL_SCHEMAS = {table.name: "raw" for table in LOGICAL}
_TEMPLATES: dict[tuple[int, frozenset[str]], duckdb.DuckDBPyConnection] = {}
atexit.register(_TEMPLATES.clear)  # Or duckdb complains of them when Python ends.


def connect(
    warehouse: Warehouse, *, time_zone: str | None = None, with_comments: bool = False
) -> duckdb.DuckDBPyConnection:
    """Open the warehouse as one whole snapshot: every query sees the same commit."""
    snapshot = snapshot_of(warehouse)
    return connect_to(warehouse, snapshot, time_zone=time_zone, with_comments=with_comments)


def snapshot_of(warehouse: Warehouse) -> Path | None:
    """Return the newest whole snapshot of a warehouse; None if nothing was ever synced into it."""
    access.refuse_if_shared(warehouse)
    warehouse.refuse_if_missing()
    return warehouse.snapshot()


def connect_to(
    warehouse: Warehouse,
    snapshot: Path | None,
    *,
    time_zone: str | None = None,
    with_comments: bool = False,
) -> duckdb.DuckDBPyConnection:
    """Open one snapshot, which may be an earlier one as long as it is kept."""
    con = engine.for_questions()
    if time_zone:
        _set_time_zone(con, time_zone)
    try:
        if not _copied(con, warehouse, snapshot):
            for statement in statements(snapshot, with_comments=with_comments):
                con.execute(statement)
    except duckdb.Error as error:
        raise StateError(
            f"the tables in '{warehouse.folder}' cannot be read: {error}", hint=_IF_DAMAGED
        ) from error
    # Its views were just made for the tables that are there: of none at all they would be empty.
    if snapshot and not snapshot.is_dir():
        raise StateError(
            f"'{snapshot}' is no longer kept", hint="ask again, which reads the newest snapshot"
        )
    return con


@contextmanager
def opened(
    warehouse: Warehouse, *, time_zone: str | None = None, tree: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the warehouse for SQL of ours, which fails only where its files cannot be read."""
    snapshot = tree or snapshot_of(warehouse)
    with closing(connect_to(warehouse, snapshot, time_zone=time_zone)) as con:
        try:
            yield con
        except duckdb.OutOfMemoryException as error:
            raise MemoryError from error
        except duckdb.Error as error:
            raise StateError(
                f"the tables in '{warehouse.folder}' cannot be read: {error}", hint=_IF_DAMAGED
            ) from error


def _copied(con: duckdb.DuckDBPyConnection, warehouse: Warehouse, snapshot: Path | None) -> bool:
    """Take the views out of `cclake.duckdb`, which is ten times as quick as making them."""
    if not _noted(warehouse).startswith(_fingerprint(_kept(snapshot))):
        return False
    try:
        con.execute(f"attach {_quoted(str(warehouse.folder / _DATABASE))} as lake (read_only)")
        con.execute("copy from database lake to memory; detach lake")
    except duckdb.Error:
        return False  # It was made anew just now, or has a path that duckdb cannot read.
    lead(con, snapshot)
    return True


def settle(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Compute a view once: for this connection it is a table of its rows from now on."""
    con.execute(
        f"create table settled as from {name}; drop view {name};"
        f"create table {name} as from settled; drop table settled"
    )


def lead(con: duckdb.DuckDBPyConnection, snapshot: Path | None) -> None:
    """Lead the views of a connection to another snapshot of the same tables."""
    con.execute(_led_to(snapshot))


def _set_time_zone(con: duckdb.DuckDBPyConnection, time_zone: str) -> None:
    try:
        con.execute(f"set timezone = {_quoted(time_zone)}")
    except duckdb.Error as error:
        raise UsageError(
            f"time zone '{time_zone}' is not known", hint="name one such as Europe/Berlin, or UTC"
        ) from error


def refresh(warehouse: Warehouse, *, is_empty: bool) -> bool:
    """Write `cclake.duckdb` anew if it is missing or its views have changed."""
    root = None if is_empty else warehouse.folder / "current"
    # Of a warehouse that was moved the file leads to its old place, though its views are right.
    mark = f"{_fingerprint(_kept(root))} {hash_of(os.fsencode(warehouse.folder))}"
    if _noted(warehouse) == mark:
        return False
    staged = warehouse.staging / "views.duckdb"
    # Made elsewhere and copied: duckdb cannot write where a folder's name holds a question mark.
    with TemporaryDirectory() as folder:
        made = Path(folder) / "views.duckdb"
        write_database(made, root)
        shutil.copyfile(made, staged)
    staged.chmod(0o600)
    # A power cut must not leave an empty file and the mark that vouches for it.
    with staged.open("rb") as written:
        os.fsync(written.fileno())
    staged.rename(warehouse.folder / _DATABASE)
    (warehouse.store / _MARK).write_text(mark)
    return True


def _kept(root: Path | None) -> frozenset[str]:
    """Return the tables that a snapshot has; one that nothing was ever written to has no folder."""
    return frozenset(table.name for table in ALL_TABLES if root and (root / table.name).is_dir())


def _fingerprint(kept: frozenset[str]) -> str:
    return hash_of("\n".join([_shipped(), *sorted(kept)]).encode())


@cache
def _shipped() -> str:
    """Return the hash of all that is the same wherever a warehouse lies: a thousand statements."""
    every = frozenset(table.name for table in ALL_TABLES)
    return hash_of("\n".join([__version__, *_tables(every), *_views()]).encode())


def _noted(warehouse: Warehouse) -> str:
    """Return what was noted of the views when `cclake.duckdb` was written; nothing without it."""
    mark = warehouse.store / _MARK
    has_both = mark.exists() and (warehouse.folder / _DATABASE).exists()
    return mark.read_text() if has_both else ""


def write_database(path: Path, root: Path | None) -> None:
    """Write a new file of all views, led to a snapshot."""
    version = f"(storage_version {_quoted(STORAGE_VERSION)})"
    try:
        with closing(_template(root).cursor()) as con:
            con.execute(f"attach {_quoted(str(path))} as lake {version}")
            con.execute(f"copy from database memory to lake; use lake; {_led_to(root)}")
            con.execute("use memory; detach lake")
    except duckdb.Error as error:
        raise StorageError(f"cannot write '{path}': {error}", hint="free some space") from error


def _template(root: Path | None) -> duckdb.DuckDBPyConnection:
    """Return all views, bound once by a process that syncs often; they may lead elsewhere."""
    key = (os.getpid(), _kept(root))
    if key not in _TEMPLATES:
        con = engine.worker()
        # In one transaction: hundreds of comments, one by one, would take twice as long.
        con.execute(";\n".join(["begin", *statements(root), "commit"]))
        _TEMPLATES[key] = con
    return _TEMPLATES[key]


def statements(root: Path | None, *, with_comments: bool = True) -> Iterator[str]:
    """Yield the SQL that makes all views over a snapshot, or over nothing at all."""
    yield _led_to(root)
    for statement in (*_tables(_kept(root)), *_views()):
        if with_comments or not statement.startswith("comment "):
            yield statement


def _led_to(root: Path | None) -> str:
    """Return what leads the tables to a snapshot; letters that a glob reads are taken literally."""
    literal = re.sub(r"([\[*?])", r"[\1]", str(root or ""))
    return f"create or replace macro main.snapshot() as {_quoted(literal)}"


def _tables(kept: frozenset[str]) -> Iterator[str]:
    yield "create schema if not exists raw"
    for table in ALL_TABLES:
        name = _name_of(table)
        rows = _rows_of(table) if table.name in kept else _empty(table)
        yield f"create or replace view {name} as {rows}"
        yield from _comments(name, f"{table.grain} (grain).", _meanings(table))


def physical(name: str) -> str:
    """Return where the rows of a table stand as they were written, copies and all."""
    return f"{_PHYSICAL_SCHEMAS.get(name, 'main')}.{name}"


def _name_of(table: Table) -> str:
    return physical(table.name)


def _views() -> Iterator[str]:
    by_name = {table.name: table for table in LOGICAL}
    for view in in_order(sqlfiles.load("views")):
        yield f"create or replace view main.{view.name} as {view.query}"
        meanings = view.columns or _meanings(by_name.get(view.name, by_name["agents"]))
        yield from _comments(f"main.{view.name}", f"{view.summary} Grain: {view.grain}.", meanings)


def in_order(views: tuple[SqlFile, ...]) -> list[SqlFile]:
    """Return the views so that each comes after those it reads, in one order for all processes."""
    by_name = {view.name: view for view in views}
    # Sorted: a set comes in the order of its process, and what was kept would never be found.
    sorter = TopologicalSorter(
        {view.name: sorted(_reads(view) & (by_name.keys() - {view.name})) for view in views}
    )
    return [by_name[name] for name in sorter.static_order()]


def _reads(view: SqlFile) -> set[str]:
    return set(re.findall(r"(?:from|join)\s+([a-z_]+)\b(?!\.)", view.query))


def _rows_of(table: Table) -> str:
    columns = ", ".join(f'"{name}"' for name in table.names())
    if table not in PART_TABLES:
        return f"select {columns} from read_parquet(snapshot() || '/{table.name}/*.parquet')"
    return (
        f"select {columns}, source from read_parquet("
        f"snapshot() || '/{table.name}/*/*/*.parquet', hive_partitioning = true, "
        "hive_types = {'source': varchar, 'month': varchar})"
    )


def _empty(table: Table) -> str:
    columns = [f'null::{sql_type(column.type)} as "{column.name}"' for column in table.columns]
    if table in PART_TABLES:
        columns.append("null::varchar as source")
    return f"select {', '.join(columns)} where false"


def sql_type(arrow_type: pa.DataType) -> str:
    """Return the DuckDB type of a declared column."""
    return _SQL_TYPES[arrow_type]


def _meanings(table: Table) -> dict[str, str]:
    meanings = {column.name: column.meaning for column in table.columns}
    return meanings | {"source": SOURCE_MEANING} if table in PART_TABLES else meanings


def _comments(name: str, summary: str, meanings: dict[str, str]) -> Iterator[str]:
    yield f"comment on view {name} is {_quoted(summary)}"
    for column, meaning in meanings.items():
        yield f'comment on column {name}."{column}" is {_quoted(meaning)}'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
