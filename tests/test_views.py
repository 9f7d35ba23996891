"""The views: given rows in, expected rows out; and the file and connections they live in."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from etl import frames, sqlfiles, views
from etl.commit import Warehouse
from etl.errors import UsageError
from etl.tables import LOGICAL, Table
from tests.cases import TABLES, case_of, found_rows, laid_out, typed, views_over
from tests.sessions import Line, assistant, encoded, run_sync, user, write_log

CASES = sorted((Path(__file__).parent / "views").glob("*/*.md"))
VIEWS = sqlfiles.load("views")


@pytest.fixture(scope="module")
def nothing() -> Iterator[duckdb.DuckDBPyConnection]:
    """All views over nothing at all; binding them takes a second, copying them does not."""
    with closing(duckdb.connect()) as con:
        con.execute(";\n".join(views.statements(None, with_comments=False)))
        yield con


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_given_rows_give_the_expected_rows(
    path: Path, tmp_path: Path, nothing: duckdb.DuckDBPyConnection
) -> None:
    case = case_of(path.read_text())
    (expected,) = case.expected.values()
    names = list(expected[0])
    with views_over(laid_out(case, tmp_path), case, nothing) as con:
        found = found_rows(con, path.parent.name, names)
    assert list(case.expected) == [path.parent.name]
    assert found == sorted([cell or "-" for cell in row.values()] for row in expected)


def test_every_view_has_a_case() -> None:
    assert {path.parent.name for path in CASES} >= {view.name for view in VIEWS}


def test_a_given_column_that_no_table_has_is_refused() -> None:
    with pytest.raises(AssertionError):
        typed(TABLES["usage"], [{"no_such_column": "1"}])


# ---- All views together.


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    write_log(tmp_path / "logs", [user("Hello"), assistant(stop="end_turn")])
    return tmp_path / "logs"


@pytest.fixture
def lake(tmp_path: Path, logs: Path) -> Warehouse:
    run_sync(logs, tmp_path / "lake")
    return Warehouse(tmp_path / "lake")


def append(logs: Path, *lines: Line) -> None:
    (log,) = logs.rglob("*.jsonl")
    with log.open("ab") as sink:
        sink.write(encoded(lines))


def columns_in(con: duckdb.DuckDBPyConnection) -> dict[str, str | None]:
    return {
        f"{schema}.{view}.{column}": comment
        for schema, view, column, comment in con.sql(
            "select schema_name, table_name, column_name, comment from duckdb_columns()"
            " where not internal"
        ).fetchall()
    }


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_view_answers_on_an_empty_warehouse(
    view: sqlfiles.SqlFile, nothing: duckdb.DuckDBPyConnection
) -> None:
    relation = nothing.sql(f"from main.{view.name}")
    assert relation.fetchall() == []
    assert set(view.columns) <= set(relation.columns)


# Rows that each view has over a log of one line; all others have none.
OF_ONE_LINE = {
    "a prompt": (
        user("Hello"),
        (
            "content_blocks entries hourly_activity messages projects session_marks sessions"
            " turn_times turns"
        ),
    ),
    "an answer": (
        assistant(stop="end_turn"),
        (
            "agent_spend agent_type_spend branch_spend cache_efficiency cache_lifetimes"
            " completeness content_blocks context_growth daily_spend entries entrypoint_spend"
            " hourly_activity messages model_spend monthly_spend overhead_spend pr_spend"
            " project_spend projects session_marks session_spend sessions token_spend tool_spend"
            " usage usage_blocks weekly_spend"
        ),
    ),
}


@pytest.mark.parametrize("what", OF_ONE_LINE)
def test_every_view_answers_on_a_warehouse_of_one_line(tmp_path: Path, what: str) -> None:
    line, named = OF_ONE_LINE[what]
    write_log(tmp_path / "logs", [line])
    run_sync(tmp_path / "logs", tmp_path / "lake")
    with closing(views.connect(Warehouse(tmp_path / "lake"), time_zone="UTC")) as con:
        rows = {one.name: con.sql(f"from main.{one.name}").to_arrow_table() for one in VIEWS}
    counts = {name: found.num_rows for name, found in rows.items() if name != "cost_lines"}
    assert {*counts.values()} == {0, 1}
    assert " ".join(sorted(name for name, count in counts.items() if count)) == named


def test_an_empty_warehouse_has_the_same_columns_and_types_as_a_full_one(
    lake: Warehouse, nothing: duckdb.DuckDBPyConnection
) -> None:
    types = (
        "select schema_name, table_name, column_name, data_type from duckdb_columns()"
        " where not internal order by all"
    )
    with closing(views.connect(lake)) as full:
        assert nothing.sql(types).fetchall() == full.sql(types).fetchall()


@pytest.mark.parametrize("table", LOGICAL, ids=lambda table: table.name)
def test_a_table_with_copies_taken_out_has_the_declared_columns(
    table: Table, nothing: duckdb.DuckDBPyConnection
) -> None:
    logical = nothing.sql(f"from main.{table.name}")
    physical = nothing.sql(f"from raw.{table.name}")
    assert logical.columns == [*table.names(), "source"]
    assert (logical.columns, logical.types) == (physical.columns, physical.types)


def test_daily_spend_has_exactly_the_columns_of_the_contract(
    nothing: duckdb.DuckDBPyConnection,
) -> None:
    relation = nothing.sql("from daily_spend")
    found = dict(zip(relation.columns, map(str, relation.types), strict=True))
    tokens = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
    assert list(found.items()) == [
        ("day", "DATE"),
        ("project", "VARCHAR"),
        ("model", "VARCHAR"),
        ("responses", "BIGINT"),
        *((f"{kind}_tokens", "BIGINT") for kind in tokens),
        ("cost_usd", "DECIMAL(38,12)"),
        ("unpriced_tokens", "BIGINT"),
    ]


def test_every_view_and_every_column_says_what_it_is(lake: Warehouse) -> None:
    with closing(duckdb.connect(str(lake.folder / "cclake.duckdb"), read_only=True)) as con:
        summaries = dict(
            con.sql("select view_name, comment from duckdb_views() where not internal").fetchall()
        )
        comments = columns_in(con)
    assert {view.name for view in VIEWS} | set(TABLES) == set(summaries)
    assert [name for name, comment in summaries.items() if not comment] == []
    assert [name for name, comment in comments.items() if not comment] == []


def test_comments_are_those_of_the_declarations(lake: Warehouse) -> None:
    with closing(duckdb.connect(str(lake.folder / "cclake.duckdb"), read_only=True)) as con:
        comments = columns_in(con)
    for column in TABLES["usage"].columns:
        assert comments[f"main.usage.{column.name}"] == column.meaning
        assert comments[f"raw.usage.{column.name}"] == column.meaning
    (turns,) = [view for view in VIEWS if view.name == "turns"]
    assert {name: comments[f"main.turns.{name}"] for name in turns.columns} == turns.columns


def read_by(view: sqlfiles.SqlFile) -> set[str]:
    """Tell by its syntax tree which views a view reads."""
    tables = sqlglot.parse_one(view.query, dialect="duckdb").find_all(exp.Table)
    return {table.name for table in tables if not table.db} & {one.name for one in VIEWS}


@pytest.mark.parametrize("seed", range(5))
def test_views_come_after_those_they_read_however_they_are_given(seed: int) -> None:
    shuffled = random.Random(seed).sample(VIEWS, len(VIEWS))  # noqa: S311 - an order, no secret
    order = views.in_order(tuple(shuffled))
    place = {view.name: at for at, view in enumerate(order)}
    assert sorted(place) == sorted(view.name for view in VIEWS)
    for view in VIEWS:
        assert all(place[name] < place[view.name] for name in read_by(view) - {view.name})


def test_views_are_the_same_in_every_process_so_that_those_kept_are_found() -> None:
    script = "from etl import views; print(*views.statements(None))"
    made = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in "1234"
    }
    assert len(made) == 1


# ---- The warehouse they read.


@pytest.mark.parametrize("name", ["it's a lake", "why?", "[lake]", "lake*", "{a,b}", "läke", "a=b"])
def test_any_path_of_a_warehouse_is_taken_as_it_is(name: str, logs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lakes" / name
    run_sync(logs, folder)
    assert frames.query("select count(*) from turns", warehouse=folder).item() == 1
    with closing(duckdb.connect(str(folder / "cclake.duckdb"), read_only=True)) as con:
        assert con.sql("select source, count(*) from usage group by all").fetchall() == [
            ("laptop", 1)
        ]


def test_a_reader_keeps_its_snapshot_while_syncs_go_on(logs: Path, lake: Warehouse) -> None:
    count = "select count(*) from usage"
    with closing(views.connect(lake)) as reader:
        for step in (2, 3):
            append(logs, assistant(uuid=f"a{step}", message_id=f"msg_{step}", second=step))
            assert run_sync(logs, lake.folder).is_committed
        assert reader.sql(count).fetchall() == [(1,)]
    assert frames.query(count, warehouse=lake.folder).item() == 3


def test_the_database_file_opens_read_only_and_shows_the_newest_commit(
    logs: Path, lake: Warehouse
) -> None:
    append(logs, assistant(uuid="a2", message_id="msg_2", second=5))
    run_sync(logs, lake.folder)
    with closing(duckdb.connect(str(lake.folder / "cclake.duckdb"), read_only=True)) as con:
        assert con.sql("select sum(responses)::bigint from daily_spend").fetchall() == [(2,)]
        assert con.sql("select count(*) from duckdb_tables() where not internal").fetchall() == [
            (0,)
        ]


def test_a_reader_of_the_database_file_does_not_block_a_sync(logs: Path, lake: Warehouse) -> None:
    with closing(duckdb.connect(str(lake.folder / "cclake.duckdb"), read_only=True)) as con:
        append(logs, assistant(uuid="a2", message_id="msg_2", second=5))
        assert run_sync(logs, lake.folder).is_committed
        assert con.sql("select count(*) from usage").fetchall() == [(2,)]


def test_refreshing_does_nothing_when_nothing_changed(lake: Warehouse) -> None:
    database = lake.folder / "cclake.duckdb"
    before = (database.stat().st_ino, database.stat().st_mtime_ns)
    assert not views.refresh(lake, is_empty=False)
    assert (database.stat().st_ino, database.stat().st_mtime_ns) == before


def test_refreshing_makes_a_lost_database_again(lake: Warehouse) -> None:
    database = lake.folder / "cclake.duckdb"
    database.unlink()
    assert views.refresh(lake, is_empty=False)
    with closing(duckdb.connect(str(database), read_only=True)) as con:
        assert con.sql("select count(*) from turns").fetchall() == [(1,)]


def test_a_damaged_database_stops_no_query(lake: Warehouse) -> None:
    (lake.folder / "cclake.duckdb").write_bytes(b"no database")
    assert frames.query("select count(*) from turns", warehouse=lake.folder).item() == 1


def test_a_query_makes_the_views_itself_if_the_database_has_others(lake: Warehouse) -> None:
    with closing(duckdb.connect(str(lake.folder / "cclake.duckdb"))) as con:
        con.execute("create or replace view turns as select 'older' as turn_id")
    ask = "select turn_id from turns"
    assert frames.query(ask, warehouse=lake.folder).item() == "older"
    (lake.store / "views").write_text("of another version")
    assert frames.query(ask, warehouse=lake.folder).item() == "u1"


def test_a_warehouse_that_was_moved_is_asked_where_it_is_now(
    logs: Path, lake: Warehouse, tmp_path: Path
) -> None:
    moved = Warehouse(lake.folder.rename(tmp_path / "moved"))
    assert frames.query("select count(*) from turns", warehouse=moved.folder).item() == 1
    run_sync(logs, moved.folder)
    with closing(duckdb.connect(str(moved.folder / "cclake.duckdb"), read_only=True)) as con:
        assert con.sql("select count(*) from turns").fetchall() == [(1,)]


def test_a_view_that_is_settled_is_a_table_of_its_rows(lake: Warehouse) -> None:
    with closing(views.connect(lake)) as con:
        views.settle(con, "usage")
        assert con.sql("select responses from daily_spend").fetchall() == [(1,)]
        con.execute("delete from usage")
        assert con.sql("select responses from daily_spend").fetchall() == []


def test_the_first_rows_replace_the_views_of_an_empty_warehouse(tmp_path: Path) -> None:
    (tmp_path / "logs" / "projects").mkdir(parents=True)
    database = tmp_path / "lake" / "cclake.duckdb"
    counts = []
    for lines in ([], [user("Hello")]):
        write_log(tmp_path / "logs", lines)
        run_sync(tmp_path / "logs", tmp_path / "lake")
        with closing(duckdb.connect(str(database), read_only=True)) as con:
            counts += con.sql("select count(*) from turns").fetchall()
    assert counts == [(0,), (1,)]


def test_no_warehouse_is_a_usage_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no warehouse at") as raised:
        views.connect(Warehouse(tmp_path / "nowhere"))
    assert "cclake sync" in str(raised.value.hint)


def test_a_source_named_by_digits_stays_text(logs: Path, tmp_path: Path) -> None:
    for source in ("7", "08"):
        run_sync(logs, tmp_path / "both", source=source)
    with closing(views.connect(Warehouse(tmp_path / "both"))) as con:
        sources = con.sql("select distinct source from raw.usage order by all").fetchall()
        assert sources == [("08",), ("7",)]
        assert con.sql("select count(*) from usage").fetchall() == [(1,)]
