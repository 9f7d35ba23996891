"""How long ago the last sync was, held against how soon Claude Code deletes logs."""

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from etl import config, runs
from etl.commit import Warehouse

DEFAULT_CLEANUP_DAYS = 30
_MOST_DAYS = 1_000_000
_HOUR = 3_600_000_000  # in microseconds, as all instants here
_DAY = 24 * _HOUR
_SETTINGS = ("settings.json", "settings.local.json")


@dataclass(frozen=True, slots=True)
class Freshness:
    """The last sync that ended well, and how many days Claude Code leaves for the next."""

    now: int
    last_success_at: int | None
    cleanup_days: int

    def is_stale(self) -> bool:
        """Say whether half the time that logs live has gone by without a sync."""
        if self.last_success_at is None:
            return True
        return 2 * (self.now - self.last_success_at) > self.cleanup_days * _DAY

    def words(self) -> str | None:
        """Return what a person should know, in one line; None if all is well."""
        if self.last_success_at is None:
            return "nothing was synced yet: run cclake sync"
        if is_after(self.last_success_at, self.now):
            dated = _dated(self.last_success_at)
            return f"last sync {dated}, later than now: run cclake sync to set it right"
        if not self.is_stale():
            return None
        return (
            f"last sync {_ago(self.now - self.last_success_at)} ago; Claude Code deletes logs after"
            f" {_days(self.cleanup_days)}: run cclake sync (or let it run every hour)"
        )


def freshness_of(warehouse: Warehouse) -> Freshness:
    """Return how fresh a warehouse is now, by the config directories that its last sync read."""
    told = _last_sync(warehouse).get("configs")
    configs = map(Path, told) if isinstance(told, list) else config.claude_folders()
    return Freshness(time.time_ns() // 1000, last_success(warehouse), cleanup_days(configs))


def last_run(warehouse: Warehouse) -> dict[str, Any] | None:
    """Return the note of the last run. It is not synced to disk: a power cut may take it."""
    try:
        noted = json.loads(warehouse.last_run.read_text())
    except (OSError, ValueError, RecursionError):
        return None
    return noted if isinstance(noted, dict) else None


def noted(
    warehouse: Warehouse, source: str, ended_at: int, configs: Iterable[Path] | None
) -> dict[str, Any]:
    """Return what to note of the last sync: this one, or the one before if this run is none."""
    if configs is None:
        return _last_sync(warehouse)
    return {"source": source, "ended_at": ended_at, "configs": [str(one) for one in configs]}


def last_success(warehouse: Warehouse, source: str | None = None) -> int | None:
    """Return when the last sync ended well, with news or without: of any machine, or of one."""
    last = _last_sync(warehouse)
    if isinstance(last.get("ended_at"), int) and source in {None, last.get("source")}:
        return int(last["ended_at"])
    return runs.last_end(runs.stored(warehouse), source)


def _last_sync(warehouse: Warehouse) -> dict[str, Any]:
    last = (last_run(warehouse) or {}).get("last_sync")
    return last if isinstance(last, dict) else {}


def cleanup_days(configs: Iterable[Path]) -> int:
    """Return the days after which Claude Code deletes logs: of several folders, the fewest."""
    return min(map(_days_of, filter(Path.is_dir, configs)), default=DEFAULT_CLEANUP_DAYS)


def odd_since(before: int | None, run: int, days: int) -> Iterator[str]:
    """Yield what was odd about the time between two runs."""
    if before is None:
        return
    if is_after(before, run):
        yield f"{_dated(before)}, after this run: a clock was wrong"
    elif run - before > days * _DAY:
        yield f"{_ago(run - before)} ago; logs deleted in between were never read"


def is_after(instant: int, now: int) -> bool:
    """Say whether an instant lies ahead, by more than clocks that are set right differ."""
    return instant - now > _DAY


def _days_of(folder: Path) -> int:
    # Which of the two holds depends on where Claude Code is started: the fewer days are safe.
    named = [days for name in _SETTINGS if (days := _days_in(folder / name))]
    return min(named, default=DEFAULT_CLEANUP_DAYS)


def _days_in(path: Path) -> int | None:
    """Return the days that a file of settings names; nothing Claude Code would refuse."""
    try:
        settings = json.loads(path.read_text()) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
    days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
    if isinstance(days, bool) or not isinstance(days, int | float):
        return None
    return int(min(days, _MOST_DAYS)) if days >= 1 else None


def _ago(micros: int) -> str:
    return _days(micros // _DAY) if micros >= 2 * _DAY else f"{micros // _HOUR} hours"


def _days(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"


def _dated(micros: int) -> str:
    return f"is dated {datetime.fromtimestamp(micros // 1_000_000, tz=UTC):%Y-%m-%d %H:%M} UTC"
