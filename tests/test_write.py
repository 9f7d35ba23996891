"""Parquet files as they land on disk: types, meanings, privacy, and every value back."""

import os
import re
import stat
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from etl.hashing import hash_of
from etl.tables import ALL_TABLES, CONTENT_BLOCKS, ENTRIES, SOURCE_FILES, USAGE, Table
from etl.write import ROW_GROUP_ROWS, hash_file, read_table, write_table

AN_INSTANT = datetime(2026, 3, 1, 8, 0, 0, 123456, tzinfo=UTC)
EXTREMES: dict[pa.DataType, tuple[Any, Any]] = {
    pa.string(): ("", "日本語 🚢\x00\n" + "x" * 70_000),
    pa.int64(): (-(1 << 63), (1 << 63) - 1),
    pa.int32(): (-(1 << 31), (1 << 31) - 1),
    pa.bool_(): (False, True),
    pa.timestamp("us", "UTC"): (datetime(1, 1, 1, tzinfo=UTC), AN_INSTANT),
    pa.binary(): (b"", b"\x00\xff\n\xc3"),
    pa.date32(): (date(1, 1, 1), date(9999, 12, 31)),
}


def extreme_rows(table: Table) -> pa.Table:
    """Three rows: nothing at all, and both ends of every type."""
    arrays = [
        pa.array([None, *EXTREMES[column.type]], type=column.type) for column in table.columns
    ]
    return pa.Table.from_arrays(arrays, schema=table.schema())


@pytest.mark.parametrize("table", ALL_TABLES, ids=lambda table: table.name)
def test_every_value_of_every_table_comes_back(table: Table, tmp_path: Path) -> None:
    rows = extreme_rows(table)
    written = write_table(table, rows, tmp_path)
    back = read_table(tmp_path / written.name)
    assert back.schema.equals(table.schema(), check_metadata=True)
    assert back.equals(rows)


def test_a_file_is_named_for_its_table_and_for_nothing_else(tmp_path: Path) -> None:
    names = [write_table(USAGE, USAGE.schema().empty_table(), tmp_path).name for _ in range(2)]
    assert all(re.fullmatch(r"usage-[0-9a-f]{32}\.parquet", name) for name in names)
    assert len(set(names)) == 2


def test_a_written_file_says_its_rows_size_and_hash(tmp_path: Path) -> None:
    written = write_table(USAGE, extreme_rows(USAGE), tmp_path)
    content = (tmp_path / written.name).read_bytes()
    assert (written.table, written.rows) == ("usage", 3)
    assert (written.size, written.content_hash) == (len(content), hash_of(content))


def test_a_file_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        written = write_table(USAGE, USAGE.schema().empty_table(), tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / written.name).stat().st_mode) == 0o600


def test_a_table_without_rows_keeps_its_columns(tmp_path: Path) -> None:
    written = write_table(ENTRIES, ENTRIES.schema().empty_table(), tmp_path)
    back = read_table(tmp_path / written.name)
    assert (written.rows, back.num_rows, back.column_names) == (0, 0, ENTRIES.names())


def test_every_column_carries_its_meaning_and_the_file_its_grain(tmp_path: Path) -> None:
    written = write_table(USAGE, USAGE.schema().empty_table(), tmp_path)
    schema = pq.read_schema(tmp_path / written.name)
    assert schema.metadata[b"grain"].decode() == USAGE.grain
    assert {field.name: field.metadata[b"description"].decode() for field in schema} == {
        column.name: column.meaning for column in USAGE.columns
    }


def test_duckdb_sees_the_same_types_and_values(tmp_path: Path) -> None:
    written = write_table(USAGE, extreme_rows(USAGE), tmp_path)
    ask = (
        "select typeof(occurred_at), typeof(generation), typeof(output_tokens),"
        " typeof(is_sidechain), typeof(model), epoch_us(max(occurred_at)), max(output_tokens)"
        " from read_parquet(?) group by all"
    )
    with closing(duckdb.connect()) as con:
        found = con.execute(ask, [str(tmp_path / written.name)]).fetchall()
    instant = int(AN_INSTANT.timestamp()) * 1_000_000 + 123456
    types = ("TIMESTAMP WITH TIME ZONE", "INTEGER", "BIGINT", "BOOLEAN", "VARCHAR")
    assert found == [(*types, instant, (1 << 63) - 1)]


def test_some_columns_can_be_read_alone(tmp_path: Path) -> None:
    written = write_table(USAGE, extreme_rows(USAGE), tmp_path)
    back = read_table(tmp_path / written.name, ["output_tokens", "model"])
    assert back.column_names == ["output_tokens", "model"]
    assert back.num_rows == 3


def test_rows_lie_in_groups_and_long_texts_without_statistics(tmp_path: Path) -> None:
    count = ROW_GROUP_ROWS + 1
    columns = {
        name: pa.nulls(count, CONTENT_BLOCKS.schema().field(name).type)
        for name in CONTENT_BLOCKS.names()
    }
    columns["text"] = pa.array([f"words {n}" for n in range(count)])
    columns["line_no"] = pa.array(range(count), type=pa.int64())
    rows = pa.Table.from_arrays(list(columns.values()), schema=CONTENT_BLOCKS.schema())
    written = write_table(CONTENT_BLOCKS, rows, tmp_path)
    stored = pq.ParquetFile(tmp_path / written.name).metadata
    assert [stored.row_group(n).num_rows for n in range(stored.num_row_groups)] == [
        ROW_GROUP_ROWS,
        1,
    ]
    groups = {
        stored.row_group(0).column(n).path_in_schema: stored.row_group(0).column(n)
        for n in range(stored.num_columns)
    }
    assert groups["text"].statistics is None
    assert groups["line_no"].statistics.max == ROW_GROUP_ROWS - 1
    assert {column.compression for column in groups.values()} == {"ZSTD"}


def test_equal_rows_are_equal_files(tmp_path: Path) -> None:
    one, two = (write_table(SOURCE_FILES, extreme_rows(SOURCE_FILES), tmp_path) for _ in range(2))
    assert one.content_hash == two.content_hash


def test_a_file_longer_than_a_block_is_hashed_whole(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000
    (tmp_path / "long").write_bytes(content)
    assert hash_file(tmp_path / "long") == hash_of(content)
