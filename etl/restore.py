"""Bring a session back: its files as they were last read, from the warehouse alone."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

import duckdb

from etl import access, rebuild, sessions, views, write
from etl.commit import Warehouse
from etl.content import METRICS
from etl.errors import UsageError
from etl.jsontext import dumps
from etl.tables import FACTS, SOURCE_FILES

Row = dict[str, Any]
Place = tuple[int, int]

_FACTS = frozenset(table.name for table in FACTS)
# Where a file was seen twice, under two roots or on two machines, the fuller one comes back.
_FILES = """
select file_id, path, kind, generation, pending, line_count, part
from source_files
where session_id = ? and (line_count > 0 or kind = 'sidecar' or octet_length(pending) > 0)
qualify row_number() over (partition by path order by line_count desc, generation desc, file_id) = 1
order by path
"""
_SIDECAR = "select content from sidecars where file_id = ? order by generation desc limit 1"
_ENTRIES = """
select * replace (epoch_us(occurred_at) as occurred_at)
from raw.entries
where file_id = ? and generation = ?
order by line_no, object_index
"""
_BLOCKS = """
select *
from raw.content_blocks
where file_id = ? and generation = ?
order by line_no, object_index, block_index
"""
_REJECTS = "select line_no, raw from rejects where file_id = ? and generation = ? order by line_no"


@dataclass(frozen=True, slots=True)
class Restored:
    """One file that was brought back."""

    path: str
    lines: int


def restore(warehouse: Warehouse, session: str, folder: Path) -> list[Restored]:
    """Write every file of a session below a folder; no file that is there is touched."""
    if warehouse.load().content == METRICS:
        raise UsageError(
            f"the warehouse at '{warehouse.folder}' keeps metrics only",
            hint="there are no lines to bring back",
        )
    tree = views.snapshot_of(warehouse)
    with (
        views.opened(warehouse, time_zone="UTC", tree=tree) as con,
        access.only_for_the_owner(),
    ):
        session_id = sessions.only(con, session)
        files = _rows(con, _FILES, [session_id])
        for file in files:
            _refuse(_target(folder, file["path"]))
        _refuse_damaged(warehouse, tree, {file["part"] for file in files})
        return [_write(con, file, _target(folder, file["path"])) for file in files]


def lines_of(con: duckdb.DuckDBPyConnection, file_id: str, generation: int) -> Iterator[bytes]:
    """Yield the lines of a file in order, without newlines; a blank line comes back empty."""
    lines = dict(_entry_lines(con, file_id, generation))
    for reject in _rows(con, _REJECTS, [file_id, generation]):
        lines[reject["line_no"]] = [reject["raw"] or b""]
    for number in range(1, max(lines, default=0) + 1):
        yield b"".join(lines.get(number, ()))


def _target(folder: Path, path: str) -> Path:
    """Return where a file goes: its own path below the folder, and never anywhere else."""
    pieces = PurePosixPath(path).parts
    if path.startswith("/") or ".." in pieces:
        raise UsageError(f"'{path}' leads out of the folder", hint="look at source_files")
    return folder.joinpath(*pieces)


def _refuse(target: Path) -> None:
    if target.exists():
        raise UsageError(f"'{target}' is there already", hint="name an empty folder with --to DIR")


def _refuse_damaged(warehouse: Warehouse, tree: Path | None, parts: set[int]) -> None:
    """Refuse to bring back lines out of files that are not what was written."""
    if tree is None:
        return
    for file in warehouse.read_commit(int(tree.name)).files:
        if file.table == SOURCE_FILES.name or (file.table in _FACTS and file.part in parts):
            write.refuse_damaged(tree / file.published_path(), file.content_hash)


def _write(con: duckdb.DuckDBPyConnection, file: Row, target: Path) -> Restored:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as sink:
        if file["kind"] == "sidecar":
            for row in _rows(con, _SIDECAR, [file["file_id"]]):
                sink.write(row["content"])
            return Restored(file["path"], 0)
        count = 0
        for line in lines_of(con, file["file_id"], file["generation"]):
            sink.write(line + b"\n")
            count += 1
        sink.write(b"\n" * (file["line_count"] - count) + file["pending"])
    return Restored(file["path"], file["line_count"])


def _entry_lines(
    con: duckdb.DuckDBPyConnection, file_id: str, generation: int
) -> Iterator[tuple[int, list[bytes]]]:
    blocks = {
        place: list(rows)
        for place, rows in groupby(_rows(con, _BLOCKS, [file_id, generation]), _place)
    }
    entries = _rows(con, _ENTRIES, [file_id, generation])
    for number, rows in groupby(entries, itemgetter("line_no")):
        yield number, [*_texts_of(list(rows), blocks)]


def _texts_of(rows: list[Row], blocks: dict[Place, list[Row]]) -> Iterator[bytes]:
    """Yield the texts of one line's entries: its own bytes where they were kept, once."""
    if rows[0]["raw"] is not None:
        yield rows[0]["raw"]
        return
    for row in rows:
        yield dumps(rebuild.object_of(row, blocks.get(_place(row), ())))


def _place(row: Row) -> Place:
    return row["line_no"], row["object_index"]


def _rows(con: duckdb.DuckDBPyConnection, sql: str, values: list[object]) -> list[Row]:
    rows: list[Row] = con.sql(sql, params=values).to_arrow_table().to_pylist()
    return rows
