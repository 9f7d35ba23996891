"""The last sync against the days that Claude Code leaves its logs."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from etl.cli import main
from etl.commit import Warehouse
from etl.freshness import Freshness, cleanup_days, last_success, odd_since
from tests.sessions import PROJECT, rows, run_sync, user, write_log

DAY = 86_400_000_000
NOW = 1_772_352_000_000_000
STALE = (
    "last sync {} ago; Claude Code deletes logs after {}: "
    "run cclake sync (or let it run every hour)"
)
AHEAD = "last sync is dated 2026-03-03 08:00 UTC, later than now: run cclake sync to set it right"


def cclake(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with logs and their warehouse."""
    folder = tmp_path_factory.mktemp("freshness")
    write_log(folder / "logs", [user("hi")])
    run_sync(folder / "logs", folder / "lake")
    Warehouse(folder / "lake").last_run.rename(folder / "note.json")
    return folder


@pytest.fixture
def lake(synced: Path) -> Path:
    """The warehouse, synced just now."""
    age(synced / "lake", 0)
    return synced / "lake"


@pytest.fixture
def logs(synced: Path) -> Path:
    return synced / "logs"


def age(lake: Path, days: float) -> None:
    """Let the first run be the last, so many days ago."""
    note = json.loads((lake.parent / "note.json").read_text())
    note["last_sync"]["ended_at"] = time.time_ns() // 1000 - int(days * DAY)
    Warehouse(lake).last_run.write_text(json.dumps(note))


# ---- The days that logs live.


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ('{"cleanupPeriodDays": 10}', 10),
        ('{"cleanupPeriodDays": 10.0, "model": "opus"}', 10),
        ('{"cleanupPeriodDays": 99999}', 99_999),
        ('{"cleanupPeriodDays": 1' + "0" * 400 + "}", 1_000_000),
        ('{"cleanupPeriodDays": Infinity}', 1_000_000),
        ('{"cleanupPeriodDays": 0}', 30),
        ('{"cleanupPeriodDays": -5}', 30),
        ('{"cleanupPeriodDays": NaN}', 30),
        ('{"cleanupPeriodDays": true}', 30),
        ('{"cleanupPeriodDays": "7"}', 30),
        ('{"cleanupPeriodDays": null}', 30),
        ('{"cleanupPeriodDays": 7', 30),
        ("[7]", 30),
        ("[" * 100_000, 30),
        ("", 30),
        ("{}", 30),
    ],
)
def test_days_are_those_of_the_settings_or_30(settings: str, days: int, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(settings)
    assert cleanup_days([tmp_path]) == days


def test_of_several_files_and_folders_the_fewest_days_hold(tmp_path: Path) -> None:
    usual, other = tmp_path / "usual", tmp_path / "other"
    for folder, name, days in (
        (usual, "settings.json", 90),
        (usual, "settings.local.json", 60),
        (other, "settings.json", 80),
    ):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps({"cleanupPeriodDays": days}))
    assert cleanup_days([usual, other, tmp_path / "nowhere"]) == 60
    assert cleanup_days([other]) == 80
    assert cleanup_days([other, tmp_path]) == 30


def test_settings_that_cannot_be_read_leave_30_days(tmp_path: Path) -> None:
    (tmp_path / "settings.json").mkdir()
    (tmp_path / "settings.local.json").write_bytes(b"\xff\xfe")
    assert cleanup_days([tmp_path]) == 30


# ---- What a person is told.


def test_a_sync_is_stale_when_half_the_days_have_gone_by() -> None:
    assert not Freshness(NOW, NOW - 15 * DAY, 30).is_stale()
    assert Freshness(NOW, NOW - 15 * DAY - 1, 30).is_stale()
    assert Freshness(NOW, None, 30).is_stale()


@pytest.mark.parametrize(
    ("last", "days", "words"),
    [
        (NOW, 30, None),
        (NOW - 15 * DAY, 30, None),
        (
            NOW - 17 * DAY - 5,
            30,
            STALE.format("17 days", "30 days"),
        ),
        (
            NOW - DAY,
            1,
            STALE.format("24 hours", "1 day"),
        ),
        (NOW + DAY, 30, None),
        (
            NOW + 2 * DAY,
            30,
            AHEAD,
        ),
        (None, 30, "nothing was synced yet: run cclake sync"),
    ],
)
def test_a_person_is_told_in_one_line(last: int | None, days: int, words: str | None) -> None:
    assert Freshness(NOW, last, days).words() == words


def test_a_query_and_sessions_say_it_on_stderr_alone(logs: Path, lake: Path) -> None:
    asked = (["query", "select 1 as one", "--format", "json"], ["sessions"])
    fresh = [cclake(*arguments, "--warehouse", lake) for arguments in asked]
    assert [one.stderr for one in fresh] == ["", ""]
    age(lake, 17.5)
    for arguments, before in zip(asked, fresh, strict=True):
        stale = cclake(*arguments, "--warehouse", lake)
        assert (stale.exit_code, stale.stdout) == (0, before.stdout)
        assert stale.stderr.startswith("last sync 17 days ago; Claude Code deletes logs after 30")
        assert stale.stderr.count("\n") == 1
    run_sync(logs, lake)
    assert cclake(*asked[0], "--warehouse", lake).stderr == ""


def test_settings_are_those_of_the_folders_that_were_read(
    logs: Path, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    was_read, usual = tmp_path / "read", tmp_path / "usual"
    for folder, days in ((was_read, 100), (usual, 40)):
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({"cleanupPeriodDays": days}))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(usual))
    note = json.loads(Warehouse(lake).last_run.read_text())
    assert note["last_sync"]["configs"] == [str(logs)]
    note["last_sync"]["configs"] = [str(was_read)]
    Warehouse(lake).last_run.write_text(json.dumps(note))
    assert status(lake)["cleanup_days"] == 100
    Warehouse(lake).last_run.unlink()
    assert status(lake)["cleanup_days"] == 40


def status(lake: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cclake("status", "--json", "--warehouse", lake).stdout)
    return found


def test_status_tells_how_fresh_it_is(lake: Path) -> None:
    fresh = status(lake)
    assert (fresh["is_stale"], fresh["cleanup_days"], fresh["advice"]) == (False, 30, None)
    assert fresh["last_success_at"].endswith("+00:00")
    age(lake, 20)
    stale = status(lake)
    assert (stale["is_stale"], stale["advice"][:21]) == (True, "last sync 20 days ago")
    assert stale["last_success_at"] < fresh["last_success_at"]
    told = cclake("status", "--warehouse", lake).stdout
    assert "logs live       30 days, then Claude Code deletes them\n" in told
    assert "advice          last sync 20 days ago" in told


def test_status_shows_the_first_problems_of_a_run_that_had_no_news(logs: Path, lake: Path) -> None:
    links = [logs / "projects" / PROJECT / f"{name}.jsonl" for name in "abcde"]
    for link in links:
        link.symlink_to("nowhere")
    assert not run_sync(logs, lake).is_committed
    for link in links:
        link.unlink()
    told = cclake("status", "--warehouse", lake).stdout
    assert "problems        5 in the last run\n" in told
    assert told.count(".jsonl: skipped: not a regular file\n") == 3


# ---- The last success.


def test_a_run_without_news_counts_too(logs: Path, lake: Path) -> None:
    age(lake, 40)
    assert not run_sync(logs, lake).is_committed
    last = last_success(Warehouse(lake))
    assert last is not None
    assert last > time.time_ns() // 1000 - DAY


def test_without_a_note_it_is_the_last_run_that_committed(logs: Path, lake: Path) -> None:
    run_sync(logs, lake, source="desk")
    place = Warehouse(lake)
    ends = dict(rows(lake, "select source, epoch_us(ended_at) from sync_runs"))
    for note in (None, "{torn", "[]", '{"last_sync": {"ended_at": "soon"}}', "[" * 100_000):
        place.last_run.unlink()
        if note:
            place.last_run.write_text(note)
        assert last_success(place) == ends["desk"]
        assert last_success(place, "laptop") == ends["laptop"] < ends["desk"]
        assert last_success(place, "nobody") is None
        place.last_run.touch()


def test_a_warehouse_without_a_run_has_none(tmp_path: Path) -> None:
    Warehouse(tmp_path).create_folders()
    assert last_success(Warehouse(tmp_path)) is None


# ---- The time between two runs.


@pytest.mark.parametrize(
    ("before", "odd"),
    [
        (None, []),
        (NOW - 30 * DAY, []),
        (NOW - 45 * DAY, ["45 days ago; logs deleted in between were never read"]),
        (NOW + DAY, []),
        (NOW + 2 * DAY, ["is dated 2026-03-03 08:00 UTC, after this run: a clock was wrong"]),
    ],
)
def test_a_gap_longer_than_logs_live_is_odd(before: int | None, odd: list[str]) -> None:
    assert list(odd_since(before, NOW, 30)) == odd


def test_a_sync_after_too_long_a_gap_tells_it_and_keeps_it_as_an_event(
    logs: Path, lake: Path
) -> None:
    age(lake, 45)
    write_log(logs, [user("ho", "u2", sessionId="late")], "-home-ada-kiln/late.jsonl")
    arguments = ("--logs", logs, "--warehouse", lake, "--source", "laptop")
    result = cclake("sync", *arguments)
    assert result.exit_code == 0
    words = "45 days ago; logs deleted in between were never read"
    assert f"last sync: {words}\n" in result.stderr
    assert rows(lake, "select path, what, is_problem from sync_events") == [
        ("last sync", words, False)
    ]


def test_the_gap_is_that_of_the_machine_that_syncs(logs: Path, lake: Path) -> None:
    age(lake, 45)
    assert run_sync(logs, lake, source="tower").events == []
