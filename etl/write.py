"""Arrow tables to Parquet files that survive a power cut, and back."""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from etl.errors import StateError
from etl.hashing import hash_of, running_hash
from etl.tables import Table

ROW_GROUP_ROWS = 16_384
ZSTD_LEVEL = 3
_READ_BYTES = 1 << 20

# Columns of many different values: a dictionary would be built only to be thrown away.
_PLAIN = frozenset(
    {
        "answer_preview",
        "answered_at",
        "byte_end",
        "byte_start",
        "called_at",
        "content",
        "ended_at",
        "error_preview",
        "input",
        "input_preview",
        "iterations",
        "key",
        "line_hash",
        "line_no",
        "logical_parent_uuid",
        "message_id",
        "occurred_at",
        "parent_uuid",
        "payload",
        "pending",
        "prefix_hash",
        "preview",
        "prompt",
        "prompt_preview",
        "raw",
        "request_id",
        "result_meta",
        "started_at",
        "text",
        "text_preview",
        "tool_use_id",
        "uuid",
    }
)
# Nobody looks for a text by its smallest and largest value.
_NO_STATISTICS = frozenset(
    {"answer_preview", "content", "input", "payload", "pending", "prompt", "raw", "text"}
)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A finished, synced Parquet file in staging."""

    table: str
    name: str
    rows: int
    size: int
    content_hash: str


def write_table(table: Table, rows: pa.Table, staging: Path) -> WrittenFile:
    """Write one Parquet file under a new name, owner-only, and make it durable."""
    name = f"{table.name}-{uuid4().hex}.parquet"
    path = staging / name
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as sink:
        pq.write_table(
            rows,
            sink,
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            use_dictionary=[name for name in table.names() if name not in _PLAIN],
            write_statistics=[name for name in table.names() if name not in _NO_STATISTICS],
            row_group_size=ROW_GROUP_ROWS,
            write_page_index=False,
        )
        sink.flush()
        sync_descriptor(sink.fileno())
    return WrittenFile(table.name, name, rows.num_rows, path.stat().st_size, hash_file(path))


def sync_descriptor(descriptor: int) -> None:
    """Make a file or folder durable; on macOS fsync alone stops at the drive's own cache."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, full)


def read_table(
    path: Path, columns: list[str] | None = None, *, content_hash: str | None = None
) -> pa.Table:
    """Read a Parquet file, whole or some columns, without starting threads.

    With a hash, what is not the very file that was written is refused, before it is believed.
    """
    source: Path | pa.BufferReader = path
    if content_hash is not None:
        content = path.read_bytes()
        if hash_of(content) != content_hash:
            raise _damaged(path)
        source = pa.BufferReader(content)
    return pq.ParquetFile(source, pre_buffer=False).read(columns=columns, use_threads=False)


def refuse_damaged(path: Path, content_hash: str) -> None:
    """Refuse a file that is not the very one that was written."""
    if hash_file(path) != content_hash:
        raise _damaged(path)


def _damaged(path: Path) -> StateError:
    return StateError(
        f"'{path}' is damaged: not what was written",
        hint="cclake check --deep names all that is wrong; cclake repair mends it",
    )


def hash_file(path: Path) -> str:
    """Return the hash of a file's content."""
    state = running_hash()
    with path.open("rb") as stored:
        while block := stored.read(_READ_BYTES):
            state.update(block)
    return state.hexdigest()
