"""The ledger: one row for every file ever found, kept as a table of each commit."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

import pyarrow as pa

from etl.tables import SOURCE_FILES


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """What is known of one source file. Field by field the columns of `source_files`."""

    file_id: str
    source: str
    root: str
    path: str
    kind: str
    layout: str
    session_id: str | None
    agent_id: str | None
    size: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int
    offset: int
    line_count: int
    blank_bytes: int
    pending: bytes
    prefix_hash: str
    generation: int
    part: int | None
    month: str | None
    first_seen_at: int
    gone_at: int | None

    def is_waiting(self) -> bool:
        """A sidecar waits, unread, until its session has a part to put it in."""
        return self.kind == "sidecar" and self.offset != self.size


_NAMES = [field.name for field in fields(LedgerRow)]


def to_arrow(rows: Iterable[LedgerRow]) -> pa.Table:
    """Return the ledger as a table, ordered by file, so that equal ledgers are equal files."""
    ordered = sorted(rows, key=lambda row: row.file_id)
    schema = SOURCE_FILES.schema()
    arrays = [
        pa.array([getattr(row, field.name) for row in ordered], type=field.type) for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def from_arrow(table: pa.Table) -> list[LedgerRow]:
    """Return the rows of a stored ledger. Instants come as microseconds since 1970."""
    columns = [_plain(table.column(name)) for name in _NAMES]
    return [LedgerRow(*values) for values in zip(*columns, strict=True)]


def _plain(column: pa.ChunkedArray) -> list[object]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    values: list[object] = column.to_pylist()
    return values
