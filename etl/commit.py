"""The commit: all tables and the offsets together, in one durable step, or nothing.

The order of the steps is the promise: files are synced, then their folder; the commit document
is synced, then linked under its number, which fails if the number is taken; then its folder.
Recovery has no decision to make: a commit file exists or it does not.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import uuid4

from etl import chain, lock, stopping
from etl.chain import State, StoredFile
from etl.errors import BusyError, StateError, StorageError, UsageError
from etl.jsontext import indented
from etl.write import WrittenFile, sync_descriptor

KEPT_COMMITS = 3
KEPT_SECONDS = 3600
# Where the lock keeps nobody out, only age tells what a run left from what one is writing.
_ORPHAN_SECONDS = 86_400


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
        self.damaged = self.store / "damaged"  # what a repair moved aside
        self.current = folder / "current"
        self.last_run = self.store / "last_run.json"
        self._is_alone = True

    def exists(self) -> bool:
        """Say whether there is a warehouse here at all."""
        return self.commits.is_dir()

    def refuse_if_missing(self) -> None:
        """Refuse to ask a warehouse that there is none of."""
        if not self.exists():
            raise UsageError(
                f"no warehouse at '{self.folder}'",
                hint="run cclake sync first, or name another with --warehouse DIR",
            )

    def create_folders(self) -> None:
        """Make the folders that are missing, for the owner alone."""
        if self.staging.is_dir():
            return
        above = [one for one in (self.folder, *self.folder.parents) if not one.exists()]
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.store, self.commits, self.files, self.published, self.staging):
            folder.mkdir(mode=0o700, exist_ok=True)
        for folder in above:
            _sync_folder(folder.parent)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the warehouse alone. The kernel lets the lock go when the process ends."""
        with lock.held(self.store / "lock") as self._is_alone:
            # Nothing that is written while the lock is held is for anybody else to read.
            mask = os.umask(0o077)
            try:
                yield
            finally:
                os.umask(mask)

    def load(self) -> State:
        """Read the newest commit and refuse it if it, or a file of it, cannot be trusted."""
        return self._newest(self.read_commit)

    def load_document(self) -> State:
        """Read the newest commit and refuse it if its document cannot be trusted."""
        return self._newest(partial(chain.read, self.commits))

    def _newest(self, read: Callable[[int], State]) -> State:
        while True:
            shown = self._newest_shown()  # Before the commits, or one made meanwhile is missed.
            numbers = self.commit_numbers()
            try:
                self._refuse_lost_commit(shown, max(numbers, default=0))
                state = read(numbers[-1]) if numbers else State()
                chain.refuse_gaps(self.commits, numbers, state)
            except (FileNotFoundError, StateError):
                if self.commit_numbers() == numbers:
                    raise
                # Another run has retired meanwhile what was looked at: look at what there is now.
            else:
                return state

    def commit_numbers(self) -> list[int]:
        """Return the numbers of the commits that are kept, oldest first."""
        return chain.numbers_in(self.commits)

    def read_commit(self, number: int) -> State:
        """Read one commit: its own hash, its format, and its files' presence and size."""
        state = chain.read(self.commits, number)
        self._refuse_missing(state)
        return state

    def _refuse_missing(self, state: State) -> None:
        for file in state.files:
            if not self.holds(file):
                named = f"'{self.files / file.name}', which commit {state.number} names,"
                raise StateError(
                    f"{named} is missing or cut",
                    hint="cclake check names all that is wrong; cclake repair mends it",
                )

    def holds(self, file: StoredFile) -> bool:
        """Say whether a stored file is there with its size."""
        stored = self.files / file.name
        return stored.is_file() and stored.stat().st_size == file.size

    def recover(self, state: State) -> int:
        """Clear away what an interrupted run left behind, and publish what it had committed.

        Return how many leftovers there were.
        """
        # Whatever a run before this one did not come to: no fsync of its is relied upon.
        above = () if state.number else (self.store, self.folder, self.folder.parent)
        for folder in (self.commits, self.files, *above):
            _sync_folder(folder)
        cleared = self.clear_staging() + self._drop_unnamed_files()
        if state.number and not self.is_published(state):
            self.publish(state)
        if state.forgets:
            self._retire_all_before(state)
        return cleared

    def clear_staging(self) -> int:
        """Empty the folder in which runs prepare their files; return how many things lay there."""
        left = [path for path in self.staging.iterdir() if self._is_left_behind(path)]
        for path in left:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return len(left)

    def tree_of(self, state: State) -> Path:
        """Return where readers find the files of a commit, once it is published."""
        return self.published / chain.name_of(state.number)

    def is_published(self, state: State) -> bool:
        """Say whether readers see this commit, all of it."""
        target = self.tree_of(state)
        return (
            self.current.is_symlink()
            and self.current.readlink().name == target.name
            and sum(path.is_file() for path in target.rglob("*.parquet")) == len(state.files)
        )

    def commit(
        self,
        before: State,
        files: Iterable[StoredFile],
        fresh: Iterable[WrittenFile],
        run: object,
        *,
        forgets: bool = False,
    ) -> State:
        """Make the next commit durable; afterwards it is there, whatever happens.

        Where it forgets, no earlier commit outlives the time when it is shown.
        """
        self._move_in(fresh)
        number = before.number + 1
        after = replace(before, number=number, files=tuple(files), parent_sha256=before.sha256)
        after, document = chain.written(replace(after, forgets=forgets), run)
        staged = self.staging / f"commit-{uuid4().hex}"
        _write_durably(staged, document)
        stopping.wait()
        try:
            os.link(staged, self.commits / f"{chain.name_of(number)}.json")
        except FileExistsError:
            raise self._outrun(number) from None
        _sync_folder(self.commits)
        return after

    def snapshot(self) -> Path | None:
        """Return the newest published tree of the commits, checked; None if there is none yet."""
        state = self.load()
        if not state.number:
            return None
        if state.format < chain.FORMAT:
            raise StateError(
                f"the warehouse at '{self.folder}' was written by an older cclake",
                hint="run cclake sync, which upgrades it",
            )
        # `current` is a name for people; what it leads to is found without it, too.
        for number in reversed(self.commit_numbers()):
            tree = self.published / chain.name_of(number)
            if tree.is_dir():
                return tree.resolve()
        raise StateError(
            f"'{self.published}' shows no commit", hint="run cclake sync, which publishes it again"
        )

    def publish(self, state: State) -> None:
        """Show a commit to readers: a tree of hard links with stable names, then `current`."""
        name = chain.name_of(state.number)
        tree = self.staging / f"tree-{name}-{uuid4().hex}"
        folders: set[Path] = set()
        for file in state.files:
            target = tree / file.published_path()
            if target.parent not in folders:
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                folders.add(target.parent)
            os.link(self.files / file.name, target)
        _remove(self.published / name)
        tree.mkdir(mode=0o700, exist_ok=True)
        tree.rename(self.published / name)
        swap = self.staging / f"current-{uuid4().hex}"
        swap.symlink_to(Path("_store") / "published" / name)
        swap.rename(self.current)
        _sync_folder(self.folder)

    def retire(self, state: State, now_seconds: float) -> None:
        """Drop commits that are past both the kept number and the kept time, oldest first.

        Of a commit that forgets, every earlier one goes at once, whoever may still read it.
        """
        if state.forgets:
            self._retire_all_before(state)
            return
        for number in self.commit_numbers()[:-KEPT_COMMITS]:
            age_seconds = now_seconds - self._document(number).stat().st_mtime
            if age_seconds < KEPT_SECONDS:
                break  # A clock that jumps must not tear a hole into the chain.
            self._drop_commit(number)
        self._drop_unnamed_files()

    def note_run(self, summary: object) -> None:
        """Keep what the last run saw, for status. Derived, so not synced."""
        staged = self.staging / f"last_run-{uuid4().hex}.json"
        staged.write_text(indented(summary))
        staged.chmod(0o600)
        staged.rename(self.last_run)

    def _retire_all_before(self, state: State) -> None:
        _remove(self.damaged)  # What a repair moved aside may hold what is to go.
        for number in self.commit_numbers():
            if number < state.number:
                self._drop_commit(number)
        self._drop_unnamed_files()

    def _move_in(self, fresh: Iterable[WrittenFile]) -> None:
        for file in fresh:
            try:
                (self.staging / file.name).rename(self.files / file.name)
            except FileNotFoundError:
                raise self._outrun(None) from None
        _sync_folder(self.files)

    def _outrun(self, number: int | None) -> BusyError:
        what = f"made commit {number} of" if number else "cleared the files of this one in"
        return BusyError(
            f"another run {what} '{self.folder}' first",
            hint="run the sync again; nothing was changed",
        )

    def _newest_shown(self) -> int:
        names = self.published.glob("*") if self.published.is_dir() else ()
        return max((int(path.name) for path in names if path.name.isdecimal()), default=0)

    def _refuse_lost_commit(self, shown: int, newest: int) -> None:
        """A tree is published after its commit, so one without a commit tells of a lost file."""
        if shown > newest:
            raise StateError(
                f"commit {shown} was shown once and is missing in '{self.commits}'",
                hint=chain.REPAIR,
            )

    def _drop_commit(self, number: int) -> None:
        name = chain.name_of(number)
        gone = self.staging / f"retired-{name}-{uuid4().hex}"
        if (self.published / name).exists():
            # In one step: a tree that goes file by file would be counted by half.
            (self.published / name).rename(gone)
        self._document(number).unlink()
        _remove(gone)

    def _drop_unnamed_files(self) -> int:
        named = {
            file.name
            for number in self.commit_numbers()
            for file in chain.read(self.commits, number).files
        }
        unnamed = [path for path in self.files.iterdir() if path.name not in named]
        left = [path for path in unnamed if self._is_left_behind(path)]
        for path in left:
            path.unlink()
        return len(left)

    def _is_left_behind(self, path: Path) -> bool:
        """Say whether nobody works on it any more; with a lock that holds, that is anybody else."""
        return self._is_alone or time.time() - path.lstat().st_mtime > _ORPHAN_SECONDS

    def _document(self, number: int) -> Path:
        return self.commits / f"{chain.name_of(number)}.json"


def _remove(tree: Path) -> None:
    """Remove a tree if it is there."""
    with suppress(FileNotFoundError):
        shutil.rmtree(tree)


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
