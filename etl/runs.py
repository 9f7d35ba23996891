"""The list of runs that committed, one row each, kept whole in every commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from etl import write
from etl.jsontext import dumps
from etl.tables import SYNC_RUNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from etl.commit import Warehouse


def with_run(earlier: pa.Table | None, summary: Mapping[str, object], version: str) -> pa.Table:
    """Return the earlier runs and this one."""
    row: dict[str, object] = {
        name: summary.get(name) for name in SYNC_RUNS.names() if name in summary
    }
    row["events"] = dumps([summary["events"], summary["problems"]])
    row["version"] = version
    schema = SYNC_RUNS.schema()
    arrays = [pa.array([row.get(field.name)], type=field.type) for field in schema]
    own = pa.Table.from_arrays(arrays, schema=schema)
    return own if earlier is None else pa.concat_tables([earlier, own])


def stored(warehouse: Warehouse) -> pa.Table:
    """Return the runs that the newest commit lists."""
    named = [file for file in warehouse.load().files if file.table == SYNC_RUNS.name]
    tables = [
        write.read_table(warehouse.files / file.name, content_hash=file.content_hash)
        for file in named
    ]
    return tables[0] if tables else SYNC_RUNS.schema().empty_table()


def last_end(listed: pa.Table, source: str | None = None) -> int | None:
    """Return when the last sync was ready to commit: of any machine, or of one."""
    ends = listed.column("ended_at").cast(pa.int64()).to_pylist()
    rows = listed.to_pylist()  # Of an older format, which had no other kind.
    of_it = [
        end
        for end, row in zip(ends, rows, strict=True)
        if row.get("kind") in {None, "sync"} and source in {None, row["source"]}
    ]
    return of_it[-1] if of_it else None


def last_book(listed: pa.Table) -> str | None:
    """Return the hash of the price book that the last sync took."""
    hashes = [one for one in listed.column("price_book_hash").to_pylist() if one]
    return str(hashes[-1]) if hashes else None
