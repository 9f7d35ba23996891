"""Tables and views as lazy polars frames, over a made-up tree with copies in it."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from etl import frames, sqlfiles, views
from etl.commit import Warehouse
from etl.demo import write_tree
from etl.errors import StateError, UsageError
from etl.tables import ALL_TABLES, LOGICAL, PART_TABLES
from tests.sessions import PROJECT, assistant, run_sync, user, write_log

SOURCE = "7"  # A machine's name, not a number.
VIEWS = [view.name for view in sqlfiles.load("views")]
TABLES = [table.name for table in ALL_TABLES]
COPIED = [table.name for table in LOGICAL]
KINDS = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"]
TOKENS = [f"{kind}_tokens" for kind in KINDS]
OTHER = "22222222-2222-4222-8222-222222222222"
ENGINES = pytest.mark.parametrize("engine", ["in-memory", "streaming"])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frames")
    write_tree(folder / "logs", megabytes=1, seed=1)
    run_sync(folder / "logs", folder / "lake", source=SOURCE)
    return folder


@pytest.fixture(scope="module")
def lake(demo: Path) -> Path:
    """A warehouse that these tests only read."""
    return demo / "lake"


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse into which nothing was ever synced."""
    folder = tmp_path_factory.mktemp("nothing")
    Warehouse(folder).create_folders()
    views.refresh(Warehouse(folder), is_empty=True)
    return folder


# ---- The same numbers, whichever way.


def test_plain_parquet_with_copies_taken_out_gives_the_numbers_of_the_daily_view(
    demo: Path,
) -> None:
    copies = pl.scan_parquet(demo / "lake" / "current" / "usage")
    response = ["session_id", "agent_id", "line_no", "generation", "file_id"]
    owners = copies.sort(
        "is_sidechain",
        "is_background",
        "is_forked",
        "session_started_at",
        "session_ended_at",
        *response,
        descending=[False] * 8 + [True, False],
        nulls_last=[False, False, False, True, True, False, False, False, False, False],
    ).unique("key", keep="first", maintain_order=True)
    fullest = copies.sort(
        "output_tokens",
        "occurred_at",
        "line_no",
        descending=True,
        nulls_last=True,
    ).unique("key", keep="first", maintain_order=True)
    by_hand = (
        owners.select("key", "project", day=pl.col("occurred_at").dt.date())
        .join(fullest.select("key", "model", *TOKENS), on="key")
        .group_by("day", "project", "model")
        .agg(pl.len().cast(pl.Int64).alias("responses"), pl.col(TOKENS).sum())
    ).collect()
    daily = frames.view("daily_spend", warehouse=demo / "lake", time_zone="UTC").collect()
    assert copies.select(pl.len()).collect().item() > daily["responses"].sum()
    assert_frame_equal(by_hand, daily.select(by_hand.columns), check_row_order=False)
    assert by_day(by_hand) == truth_by_day(demo)


def test_a_scan_of_usage_gives_the_tokens_of_the_daily_view(demo: Path) -> None:
    usage = frames.scan("usage", warehouse=demo / "lake", time_zone="UTC")
    daily = (
        usage.group_by(pl.col("occurred_at").dt.date().alias("day"))
        .agg(pl.len().alias("responses"), pl.col(TOKENS).sum())
        .collect()
    )
    assert by_day(daily) == truth_by_day(demo)


def by_day(rows: pl.DataFrame) -> dict[str, dict[str, int]]:
    days = rows.group_by("day").agg(pl.col("responses", *TOKENS).sum())
    return {str(row.pop("day")): row for row in days.iter_rows(named=True)}


def truth_by_day(demo: Path) -> dict[str, dict[str, int]]:
    truth = json.loads((demo / "logs" / "truth.json").read_text())
    days: dict[str, dict[str, int]] = truth["tokens_by_day"]
    return days


@pytest.mark.parametrize("name", TABLES)
def test_a_scan_has_the_rows_and_columns_of_a_query(lake: Path, name: str) -> None:
    asked = frames.query(f"select * from {name}", warehouse=lake, time_zone="UTC")  # noqa: S608 - our own names
    scanned = frames.scan(name, warehouse=lake, time_zone="UTC")
    assert scanned.collect_schema() == asked.schema
    assert_frame_equal(scanned.collect(), asked, check_row_order=False)


@pytest.mark.parametrize("name", TABLES)
def test_a_physical_scan_has_the_rows_that_were_written(lake: Path, name: str) -> None:
    asked = frames.query(
        f"select * from {views.physical(name)}",  # noqa: S608 - our own names
        warehouse=lake,
        time_zone="UTC",
    )
    scanned = frames.scan(name, physical=True, warehouse=lake).collect()
    assert_frame_equal(scanned.select(asked.columns), asked, check_row_order=False)
    is_in_folders = name in {table.name for table in PART_TABLES}
    assert set(scanned.columns) - set(asked.columns) == ({"month"} if is_in_folders else set())


def test_source_and_month_are_text_whatever_they_look_like(lake: Path) -> None:
    usage = frames.scan("raw.usage", warehouse=lake).select("source", "month").collect()
    assert usage.schema == {"source": pl.String(), "month": pl.String()}
    assert set(usage["source"]) == {SOURCE}
    assert usage["month"].str.contains(r"^\d{4}-\d\d$").all()


@pytest.mark.parametrize("name", COPIED)
def test_raw_before_a_name_means_what_was_written(lake: Path, name: str) -> None:
    written = frames.scan(name, physical=True, warehouse=lake)
    assert_frame_equal(frames.scan(f"raw.{name}", warehouse=lake), written)


# ---- Lazy: what is left to DuckDB, and what polars does.


def test_only_the_columns_asked_for_are_computed_of_a_view(lake: Path) -> None:
    turns = frames.view("turns", warehouse=lake)
    assert "PROJECT 2/" in turns.select("prompt", "cost_usd").explain()
    assert "PROJECT 2/" in turns.filter(pl.col("cost_usd") > 1).select("prompt").explain()


@ENGINES
def test_a_head_is_left_to_duckdb_and_filters_are_not(lake: Path, engine: str) -> None:
    turns = frames.view("turns", warehouse=lake)
    assert "SLICE: Positive { offset: 0, len: 3 }" in turns.head(3).explain()
    assert turns.head(3).collect(engine=engine).height == 3  # type: ignore[call-overload]
    kept = turns.filter(pl.col("api_calls") > 2)
    assert "SELECTION" not in kept.explain()
    assert kept.collect().height > 3
    assert kept.head(3).collect(engine=engine).height == 3  # type: ignore[call-overload]


@ENGINES
@pytest.mark.parametrize(
    "question",
    [
        lambda usage: usage.filter(pl.col("output_tokens") > 9).select(pl.len()),
        lambda usage: usage.slice(5, 5).select(pl.len()),
        lambda usage: usage.tail(4).select(pl.len()),
        lambda usage: usage.select(pl.len()),
        lambda usage: usage.select(pl.col("output_tokens").sum()),
        lambda usage: usage.sort("output_tokens", "key", descending=True).head(3),
        lambda usage: usage.filter("is_sidechain").top_k(3, by=["output_tokens", "key"]),
        lambda usage: usage.filter(
            pl.col("key").map_elements(lambda key: "1" in key, return_dtype=pl.Boolean)
        ).select(pl.len()),
        lambda usage: usage.filter("is_sidechain").join(usage.select("key"), on="key").sort("key"),
        lambda usage: pl.concat([usage.select("key"), usage.select("key")]).select(pl.len()),
    ],
)
@pytest.mark.filterwarnings("ignore::polars.exceptions.PolarsInefficientMapWarning")
def test_a_lazy_frame_answers_as_the_same_frame_in_memory(
    lake: Path, engine: str, question: Callable[[pl.LazyFrame], pl.LazyFrame]
) -> None:
    lazy = frames.scan("usage", warehouse=lake)
    eager = frames.query("from usage", warehouse=lake).lazy()
    found = question(lazy).collect(engine=engine)  # type: ignore[call-overload]
    assert_frame_equal(found, question(eager).collect())


def test_a_lazy_frame_is_of_one_snapshot_and_may_be_collected_again(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", [user("hi"), assistant()])
    run_sync(tmp_path / "logs", tmp_path / "lake")
    before = frames.scan("entries", warehouse=tmp_path / "lake")
    write_log(tmp_path / "logs", [user("and", uuid="u9")], f"{PROJECT}/{OTHER}.jsonl")
    run_sync(tmp_path / "logs", tmp_path / "lake")
    after = frames.scan("entries", warehouse=tmp_path / "lake")
    assert [before.collect().height, before.collect().height, after.collect().height] == [2, 2, 3]


def test_a_snapshot_that_is_gone_is_told_of_and_not_taken_for_empty(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", [user("hi"), assistant()])
    run_sync(tmp_path / "logs", tmp_path / "lake")
    lazy = frames.scan("entries", warehouse=tmp_path / "lake")
    (tmp_path / "lake").rename(tmp_path / "away")
    with pytest.raises(StateError, match="no longer kept"):
        lazy.collect()


def test_days_of_a_lazy_view_are_those_of_the_zone_asked_for(tmp_path: Path) -> None:
    late = assistant(timestamp="2026-03-01T23:30:00.000Z")
    write_log(tmp_path / "logs", [user("hi"), late])
    run_sync(tmp_path / "logs", tmp_path / "lake")
    for zone, day in (("UTC", "2026-03-01"), ("Asia/Tokyo", "2026-03-02")):
        daily = frames.view("daily_spend", warehouse=tmp_path / "lake", time_zone=zone)
        assert str(daily.select("day").collect().item()) == day


# ---- Nothing there, or nothing of that name.


@pytest.mark.parametrize("name", [*TABLES, *(f"raw.{name}" for name in COPIED)])
def test_a_table_of_an_empty_warehouse_is_empty_and_typed(
    lake: Path, nothing: Path, name: str
) -> None:
    for physical in (False, True):
        empty = frames.scan(name, physical=physical, warehouse=nothing, time_zone="UTC")
        full = frames.scan(name, physical=physical, warehouse=lake, time_zone="UTC")
        assert empty.collect().is_empty()
        assert empty.collect_schema() == full.collect_schema()


def test_every_view_of_an_empty_warehouse_is_empty_and_typed(lake: Path, nothing: Path) -> None:
    for name in VIEWS:
        empty = frames.view(name, warehouse=nothing, time_zone="UTC")
        full = frames.view(name, warehouse=lake, time_zone="UTC")
        assert empty.collect().schema == empty.collect_schema() == full.collect_schema(), name


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: frames.scan("usages"), ["no table is called 'usages'", "usage"]),
        (lambda: frames.scan("raw.rejects"), ["'raw.rejects'", "rejects"]),
        (lambda: frames.scan("turns"), ["'turns'", "turn_times", "frames.view has the views"]),
        (lambda: frames.view("daly_spend"), ["no view is called 'daly_spend'", "daily_spend"]),
        (lambda: frames.view("rejects"), ["'rejects'", "frames.scan has the tables"]),
        (lambda: frames.view("qqqq"), ["'qqqq'", "daily_spend", "usage_blocks"]),
    ],
)
def test_a_name_that_is_none_lists_those_that_are_near(
    ask: Callable[[], pl.LazyFrame], words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        ask()
    told = f"{caught.value.what}; {caught.value.hint}"
    assert [word for word in words if word not in told] == []


def test_no_warehouse_is_a_usage_error_at_once(tmp_path: Path) -> None:
    for ask, name in ((frames.scan, "usage"), (frames.scan, "raw.usage"), (frames.view, "turns")):
        with pytest.raises(UsageError, match="no warehouse at"):
            ask(name, warehouse=tmp_path / "lake")


def test_a_warehouse_with_letters_that_a_glob_reads_is_scanned_literally(tmp_path: Path) -> None:
    write_log(tmp_path / "logs", [user("hi"), assistant()])
    lake = tmp_path / "la[k]e*?"
    run_sync(tmp_path / "logs", lake)
    assert frames.scan("usage", warehouse=lake).collect().height == 1
    assert frames.scan("raw.usage", warehouse=lake).collect().height == 1
