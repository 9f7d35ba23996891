"""The shipped SQL: how its headers are read, and what every file must be."""

import re

import pytest
import sqlglot
from sqlglot import exp

from etl import sqlfiles
from etl.derive import STEPS
from etl.sqlfiles import SqlFile
from etl.tables import DERIVED

SHIPPED = [
    (layer, file)
    for layer in ("checks", "reading", "steps", "tables", "views")
    for file in sqlfiles.load(layer)
]
ARROW_LAMBDA = re.compile(r"\b\w+\s*->(?!>)\s*(?!\s*['\"$])")

every_file = pytest.mark.parametrize(
    "file", [file for _, file in SHIPPED], ids=[f"{layer}/{file.name}" for layer, file in SHIPPED]
)


def code_of(file: SqlFile) -> str:
    return "\n".join(line.partition("--")[0] for line in file.query.splitlines())


def test_a_header_gives_summary_grain_and_columns() -> None:
    file = sqlfiles.parse(
        "spend",
        "-- What it cost,\n-- in short.\n-- grain: one day\n-- day   the day\n"
        "-- cost  what it cost,\n--   in dollars\nselect 1 as day;\n",
    )
    assert file.name == "spend"
    assert file.summary == "What it cost, in short."
    assert file.grain == "one day"
    assert file.columns == {"day": "the day", "cost": "what it cost, in dollars"}
    assert file.query.endswith("select 1 as day")


def test_a_check_says_how_bad_it_is() -> None:
    text = "-- Odd.\n-- severity: warning\n-- grain: one row\nselect 1 as a\n"
    file = sqlfiles.parse("odd", text)
    assert (file.summary, file.severity, file.grain) == ("Odd.", "warning", "one row")
    for check in sqlfiles.load("checks"):
        assert f"-- severity: {check.severity}\n" in check.query
        assert check.severity in {"error", "warning"}


def test_a_comment_below_the_header_is_no_column() -> None:
    file = sqlfiles.parse("x", "-- Words.\n-- grain: one\nselect\n-- day not a column\n1 as a\n")
    assert file.columns == {}


def test_a_file_without_a_header_has_neither_summary_nor_grain() -> None:
    file = sqlfiles.parse("bare", "select 1\n")
    assert (file.summary, file.grain, file.columns) == ("", "", {})


def test_the_files_of_a_folder_come_by_name() -> None:
    names = [file.name for file in sqlfiles.load("views")]
    assert names == sorted(path.stem for path in (sqlfiles.folder() / "views").glob("*.sql"))
    assert "turns" in names


def test_every_derived_table_and_every_step_has_its_file_and_no_file_is_idle() -> None:
    assert {file.name for file in sqlfiles.load("tables")} == {table.name for table in DERIVED}
    assert {file.name for file in sqlfiles.load("steps")} == set(STEPS)


def test_a_query_is_found_by_its_name() -> None:
    for layer, file in SHIPPED:
        assert sqlfiles.text_of(layer, file.name) == file.query


@every_file
def test_a_shipped_file_says_what_it_is_and_its_grain(file: SqlFile) -> None:
    assert file.summary.endswith("."), file.summary
    assert file.grain
    assert not file.grain.endswith(".")


@every_file
def test_a_shipped_file_is_one_bare_select(file: SqlFile) -> None:
    statements = sqlglot.parse(file.query, dialect="duckdb")
    assert len(statements) == 1
    assert isinstance(statements[0], exp.Query)


@every_file
def test_a_shipped_file_uses_no_arrow_lambda(file: SqlFile) -> None:
    assert not ARROW_LAMBDA.search(code_of(file))


@pytest.mark.parametrize("file", sqlfiles.load("views"), ids=lambda file: file.name)
def test_a_view_says_case_and_not_if(file: SqlFile) -> None:
    # In a file of views, DuckDB 2.0 keeps `if` as a function, which a client of 1.5 does not know.
    assert not re.search(r"\bif\s*\(", code_of(file))


def test_the_search_for_arrow_lambdas_finds_one_and_leaves_json_paths_alone() -> None:
    assert ARROW_LAMBDA.search("list_transform(xs, x -> x + 1)")
    assert not ARROW_LAMBDA.search("payload -> '$.a'")
    assert not ARROW_LAMBDA.search("payload ->> 'a'")
