"""The ledger: one row for every file ever found, kept as a table of each commit."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import pyarrow as pa

from etl.discover import FoundFile
from etl.hashing import file_id_of
from etl.tables import PAST_GENERATIONS, SOURCE_FILES

_AROUND = frozenset({"history", "index", "stats"})


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

    def is_around(self) -> bool:
        """Say whether it lies beside the sessions' logs: its rows are in no part."""
        return self.kind in _AROUND

    def is_only_listed(self) -> bool:
        """Say whether name and size are all that is kept of it."""
        return self.layout == "tool_result"

    def is_of_a_part(self) -> bool:
        """Say whether its rows go into its session's part."""
        return not self.is_around() and not self.is_only_listed()


_NAMES = [field.name for field in fields(LedgerRow)]


def new_row(found: FoundFile, source: str, taken: set[str], first_seen_at: int) -> LedgerRow:
    """Return the row of a file that was never seen, nothing of it read yet."""
    counter = 0
    while (file_id := file_id_of(source, found.path, counter)) in taken:
        counter += 1
    place = found.place
    return LedgerRow(
        file_id=file_id,
        source=source,
        root=found.root,
        path=found.path,
        kind=place.kind,
        layout=place.layout,
        session_id=place.session_id,
        agent_id=place.agent_id,
        size=0,
        mtime_ns=0,
        ctime_ns=0,
        device=0,
        inode=0,
        offset=0,
        line_count=0,
        blank_bytes=0,
        pending=b"",
        prefix_hash="",
        generation=0,
        part=None,
        month=None,
        first_seen_at=first_seen_at,
        gone_at=None,
    )


def seen_now(row: LedgerRow, found: FoundFile) -> LedgerRow:
    """Return the row with what the walk saw: the place, the size and the times of the file."""
    return replace(
        row,
        root=found.root,
        path=found.path,
        size=found.size,
        mtime_ns=found.mtime_ns,
        ctime_ns=found.ctime_ns,
        device=found.device,
        inode=found.inode,
        gone_at=None,
    )


def to_arrow(rows: Iterable[LedgerRow]) -> pa.Table:
    """Return the ledger as a table, ordered by file, so that equal ledgers are equal files."""
    ordered = sorted(rows, key=lambda row: row.file_id)
    schema = SOURCE_FILES.schema()
    arrays = [
        pa.array([getattr(row, field.name) for row in ordered], type=field.type) for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def with_past(earlier: pa.Table | None, ended: Iterable[LedgerRow]) -> pa.Table:
    """Return the generations that ended before, and those that did now; `gone_at` says when."""
    schema = PAST_GENERATIONS.schema()
    rows = list(ended)
    arrays = [
        pa.array(
            [getattr(row, "gone_at" if field.name == "ended_at" else field.name) for row in rows],
            type=field.type,
        )
        for field in schema
    ]
    now = pa.Table.from_arrays(arrays, schema=schema)
    return now if earlier is None else pa.concat_tables([earlier, now])


def from_arrow(table: pa.Table) -> list[LedgerRow]:
    """Return the rows of a stored ledger. Instants come as microseconds since 1970."""
    columns = [_plain(table.column(name)) for name in _NAMES]
    return [LedgerRow(*values) for values in zip(*columns, strict=True)]


def _plain(column: pa.ChunkedArray) -> list[object]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    values: list[object] = column.to_pylist()
    return values
