"""What can stand where a log is looked for: locked, of another kind, a link, oddly named, deep."""

import json
import os
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from etl.config import Settings
from etl.pipeline import sync
from etl.step import RunSummary
from tests.faults.coverage import flaws_of, ledger_of, stored_rows
from tests.faults.forked import exit_code_of
from tests.faults.tally import Tally
from tests.sessions import PROJECT, SESSION, append, rows, run_sync, user, write_log

OTHER = "22222222-2222-4222-8222-222222222222"
NOBODY = 65534
MOUNT, UMOUNT = "/bin/mount", "/bin/umount"
KIND = "skipped: not a regular file"


def uuids_of(lake: Path) -> list[str]:
    return sorted(uuid for (uuid,) in stored_rows(lake, "entries", "uuid"))


# ---- Locked.


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that every user of the machine can come to, and one of them owns."""
    place = Path(tempfile.mkdtemp(prefix="life-"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


def become_nobody(place: Path) -> None:
    """Root may read anything, so it gives the place away and becomes somebody else."""
    if os.geteuid() != 0:
        return
    run_sync(place / "spare", place / "spare")  # Nobody may not be let to our libraries.
    for path in [place, *place.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def syncs_of_nobody(place: Path, notes: Path) -> None:
    """Lock a log and a folder, sync, open them, sync, lock the folder again, sync."""
    log, folder = place / "logs/projects" / PROJECT / "locked.jsonl", place / "logs/projects/-shut"
    become_nobody(place)
    told = []
    for log_mode, folder_mode in ((0, 0), (0o600, 0o700), (0o600, 0)):
        log.chmod(log_mode)
        folder.chmod(folder_mode)
        run = run_sync(place / "logs", place / "lake")
        told.append([run.exit_code(), run.problems, run.events, uuids_of(place / "lake")])
    notes.write_text(json.dumps(told))


def test_a_locked_log_and_a_locked_folder_are_told_and_read_once_they_are_open(
    open_place: Path, tally: Tally
) -> None:
    tally.injected += 3
    for path in (f"{PROJECT}/{SESSION}", f"{PROJECT}/locked", "-shut/s"):
        write_log(open_place / "logs", [user("hi", path)], f"{path}.jsonl")
    write_log(open_place / "spare", [user("hi")])
    notes = open_place / "notes.json"
    assert exit_code_of(syncs_of_nobody, open_place, notes) == 0
    shut = [str(open_place / "logs/projects/-shut"), "cannot list: Permission denied"]
    locked = [f"{PROJECT}/locked.jsonl", "cannot read: Permission denied"]
    free = f"{PROJECT}/{SESSION}"
    everything = [free, f"{PROJECT}/locked", "-shut/s"]
    assert json.loads(notes.read_text()) == [
        [1, [shut, locked], [], [free]],
        [0, [], [], everything],
        [1, [shut], [], everything],  # What cannot be seen is not gone.
    ]
    assert list(flaws_of(open_place / "lake")) == []


# ---- Not a file, or not here.


def test_what_is_no_regular_file_is_told_and_never_waited_for(
    logs: Path, lake: Path, tmp_path: Path, tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = write_log(logs, [user("hi")])
    outside = write_log(tmp_path / "outside", [user("secret", "u9")])
    place = log.parent
    os.mkfifo(place / "pipe.jsonl")
    (place / "folder.jsonl").mkdir()
    (place / "inside.jsonl").symlink_to(log.name)
    (place / "outside.jsonl").symlink_to(outside)
    (place / "circle.jsonl").symlink_to("circle.jsonl")
    (place / "linked").symlink_to(outside.parent)
    (place / "around").symlink_to(place)
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(place)  # A socket's name may be no longer than a hundred bytes.
        listener.bind("socket.jsonl")
    odd = ["circle", "inside", "outside", "pipe", "socket"]
    if os.geteuid() == 0:
        os.mknod(place / "device.jsonl", stat.S_IFCHR | 0o600, os.makedev(1, 5))
        odd.insert(1, "device")
    tally.injected += len(odd) + 3
    for _ in range(2):
        run = run_sync(logs, lake)
        assert run.exit_code() == 1
        assert [(Path(path).stem, what) for path, what in run.problems] == [
            (name, KIND) for name in odd
        ]
        links = [
            Path(path).name for path, what in run.events if what == "skipped: a link to a folder"
        ]
        assert links == ["around", "linked"]
        assert uuids_of(lake) == ["u1"]


def synced(roots: list[Path], lake: Path) -> RunSummary:
    return sync(Settings(tuple(roots), lake, "laptop", 1))


@pytest.mark.parametrize("how", ["link", "bind"])
def test_two_roots_that_show_one_folder_are_one_source(
    how: str, logs: Path, lake: Path, tmp_path: Path, tally: Tally
) -> None:
    tally.injected += 1
    log = write_log(logs, [user("hi")])
    again = tmp_path / "again"
    if how == "link":
        again.symlink_to(logs / "projects")
    else:
        again.mkdir()
        mount = [MOUNT, "--bind", str(logs / "projects"), str(again)]
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
        if mounted.returncode:
            pytest.skip(f"cannot bind a folder: {mounted.stderr.strip()}")
    try:
        first = synced([logs / "projects", again], lake)
        append(log, user("ho", "u2"))
        second = synced([again, logs / "projects"], lake)
    finally:
        if how == "bind":
            subprocess.run([UMOUNT, str(again)], check=True)
    for run in (first, second):
        assert (run.exit_code(), run.files) == (0, 1)
        assert [what.partition(" '")[0] for _, what in run.events] == ["same file as"]
    assert uuids_of(lake) == ["u1", "u2"]
    assert [row.generation for row in ledger_of(lake)] == [0]
    assert list(flaws_of(lake)) == []


# ---- Odd names, and many.

NAMES = (
    "new\nline",
    "quo'te\"",
    "*?[a]",
    "..a",
    "-x; drop table usage",
    "\u202eright to left\u2067",
    "\x1b[31mred",
    "%s{0}$HOME",
    "n" * 249,
)


def test_logs_of_any_name_are_followed_like_others(logs: Path, lake: Path, tally: Tally) -> None:
    tally.injected += len(NAMES) + 1
    paths = [
        write_log(logs, [user("hi", f"u{n}")], f"{name}/{name}.jsonl")
        for n, name in enumerate(NAMES)
    ]
    with open(os.fsencode(logs) + b"/projects/" + PROJECT.encode() + b"\xff.jsonl", "wb"):  # noqa: PTH123 - bytes
        pass
    assert run_sync(logs, lake).entries == len(NAMES)
    for n, path in enumerate(paths):
        append(path, user("ho", f"v{n}"))
    run = run_sync(logs, lake)
    assert (run.exit_code(), run.lines, run.events) == (0, len(NAMES), [])
    found = {row.path: row.session_id for row in ledger_of(lake)}
    assert found == {f"{name}/{name}.jsonl": name for name in NAMES}
    sql = "select session_id from sessions order by all"
    assert [session for (session,) in rows(lake, sql)] == sorted(NAMES)


def test_a_log_twenty_folders_deep_is_followed(logs: Path, lake: Path, tally: Tally) -> None:
    tally.injected += 1
    below = "/".join(f"f{n}" for n in range(18))
    log = write_log(logs, [user("hi")], f"{PROJECT}/{SESSION}/{below}/notes.jsonl")
    run_sync(logs, lake)
    append(log, user("ho", "u2"))
    assert run_sync(logs, lake).lines == 1
    assert uuids_of(lake) == ["u1", "u2"]
