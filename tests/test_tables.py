"""The declarations of the tables, and what becomes of them on disk."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from etl import write
from etl.tables import ALL_TABLES, COUNTED, DERIVED, FACTS, LOGICAL, PART_TABLES, Table

PLACE = ["file_id", "generation", "line_no", "byte_start", "byte_end", "object_index"]

every_table = pytest.mark.parametrize("table", ALL_TABLES, ids=lambda table: table.name)


@every_table
def test_every_column_says_what_it_holds_in_the_schema(table: Table) -> None:
    for field, column in zip(table.schema(), table.columns, strict=True):
        assert field.name == column.name
        assert field.type == column.type
        assert field.metadata == {b"description": column.meaning.encode()}
        assert column.meaning.endswith("."), f"{table.name}.{column.name}"


@every_table
def test_a_schema_says_which_table_it_is_and_its_grain(table: Table) -> None:
    assert table.schema().metadata == {
        b"table": table.name.encode(),
        b"grain": table.grain.encode(),
    }
    assert table.grain


@every_table
def test_a_key_is_made_of_columns_of_the_table(table: Table) -> None:
    assert table.key
    assert set(table.key) <= set(table.names())


@every_table
def test_column_names_are_unique_in_a_table(table: Table) -> None:
    assert len(set(table.names())) == len(table.names())


def test_table_names_are_unique() -> None:
    names = [table.name for table in ALL_TABLES]
    assert len(set(names)) == len(names)


def test_tables_with_copies_taken_out_are_tables_of_a_part() -> None:
    assert set(LOGICAL) <= set(PART_TABLES)
    assert [table.name for table in COUNTED] == [
        "entries",
        "messages",
        "content_blocks",
        "tool_calls",
        "agents",
        "compactions",
        "usage",
    ]


@pytest.mark.parametrize("table", [*FACTS[:3], *DERIVED], ids=lambda table: table.name)
def test_every_row_of_a_part_says_where_its_first_line_stands(table: Table) -> None:
    assert table.names()[:6] == PLACE


@pytest.mark.parametrize("table", FACTS, ids=lambda table: table.name)
def test_derived_tables_never_read_the_long_texts(table: Table) -> None:
    assert set(table.narrow_names()).isdisjoint({"payload", "raw", "text", "input"})
    assert set(table.key) <= set(table.narrow_names())


@every_table
def test_a_written_file_keeps_names_types_and_meanings(table: Table, tmp_path: Path) -> None:
    written = write.write_table(table, table.schema().empty_table(), tmp_path)
    stored = pq.read_schema(tmp_path / written.name)
    assert stored.names == table.names()
    assert stored.metadata[b"grain"] == table.grain.encode()
    for column in table.columns:
        field = stored.field(column.name)
        assert field.type == column.type
        assert field.metadata[b"description"] == column.meaning.encode()
