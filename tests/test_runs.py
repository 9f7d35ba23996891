"""The list of runs that committed."""

import json
from dataclasses import asdict

from etl.runs import with_run
from etl.step import RunSummary
from etl.tables import SYNC_RUNS

FIRST = RunSummary(
    run_id="r1",
    source="laptop",
    started_at=1_772_352_000_000_001,
    ended_at=1_772_352_000_000_002,
    files=7,
    files_read=6,
    bytes=5,
    lines=4,
    entries=3,
    rejects=2,
    problems=[("p/pipe.jsonl", "skipped: not a regular file")],
    events=[("p/日本語.jsonl", "moved")],
)


def test_the_first_run_begins_the_list() -> None:
    table = with_run(None, asdict(FIRST), "0.1.0")
    assert table.schema.equals(SYNC_RUNS.schema(), check_metadata=True)
    (row,) = table.to_pylist()
    assert {name: row[name] for name in ("run_id", "source", "version", "price_book_hash")} == {
        "run_id": "r1",
        "source": "laptop",
        "version": "0.1.0",
        "price_book_hash": None,
    }
    counts = ("files", "files_read", "bytes", "lines", "entries", "rejects")
    assert [row[name] for name in counts] == [7, 6, 5, 4, 3, 2]


def test_instants_are_kept_to_the_microsecond() -> None:
    table = with_run(None, asdict(FIRST), "0.1.0")
    for name in ("started_at", "ended_at"):
        assert table.column(name).cast("int64").to_pylist() == [getattr(FIRST, name)]


def test_what_was_odd_is_kept_as_json_events_first() -> None:
    (events,) = with_run(None, asdict(FIRST), "0.1.0").column("events").to_pylist()
    assert json.loads(events) == [
        [["p/日本語.jsonl", "moved"]],
        [["p/pipe.jsonl", "skipped: not a regular file"]],
    ]


def test_a_later_run_comes_behind_the_earlier_ones_and_changes_none() -> None:
    earlier = with_run(None, asdict(FIRST), "0.1.0")
    later = asdict(RunSummary(run_id="r2", source="desk", started_at=9))
    table = with_run(earlier, later, "0.2.0")
    assert table.slice(0, 1).equals(earlier)
    assert table.column("run_id").to_pylist() == ["r1", "r2"]
    assert table.column("version").to_pylist() == ["0.1.0", "0.2.0"]
    assert table.column("events").to_pylist()[1] == "[[],[]]"
