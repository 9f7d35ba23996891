"""The notebooks' door: polars frames over one whole snapshot."""

from pathlib import Path

import polars as pl
import pytest

from etl import frames
from etl.errors import UsageError
from tests.sessions import assistant, run_sync, user, write_log


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that these tests only read; its one response was logged late in the evening."""
    folder = tmp_path_factory.mktemp("frames")
    late = assistant(timestamp="2026-03-01T23:30:00.000Z")
    write_log(folder / "logs", [user("hi"), late])
    run_sync(folder / "logs", folder / "lake")
    return folder / "lake"


def test_a_query_gives_a_frame_with_the_declared_types(lake: Path) -> None:
    ask = "select model, output_tokens, occurred_at from usage"
    frame = frames.query(ask, warehouse=lake, time_zone="UTC")
    assert frame.schema == {
        "model": pl.String(),
        "output_tokens": pl.Int64(),
        "occurred_at": pl.Datetime("us", "UTC"),
    }
    assert frame["output_tokens"].to_list() == [10]


def test_days_are_those_of_the_zone_asked_for(lake: Path) -> None:
    ask = "select day::varchar from daily_spend"
    assert frames.query(ask, warehouse=lake, time_zone="UTC").item() == "2026-03-01"
    assert frames.query(ask, warehouse=lake, time_zone="Asia/Tokyo").item() == "2026-03-02"


def test_the_warehouse_may_be_named_by_text_or_path(lake: Path) -> None:
    ask = "select count(*) from entries"
    assert frames.query(ask, warehouse=str(lake)).item() == 2
    assert frames.query(ask, warehouse=lake).item() == 2


def test_the_warehouse_is_that_of_the_platform_unless_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CCLAKE_WAREHOUSE", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match=str(tmp_path)):
        frames.query("select 1")


def test_a_frame_outlives_the_warehouse_it_came_from(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", [user("hi")])
    run_sync(tmp_path / "logs", tmp_path / "lake")
    frame = frames.query("select uuid from entries", warehouse=tmp_path / "lake")
    (tmp_path / "lake").rename(tmp_path / "away")
    assert frame.rows() == [("u1",)]
