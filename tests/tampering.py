"""Damage to warehouses that only a careful look finds: whole files that say something else."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow as pa

from etl import write
from etl.chain import StoredFile
from etl.commit import Warehouse
from etl.tables import ALL_TABLES

TABLES = {table.name: table for table in ALL_TABLES}


def with_changed(lake: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Make a commit that is right in every hash, and in which one file has other rows."""
    warehouse = Warehouse(lake)
    with warehouse.lock():
        state = warehouse.load()
        old = next(file for file in state.files if file.table == table)
        rows = change(write.read_table(warehouse.files / old.name))
        fresh = write.write_table(TABLES[table], rows, warehouse.staging)
        place = {name: getattr(old, name) for name in ("source", "month", "part", "segment")}
        new = StoredFile(**asdict(fresh), **place, raw_bytes=old.raw_bytes)
        files = [new if file is old else file for file in state.files]
        warehouse.publish(warehouse.commit(state, files, [fresh], {}))


def without_files(lake: Path, table: str) -> None:
    """Make a commit that names no file of a table."""
    warehouse = Warehouse(lake)
    with warehouse.lock():
        state = warehouse.load()
        files = [file for file in state.files if file.table != table]
        warehouse.publish(warehouse.commit(replace(state), files, [], {}))


def stored_path(lake: Path, table: str) -> Path:
    """Return the stored file of a table, the first of several."""
    warehouse = Warehouse(lake)
    return warehouse.files / next(
        file.name for file in warehouse.load().files if file.table == table
    )


def flip_a_bit(path: Path, share: float = 0.5) -> None:
    """Change one bit of a file, somewhere inside."""
    content = bytearray(path.read_bytes())
    content[int(len(content) * share)] ^= 1
    path.write_bytes(content)
