"""How DuckDB is opened: what it can reach, and where it spills."""

import gc
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import gettempdir

import duckdb
import pytest

from etl import engine

LARGE = "create or replace temp table large as select range, md5(range::varchar) from range({})"
OUTSIDE = {
    "install": "install httpfs",
    "community": "install h3 from community",
    "repository": "force install httpfs from 'http://127.0.0.1:9/'",
    "load": "load httpfs",
    "update": "update extensions",
    "https": "from 'https://127.0.0.1:9/x.parquet'",
    "s3": "from 's3://bucket/x.parquet'",
    "csv": "from read_csv('http://127.0.0.1:9/x.csv')",
    "attach": "attach 'https://127.0.0.1:9/x.duckdb'",
    "server": "attach 'host=127.0.0.1' as pg (type postgres)",
    "copy": "copy (select 1) to 'https://127.0.0.1:9/x.parquet'",
    "secret": "create secret s (type s3, key_id 'a')",
    "ui": "call start_ui()",
}


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with closing(engine.for_questions()) as con:
        yield con


@pytest.fixture
def wide_open() -> Iterator[None]:
    mask = os.umask(0)
    yield
    os.umask(mask)


def spill(con: duckdb.DuckDBPyConnection, rows: int = 1_500_000) -> None:
    con.execute("set memory_limit = '40MB'; set threads = 1")
    con.execute(LARGE.format(rows))


def place_of(con: duckdb.DuckDBPyConnection) -> Path:
    ((place,),) = con.execute("select current_setting('temp_directory')").fetchall()
    return Path(place)


def test_nobody_else_opens_duckdb() -> None:
    sources = Path(engine.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if "duckdb.connect(" in path.read_text()] == ["engine.py"]


# ---- What it can reach.


@pytest.mark.parametrize("sql", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_a_query_reaches_no_network_and_no_extension(
    con: duckdb.DuckDBPyConnection, sql: str
) -> None:
    with pytest.raises(duckdb.Error) as caught:
        con.execute(sql)
    assert engine.is_out_of_reach(str(caught.value)), str(caught.value)


def test_a_query_cannot_give_itself_the_network(con: duckdb.DuckDBPyConnection) -> None:
    for sql in (
        "set enable_external_access = true",
        "set allowed_directories = ['/', 'https://']",
        "set allow_community_extensions = true",
        "set allow_unsigned_extensions = true",
    ):
        with pytest.raises(duckdb.Error):
            con.execute(sql)
    con.execute("set autoinstall_known_extensions = true; set autoload_known_extensions = true")
    with pytest.raises(duckdb.Error) as caught:
        con.execute(OUTSIDE["https"])
    assert engine.is_out_of_reach(str(caught.value))


def test_an_ordinary_mistake_is_not_taken_for_a_reach_outside(
    con: duckdb.DuckDBPyConnection,
) -> None:
    for sql in ("selec 1", "from nowhere", "from '/nowhere/x.csv'", "select 'https://x'::integer"):
        with pytest.raises(duckdb.Error) as caught:
            con.execute(sql)
        assert not engine.is_out_of_reach(str(caught.value))


def test_no_variable_of_ours_can_be_asked_for(con: duckdb.DuckDBPyConnection) -> None:
    ours = [{"a": 1}]
    with pytest.raises(duckdb.Error, match="ours"):
        con.execute("from ours")
    assert ours


def test_files_of_this_machine_time_zones_and_json_work(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    con.execute("set timezone = 'Asia/Kolkata'")
    con.execute("copy (select 1 as n, 'a' as word) to 'x.csv'")
    con.execute(f"copy (from 'x.csv') to '{tmp_path}/x.parquet'")
    con.execute("attach 'x.duckdb' as other; create table other.t as from 'x.parquet'")
    assert con.execute("from other.t").fetchall() == [(1, "a")]
    hours = "select hour('2026-03-01T00:00:00Z'::timestamptz), '{\"a\": [7]}'::json ->> '$.a[0]'"
    assert con.execute(hours).fetchall() == [(5, "7")]


# ---- Where it spills.


@pytest.mark.usefixtures("wide_open")
def test_what_memory_cannot_hold_goes_where_only_the_owner_can_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    con = engine.for_questions()
    spill(con)
    place = place_of(con)
    assert list(place.iterdir())
    assert place.parent.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []
    con.close()
    del con
    gc.collect()
    assert not place.parent.exists()


def test_two_queries_at_once_spill_apart() -> None:
    with closing(engine.for_questions()) as one, closing(engine.for_questions()) as other:
        assert place_of(one) != place_of(other)


def test_the_person_says_where_large_files_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert gettempdir() == str(tmp_path)
    with closing(engine.for_questions()) as con:
        assert place_of(con).is_relative_to(tmp_path)


def test_a_worker_spills_below_the_folder_it_is_given_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    con = engine.worker()
    with pytest.raises(duckdb.OutOfMemoryException):
        spill(con)
    staging = tmp_path / "it's staging"
    staging.mkdir()
    place = engine.spill_below(con, staging)
    spill(con)
    assert place.parent == staging
    assert list(place.iterdir())
    assert engine.spill_below(con, staging) == place
    con.close()
    assert list(tmp_path.iterdir()) == [staging]
    assert list(staging.iterdir()) == []


def test_another_client_is_told_all_that_a_query_is_told(
    con: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    folder = tmp_path / "it's"
    told = engine.settings_for_questions(folder)
    with closing(duckdb.connect()) as other:
        for statement in told:
            other.execute(statement)
        settings = (
            "select name, value from duckdb_settings()"
            " where name not in ('temp_directory', 'allowed_directories')"
        )
        assert other.execute(settings).fetchall() == con.execute(settings).fetchall()
        assert place_of(other) == folder / "spill"
