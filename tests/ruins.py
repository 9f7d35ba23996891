"""A warehouse with one of everything, and what its tables say, to hold beside another."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

from etl import tasks, views
from etl.build import PartTask
from etl.chain import StoredFile
from etl.check import check
from etl.commit import Warehouse
from etl.config import Settings
from etl.prices import shipped
from etl.repair import Report, repair
from etl.reread import read_again
from etl.tables import ALL_TABLES, LOGICAL, SYNC_RUNS
from tests.sessions import PROJECT, Line, append, assistant, run_sync, tool_use, user, write_log
from tests.trees import TREE

APRIL = "55555555-5555-4555-8555-555555555555"
PHONE = "66666666-6666-4666-8666-666666666666"
_CLOCKS = frozenset({"first_seen_at", "ended_at", "gone_at", "ctime_ns"})
Picture = dict[str, Counter[str]]


@contextmanager
def small_segments() -> Iterator[None]:
    """Let every sync begin a new segment of the parts it adds to."""
    with patch.object(tasks, "PartTask", partial(PartTask, segment_bytes=1)):
        yield


def typed(display: str) -> Line:
    return {"display": display, "timestamp": 1_772_352_000_000, "project": "/work"}


def around(logs: Path, *days: str) -> None:
    """Write the files around the logs; a later state has more days and sessions."""
    append(logs / "history.jsonl", typed(days[-1]))
    told = [{"date": f"2026-03-0{day}", "messageCount": int(day)} for day in days]
    (logs / "stats-cache.json").write_text(json.dumps({"version": 2, "dailyActivity": told}))
    entries = [{"sessionId": f"s{day}", "firstPrompt": f"Ask {day}"} for day in days]
    index = logs / "projects" / PROJECT / "sessions-index.json"
    index.write_text(json.dumps({"entries": entries}))


def write_trees(folder: Path) -> tuple[Path, Path]:
    """Write the logs of two machines: sessions of two months, agents, sidecars, odd lines."""
    laptop, phone = folder / "laptop", folder / "phone"
    for path, content in TREE.items():
        target = laptop / "projects" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    in_april = {"sessionId": APRIL, "timestamp": "2026-04-01T08:00:00.000Z"}
    write_log(laptop, [user("April", "p1") | in_april], f"{PROJECT}/{APRIL}.jsonl")
    write_log(phone, [user("Hello", "h1") | {"sessionId": PHONE}], f"{PROJECT}/{PHONE}.jsonl")
    around(laptop, "1")
    return laptop, phone


def add_more(laptop: Path, phone: Path) -> None:
    """Let every machine write on."""
    more: list[Line | bytes] = [
        user("Noch eins", "u8", 300),
        assistant(tool_use("toolu_8"), uuid="a8", second=301, message_id="msg_8a"),
        b"\n",
        b"nonsense\n",
    ]
    for log in sorted((laptop / "projects").rglob("*.jsonl")):
        if log.stat().st_size:
            append(log, *more)
    append(phone / "projects" / PROJECT / f"{PHONE}.jsonl", *more)
    around(laptop, "1", "2")


def warehouse_of(folder: Path) -> tuple[Path, Path, Path]:
    """Sync two machines twice, so that parts have two segments, and there are four commits."""
    laptop, phone = write_trees(folder)
    lake = folder / "lake"
    with small_segments():
        for step in range(2):
            run_sync(laptop, lake)
            run_sync(phone, lake, source="phone")
            if not step:
                add_more(laptop, phone)
    return laptop, phone, lake


def fresh(folder: Path, *logs: tuple[Path, str]) -> Path:
    """Sync the same logs into a warehouse of their own."""
    lake = folder / "fresh"
    for root, source in logs:
        run_sync(root, lake, source=source)
    return lake


def picture(lake: Path) -> Picture:
    """Return the rows of every table, without clocks; of physical ones, not of views."""
    logical = {table.name for table in LOGICAL}
    told: Picture = {}
    with closing(views.connect(Warehouse(lake), time_zone="UTC")) as con:
        for table in ALL_TABLES:
            if table == SYNC_RUNS:
                continue
            names = [name for name in table.names() if name not in _CLOCKS | {"part"}]
            place = f"raw.{table.name}" if table.name in logical else table.name
            columns = ", ".join(f'"{name}"' for name in names)
            rows = con.sql(f"select {columns} from {place}").to_arrow_table()  # noqa: S608
            told[table.name] = Counter(map(repr, rows.to_pylist()))
    return told


def differences(one: Picture, other: Picture) -> dict[str, tuple[int, int]]:
    """Return by table how many rows only the first has, and how many only the other."""
    return {
        name: ((one[name] - other[name]).total(), (other[name] - one[name]).total())
        for name in one
        if one[name] != other[name]
    }


def mend(
    lake: Path, *logs: Path, to: int | None = None, source: str = "laptop", is_dry: bool = False
) -> Report:
    """Repair, and sync as the command does."""
    warehouse = Warehouse(lake)
    report = repair(warehouse, shipped(), to=to, is_dry=is_dry)
    roots = tuple(one / "projects" for one in logs)
    if report.wrong and not (is_dry or report.asks):
        read_again(warehouse, report, Settings(roots, lake, source, 1, logs))
    return report


def errors(lake: Path) -> list[tuple[str, str, str]]:
    """Return what a deep check says is wrong."""
    report = check(Warehouse(lake), deep=True)
    return [(one.check, one.where, one.what) for one in report.findings if one.severity == "error"]


def files_of(lake: Path, table: str) -> list[Path]:
    """Return the stored files of a table, in order of part and segment."""
    warehouse = Warehouse(lake)
    return [warehouse.files / one.name for one in stored(lake) if one.table == table]


def stored(lake: Path) -> list[StoredFile]:
    """Return the files of the newest commit."""
    files = Warehouse(lake).load().files
    return sorted(files, key=lambda one: (one.part or 0, one.segment, one.table))


def document(lake: Path, number: int) -> Path:
    return Warehouse(lake).commits / f"{number:010d}.json"


def copy_of(folder: Path, target: Path) -> Path:
    """Copy a warehouse with its hard links, which a plain copy would part, and its modes."""
    linked: dict[int, Path] = {}
    target.mkdir(mode=0o700, parents=True)
    for path in sorted(folder.rglob("*")):
        to = target / path.relative_to(folder)
        if path.is_symlink():
            to.symlink_to(path.readlink())
        elif path.is_dir():
            to.mkdir(mode=0o700)
        elif path.stat().st_ino in linked:
            os.link(linked[path.stat().st_ino], to)
        else:
            shutil.copy(path, to)
            linked[path.stat().st_ino] = to
    return target


class Ruin:
    """A warehouse that can be damaged, its logs, and what its tables said before."""

    def __init__(self, folder: Path) -> None:
        self.laptop, self.phone, self._whole = warehouse_of(folder)
        self.before = picture(self._whole)
        self._folder = folder

    def anew(self, folder: Path) -> Path:
        return copy_of(self._whole, folder / "lake")

    def log(self, path: str) -> Path:
        return self.laptop / "projects" / path

    @contextmanager
    def gone(self, *logs: Path) -> Iterator[None]:
        """Take logs away for as long as a test lasts."""
        aside = self._folder / "aside"
        aside.mkdir(exist_ok=True)
        for number, log in enumerate(logs):
            log.rename(aside / str(number))
        try:
            yield
        finally:
            for number, log in enumerate(logs):
                (aside / str(number)).rename(log)

    def differences(self, lake: Path) -> dict[str, tuple[int, int]]:
        """Return what is not as it was, once a deep check has nothing to say."""
        assert errors(lake) == []
        return differences(self.before, picture(lake))
