"""The books of a damaged commit: whole ones stay, for others older ones, and what that costs."""

from pathlib import Path

import pytest

from tests.ruins import Ruin, files_of, mend
from tests.sessions import PROJECT, append, rows, run_sync, user, value, write_log
from tests.tampering import flip_a_bit


@pytest.mark.slow
def test_runs_are_taken_from_the_commit_before_and_the_last_is_told(
    ruin: Ruin, tmp_path: Path
) -> None:
    lake = ruin.anew(tmp_path)
    flip_a_bit(files_of(lake, "sync_runs")[0])
    report = mend(lake)
    assert [(one.path, one.what) for one in report.lost] == [("sync_runs", "rows since then: 1")]
    kinds = "select string_agg(kind, ' ' order by started_at) from sync_runs"
    assert value(lake, kinds) == "sync sync sync repair"
    assert ruin.differences(lake) == {}


@pytest.mark.slow
@pytest.mark.parametrize("table", ["prompt_history", "session_index", "daily_stats"])
def test_a_file_around_the_logs_that_is_gone_loses_what_no_older_commit_has(
    ruin: Ruin, tmp_path: Path, table: str
) -> None:
    lake = ruin.anew(tmp_path)
    flip_a_bit(files_of(lake, table)[0])
    path = {
        "prompt_history": ruin.laptop / "history.jsonl",
        "session_index": ruin.log(f"{PROJECT}/sessions-index.json"),
        "daily_stats": ruin.laptop / "stats-cache.json",
    }[table]
    with ruin.gone(path):
        report = mend(lake, ruin.laptop)
        told = ruin.differences(lake)
    assert [one.path for one in report.lost] == [str(path)]
    assert told.pop("source_files")
    assert set(told) == {table}


def with_generations(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("one"), b"\n"])
    run_sync(logs, lake)
    write_log(logs, [user("two", "u2")])
    run_sync(logs, lake)
    append(log, user("three", "u3"))


@pytest.mark.slow
def test_generations_that_ended_are_worked_out_again(logs: Path, lake: Path) -> None:
    with_generations(logs, lake)
    told = 'select generation, "offset", line_count from past_generations'
    before = rows(lake, told)
    flip_a_bit(files_of(lake, "past_generations")[0])
    report = mend(lake, logs)
    assert (report.lost, report.exit_code()) == ([], 0)
    size = before[0][1] - 1  # The blank line at its end is in no row.
    assert rows(lake, told) == [(0, size, 1)]


@pytest.mark.slow
def test_an_older_generation_in_a_damaged_file_is_lost_and_accounted_for(
    logs: Path, lake: Path
) -> None:
    with_generations(logs, lake)
    flip_a_bit(files_of(lake, "entries")[0])
    report = mend(lake, logs)
    (loss,) = report.lost
    assert (loss.what, loss.lines) == ("lines that are lost", 2)
    assert "(generation 0)" in loss.path
    assert value(lake, "select blank_bytes from past_generations") == 0
    assert rows(lake, "select generation, reason from rejects") == [(0, "lost")]
    assert value(lake, "select count(*) from raw.entries") == 2
    assert mend(lake, logs).wrong == []
