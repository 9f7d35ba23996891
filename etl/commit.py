"""The commit: all tables and the offsets together, in one durable step, or nothing.

The order of the steps is the promise: files are synced, then their folder; the commit document
is synced, then linked under its number, which fails if the number is taken; then its folder.
Recovery has no decision to make: a commit file exists or it does not.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from etl.errors import BusyError, StateError, StorageError
from etl.write import WrittenFile, sync_descriptor

FORMAT = 1
KEPT_COMMITS = 3
KEPT_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One Parquet file of a commit: which part and segment of which table it is."""

    table: str
    name: str
    rows: int
    size: int
    content_hash: str
    source: str | None = None
    month: str | None = None
    part: int | None = None
    segment: int = 0
    raw_bytes: int = 0

    def published_path(self) -> str:
        """Return the stable name under which readers find the file."""
        if self.part is None:
            return f"{self.table}/{self.table}.parquet"
        segment = f"-s{self.segment:02d}" if self.segment else ""
        place = f"source={self.source}/month={self.month}"
        return f"{self.table}/{place}/part-{self.part:04d}{segment}.parquet"


@dataclass(frozen=True, slots=True)
class State:
    """What one commit says the warehouse holds. Number 0 is a warehouse before its first."""

    number: int = 0
    files: tuple[StoredFile, ...] = ()
    sha256: str = ""


# A forked worker inherits the descriptor, and with it the lock, which would outlive the run.
_LOCKS: set[int] = set()


def let_go_of_locks() -> None:
    """Close what a forked process inherited; the lock stays with the one that took it."""
    while _LOCKS:
        os.close(_LOCKS.pop())


class Warehouse:
    """A warehouse's folders and the steps that change them."""

    def __init__(self, folder: Path) -> None:
        """Name the folders; nothing is touched."""
        self.folder = folder
        self.store = folder / "_store"
        self.commits = self.store / "commits"
        self.files = self.store / "files"
        self.published = self.store / "published"
        self.staging = self.store / "staging"
        self.current = folder / "current"
        self.last_run = self.store / "last_run.json"

    def exists(self) -> bool:
        """Say whether there is a warehouse here at all."""
        return self.commits.is_dir()

    def create_folders(self) -> None:
        """Make the folders that are missing, for the owner alone."""
        if self.staging.is_dir():
            return
        for folder in (self.folder, self.store):
            folder.mkdir(mode=0o700, parents=folder == self.folder, exist_ok=True)
        for folder in (self.commits, self.files, self.published, self.staging):
            folder.mkdir(mode=0o700, exist_ok=True)
        for folder in (self.store, self.folder, self.folder.parent):
            _sync_folder(folder)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the warehouse alone. The kernel lets the lock go when the process ends."""
        descriptor = os.open(self.store / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise BusyError(
                f"another sync is at work on '{self.folder}'",
                hint="wait for it to end; nothing was changed",
            ) from None
        _LOCKS.add(descriptor)
        # Nothing that is written while the lock is held is for anybody else to read.
        mask = os.umask(0o077)
        try:
            yield
        finally:
            os.umask(mask)
            _LOCKS.discard(descriptor)
            os.close(descriptor)

    def load(self) -> State:
        """Read the newest commit and refuse it if it cannot be trusted."""
        numbers = self.commit_numbers()
        if not numbers:
            return State()
        return self.read_commit(numbers[-1])

    def commit_numbers(self) -> list[int]:
        """Return the numbers of the commits that are kept, oldest first."""
        return sorted(
            int(path.stem) for path in self.commits.glob("*.json") if path.stem.isdecimal()
        )

    def read_commit(self, number: int) -> State:
        """Read one commit: its own hash, its format, and its files' presence and size."""
        path = self._commit_path(number)
        document = _document_of(path)
        state = State(
            number, tuple(StoredFile(**one) for one in document["files"]), str(document["sha256"])
        )
        for file in state.files:
            stored = self.files / file.name
            if not stored.is_file() or stored.stat().st_size != file.size:
                raise StateError(
                    f"'{stored}', which commit {number} names, is missing or cut",
                    hint="restore the file from a backup, or sync into a new warehouse",
                )
        return state

    def recover(self, state: State) -> None:
        """Clear away what an interrupted run left behind, and publish what it had committed."""
        _sync_folder(self.commits)
        _sync_folder(self.files)
        for left in self.staging.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        self._drop_unnamed_files()
        if state.number and not self.is_published(state):
            self.publish(state)

    def is_published(self, state: State) -> bool:
        """Say whether readers see this commit."""
        target = self.published / f"{state.number:010d}"
        return (
            target.is_dir()
            and self.current.is_symlink()
            and (self.current.readlink().name == target.name)
        )

    def commit(
        self, before: State, files: Iterable[StoredFile], fresh: Iterable[WrittenFile], run: object
    ) -> State:
        """Make the next commit durable; afterwards it is there, whatever happens."""
        for file in fresh:
            (self.staging / file.name).rename(self.files / file.name)
        _sync_folder(self.files)
        number = before.number + 1
        document = {
            "format": FORMAT,
            "number": number,
            "parent_sha256": before.sha256,
            "run": run,
            "files": [asdict(file) for file in files],
        }
        sha256 = hashlib.sha256(orjson.dumps(document)).hexdigest()
        staged = self.staging / f"commit-{number:010d}"
        _write_durably(staged, orjson.dumps(document | {"sha256": sha256}))
        try:
            os.link(staged, self._commit_path(number))
        except FileExistsError:
            raise BusyError(
                f"another run made commit {number} of '{self.folder}' first",
                hint="run the sync again; nothing was changed",
            ) from None
        _sync_folder(self.commits)
        staged.unlink()
        return self.read_commit(number)

    def snapshot(self) -> Path | None:
        """Return the newest published tree of the commits, checked; None if there is none yet."""
        if not self.load().number:
            return None
        # `current` is a name for people; what it leads to is found without it, too.
        for number in reversed(self.commit_numbers()):
            tree = self.published / f"{number:010d}"
            if tree.is_dir():
                return tree.resolve()
        raise StateError(
            f"'{self.published}' shows no commit", hint="run cclake sync, which publishes it again"
        )

    def publish(self, state: State) -> None:
        """Show a commit to readers: a tree of hard links with stable names, then `current`."""
        name = f"{state.number:010d}"
        tree = self.staging / f"tree-{name}"
        folders: set[Path] = set()
        for file in state.files:
            target = tree / file.published_path()
            if target.parent not in folders:
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                folders.add(target.parent)
            os.link(self.files / file.name, target)
        shutil.rmtree(self.published / name, ignore_errors=True)
        tree.mkdir(mode=0o700, exist_ok=True)
        tree.rename(self.published / name)
        swap = self.staging / "current"
        swap.symlink_to(Path("_store") / "published" / name)
        swap.rename(self.current)
        _sync_folder(self.folder)

    def retire(self, now_seconds: float) -> None:
        """Drop commits that are past both the kept number and the kept time."""
        for number in self.commit_numbers()[:-KEPT_COMMITS]:
            path = self._commit_path(number)
            if now_seconds - path.stat().st_mtime < KEPT_SECONDS:
                continue
            shutil.rmtree(self.published / f"{number:010d}", ignore_errors=True)
            path.unlink()
        self._drop_unnamed_files()

    def note_run(self, summary: object) -> None:
        """Keep what the last run saw, for status. Derived, so not synced."""
        staged = self.staging / "last_run.json"
        staged.write_bytes(orjson.dumps(summary, option=orjson.OPT_INDENT_2))
        staged.chmod(0o600)
        staged.rename(self.last_run)

    def _drop_unnamed_files(self) -> None:
        named = {
            str(file["name"])
            for number in self.commit_numbers()
            for file in _document_of(self._commit_path(number))["files"]
        }
        for path in self.files.iterdir():
            if path.name not in named:
                path.unlink()

    def _commit_path(self, number: int) -> Path:
        return self.commits / f"{number:010d}.json"


def _document_of(path: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = orjson.loads(path.read_bytes())
        is_newer = document["format"] > FORMAT
        stated = document.pop("sha256")
        is_whole = hashlib.sha256(orjson.dumps(document)).hexdigest() == stated
    except (ValueError, KeyError, AttributeError, TypeError):
        is_newer = is_whole = False
    if is_newer:
        raise StateError(
            f"'{path}' was written by a newer cclake (format {document['format']})",
            hint="install the newer version; nothing was changed",
        )
    if not is_whole:
        raise StateError(
            f"commit file '{path}' is damaged",
            hint="restore it from a backup, or sync into a new warehouse",
        )
    return document | {"sha256": stated}


def _write_durably(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as sink:
        sink.write(content)
        sink.flush()
        sync_descriptor(sink.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync_descriptor(descriptor)
    except OSError as error:
        raise StorageError(
            f"cannot make '{folder}' durable: {error.strerror}", hint="look at the disk"
        ) from error
    finally:
        os.close(descriptor)
