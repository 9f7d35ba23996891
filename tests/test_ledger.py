"""The ledger: rows to Arrow and back, field by field."""

from dataclasses import fields, replace
from typing import Any

import pyarrow as pa
import pytest

from etl.ledger import LedgerRow, from_arrow, to_arrow
from etl.tables import SOURCE_FILES


def ledger_row(**changes: Any) -> LedgerRow:  # noqa: ANN401 - fields of several types
    """A main log that was read to its end."""
    row = LedgerRow(
        file_id="0f",
        source="laptop",
        root="/logs/projects",
        path="-home-ada-kiln/s.jsonl",
        kind="main",
        layout="main",
        session_id="s",
        agent_id=None,
        size=120,
        mtime_ns=1_772_352_000_123_456_789,
        ctime_ns=1_772_352_001_123_456_789,
        device=2049,
        inode=77,
        offset=120,
        line_count=3,
        blank_bytes=1,
        pending=b"",
        prefix_hash="abc",
        generation=0,
        part=1,
        month="2026-03",
        first_seen_at=1_772_352_002_123_456,
        gone_at=None,
    )
    return replace(row, **changes)


def test_the_fields_of_a_row_are_the_columns_of_the_table() -> None:
    assert [field.name for field in fields(LedgerRow)] == SOURCE_FILES.names()


@pytest.mark.parametrize(
    "row",
    [
        ledger_row(),
        ledger_row(session_id=None, agent_id="a1", part=None, month=None),
        ledger_row(gone_at=1_772_352_003_000_001),
        ledger_row(pending=b'\x00\xff\n{"torn":"\xc3'),
        ledger_row(size=-1, inode=-(1 << 63), device=(1 << 63) - 1),
        ledger_row(mtime_ns=-1, first_seen_at=0),
        ledger_row(path="日本語/new\nline 🚢.jsonl", root="/a 'b'/*"),
    ],
)
def test_a_row_comes_back_as_it_was(row: LedgerRow) -> None:
    assert from_arrow(to_arrow([row])) == [row]


def test_an_empty_ledger_is_an_empty_table() -> None:
    table = to_arrow([])
    assert (table.num_rows, table.schema) == (0, SOURCE_FILES.schema())
    assert from_arrow(table) == []


def test_the_table_has_the_declared_types_and_meanings() -> None:
    assert to_arrow([ledger_row()]).schema.equals(SOURCE_FILES.schema(), check_metadata=True)


def test_equal_ledgers_are_equal_tables_in_whatever_order_they_came() -> None:
    rows = [ledger_row(file_id=name) for name in ("b", "c", "a")]
    assert to_arrow(rows).equals(to_arrow(reversed(rows)))
    assert [row.file_id for row in from_arrow(to_arrow(rows))] == ["a", "b", "c"]


def test_rows_come_back_from_a_table_in_pieces_with_its_columns_in_another_order() -> None:
    rows = [ledger_row(file_id="a"), ledger_row(file_id="b", gone_at=5)]
    table = pa.concat_tables(to_arrow([row]) for row in rows)
    assert from_arrow(table.select(sorted(table.column_names))) == rows


@pytest.mark.parametrize(
    ("row", "is_waiting"),
    [
        (ledger_row(kind="sidecar", size=40, offset=0), True),
        (ledger_row(kind="sidecar", size=40, offset=40), False),
        (ledger_row(kind="main", size=40, offset=0), False),
    ],
)
def test_only_a_sidecar_waits_and_only_until_it_is_read(
    row: LedgerRow, *, is_waiting: bool
) -> None:
    assert row.is_waiting() is is_waiting
