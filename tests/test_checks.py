"""The shipped checks: silent on a sound warehouse, and each speaks up when it should."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from etl import sqlfiles, views
from etl.check import check
from etl.commit import Warehouse
from etl.demo import write_tree
from tests.sessions import run_sync, user, write_log

CHECKS = {check.name: check.query for check in sqlfiles.load("checks")}
# What breaks each: a row that got lost, came twice, or says something else.
DAMAGE = {
    "every_byte_is_accounted_for": ("raw.entries", "delete from held where line_no = 2"),
    "no_byte_stands_in_two_lines": (
        "raw.entries",
        "update held set byte_start = byte_start - 1 where line_no = 2",
    ),
    "no_row_is_stored_twice": (
        "raw.content_blocks",
        "insert into held select * from held limit 1",
    ),
    "every_derived_row_has_its_line": (
        "raw.usage",
        "update held set line_no = line_no + 1000 where key = (select min(key) from held)",
    ),
    "every_log_could_be_read": ("source_files", "update held set ctime_ns = 0"),
    "every_key_is_there_once": ("usage", "insert into held select * from held limit 1"),
    "every_row_has_its_file": (
        "source_files",
        "update held set \"offset\" = 1 where kind = 'main'",
    ),
    "every_grouping_gives_the_same_total": (
        "daily_spend",
        "update held set cost_usd = cost_usd + 0.000000000001",
    ),
    "no_duration_is_negative": ("tool_calls", "update held set duration_ms = -1"),
    "every_row_is_of_a_session": ("sessions", "delete from held"),
    "parts_add_up_to_wholes": ("sessions", "update held set turns = turns + 1"),
    "every_token_is_spent_once": ("token_spend", "update held set output_tokens = 0"),
}
SPEND = [view.name for view in sqlfiles.load("views") if "cost_usd" in view.columns]
# One line of each is not one share of all that was spent.
NOT_GROUPED = {"token_spend", "turns", "sessions", "reconciliation", "agent_stats"}
GROUPED = sorted({*SPEND} - NOT_GROUPED)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("checks")
    write_tree(folder / "logs", megabytes=0.5, seed=4)
    run_sync(folder / "logs", folder / "lake")
    return Warehouse(folder / "lake")


@pytest.fixture
def con(lake: Warehouse) -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(views.connect(lake, time_zone="UTC")) as connection:
        yield connection


@pytest.fixture(scope="module")
def settled(lake: Warehouse) -> Iterator[duckdb.DuckDBPyConnection]:
    """All that several checks read, computed once."""
    with closing(views.connect(lake, time_zone="UTC")) as connection:
        for view in ("token_spend", "turns", *GROUPED, "sessions"):
            views.settle(connection, view)
        yield connection


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_sound_warehouse_passes(settled: duckdb.DuckDBPyConnection, name: str) -> None:
    assert settled.execute(CHECKS[name]).fetchall() == []


def test_an_empty_warehouse_passes(tmp_path: Path) -> None:
    (tmp_path / "logs" / "projects").mkdir(parents=True)
    run_sync(tmp_path / "logs", tmp_path / "lake")
    assert check(Warehouse(tmp_path / "lake")).findings == []


def test_a_warehouse_without_an_answer_passes(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", [user("Hello")])
    run_sync(tmp_path / "logs", tmp_path / "lake")
    assert check(Warehouse(tmp_path / "lake")).findings == []


def test_a_generation_that_ended_is_accounted_for_too(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        'create table held as select file_id, generation, 7::bigint as "offset", 0::bigint as'
        " blank_bytes from source_files limit 1"
    )
    con.execute("update held set generation = generation - 1")
    con.execute("create or replace view past_generations as select * from held")
    assert len(con.execute(CHECKS["every_byte_is_accounted_for"]).fetchall()) == 1


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_damage_is_noticed(con: duckdb.DuckDBPyConnection, name: str) -> None:
    view, damage = DAMAGE[name]
    con.execute(f"create table held as select * from {view}")  # noqa: S608 - our own names
    con.execute(damage)
    con.execute(f"create or replace view {view} as select * from held")  # noqa: S608 - our own names
    assert con.execute(CHECKS[name]).fetchall()


@pytest.mark.parametrize("view", GROUPED)
@pytest.mark.parametrize(
    ("column", "bit"), [("responses", "1"), ("unpriced_tokens", "1"), ("cost_usd", "1e-12")]
)
def test_a_view_of_spend_that_loses_a_bit_is_noticed(
    settled: duckdb.DuckDBPyConnection, view: str, column: str, bit: str
) -> None:
    settled.execute("begin")
    settled.execute(f"update {view} set {column} = {column} + {bit}::decimal(13, 12)")  # noqa: S608 - our own names
    (noticed,) = settled.execute(CHECKS["every_grouping_gives_the_same_total"]).fetchall()
    settled.execute("rollback")
    assert noticed[0] == view
