"""A sync in a process of its own, struck at one of its steps: killed, or refused by the system.

A step is a change to a file or folder of the warehouse: an open for writing, a write, an fsync, a
link, a rename and so on. Audit hooks see most of them; fsync and write are wrapped.
"""

import builtins
import errno
import io
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.faults.preloaded"])

_SHARED = multiprocessing.get_context("fork")  # Workers are forks, and count with their parent.
_CHANGES = frozenset(
    {"os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"}
    | {"os.truncate"}
)
_WITH_TARGET = frozenset({"os.link", "os.rename", "os.symlink"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_real_open, _real_fsync, _real_sendfile = io.open, os.fsync, os.sendfile


@dataclass(frozen=True, slots=True)
class Strike:
    """What happens at a step: SIGKILL, or an error; a lasting one at every later step too."""

    step: int = 0  # 0: never
    error: int | None = None
    is_lasting: bool = False

    def __str__(self) -> str:
        name = errno.errorcode[self.error] if self.error else "SIGKILL"
        return f"{name}{' from' if self.is_lasting else ' at'} step {self.step}"


@dataclass(frozen=True, slots=True)
class Struck:
    """What became of a struck sync."""

    exit_code: int | None
    words: str
    steps: list[str]


def struck_sync(logs: Path, lake: Path, strike: Strike, *, jobs: int = 1) -> Struck:
    """Run `cclake sync` in a process of its own under a strike, and wait for its end."""
    return struck_command([*sync_options(logs, lake), "--jobs", str(jobs)], lake, strike)


def struck_command(command: list[str], lake: Path, strike: Strike) -> Struck:
    """Run a command in a process of its own under a strike, and wait for its end."""
    notes, words = lake.with_suffix(".steps"), lake.with_suffix(".words")
    for path in (notes, words):
        path.write_bytes(b"")
    steps = (lake, strike, notes)
    process = FORKS.Process(target=_doomed, args=(steps, words, command))
    process.start()
    process.join()
    exit_code = process.exitcode
    process.close()
    return Struck(exit_code, words.read_text(), notes.read_text().splitlines())


def _doomed(steps: tuple[Path, Strike, Path], words: Path, options: list[str]) -> None:
    from etl.cli import main  # noqa: PLC0415 - the parent needs none of it

    said = os.open(words, os.O_WRONLY | os.O_APPEND)
    os.dup2(said, sys.stdout.fileno())
    os.dup2(said, sys.stderr.fileno())
    _Steps(*steps).watch()
    main(options)


def doomed_sync(
    logs: Path, lake: Path, jobs: int, after_seconds: float, stop: signal.Signals
) -> int | None:
    """Start a sync, signal it and its workers after a while, and return its exit code."""
    options = [*sync_options(logs, lake), "--jobs", str(jobs)]
    process = FORKS.Process(target=_own_group, args=(lake.with_suffix(".words"), options))
    process.start()
    process.join(after_seconds)
    assert process.pid
    with suppress(ProcessLookupError):  # It may have ended, or not have begun a group yet.
        os.killpg(process.pid, stop)
    if process.is_alive():
        os.kill(process.pid, stop)
    process.join()
    exit_code = process.exitcode
    process.close()
    return exit_code


def _own_group(words: Path, options: list[str]) -> None:
    from etl.cli import main  # noqa: PLC0415 - the parent needs none of it

    os.setsid()
    # Below nohup, or in the background of a shell, a run is told to ignore what would stop it.
    for told in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(told, signal.SIG_DFL)
    said = os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(said, sys.stdout.fileno())
    os.dup2(said, sys.stderr.fileno())
    main(options)


def sync_options(logs: Path, lake: Path) -> list[str]:
    return ["sync", "--logs", str(logs), "--warehouse", str(lake), "--source", "laptop"]


class _Steps:
    """Counts the steps of this process and of its forks, notes their names, and strikes."""

    def __init__(self, lake: Path, strike: Strike, notes: Path) -> None:
        self._lake, self._strike = str(lake), strike
        self._count = _SHARED.Value("i", 0)
        self._notes = os.open(notes, os.O_WRONLY | os.O_APPEND)

    def watch(self) -> None:
        sys.addaudithook(self._hear)
        os.fsync = self._fsync  # type: ignore[assignment]
        os.sendfile = self._sendfile  # type: ignore[assignment]
        io.open = builtins.open = self._open  # type: ignore[assignment]

    def take(self, kind: str, path: str, half: Callable[[], object] | None = None) -> None:
        """Count a step, and strike if it is the one; of a write, half is done by then."""
        with self._count.get_lock():
            self._count.value += 1
            number = self._count.value
        os.write(self._notes, f"{kind} {place_of(path, self._lake)}\n".encode())
        is_later = self._strike.is_lasting and number > self._strike.step > 0
        if number != self._strike.step and not is_later:
            return
        if half:
            half()
        if self._strike.error is None:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            raise OSError(self._strike.error, os.strerror(self._strike.error), path)

    def concerns(self, path: str) -> bool:
        inside = path.startswith(f"{self._lake}/") or path == self._lake
        return inside or path == os.path.dirname(self._lake)  # noqa: PTH120 - hot, and a string

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in _CHANGES or (event == "open" and _is_writing(arguments[2])):
            path = os.fsdecode(_named(arguments[event in _WITH_TARGET]))
            # `rmtree` names what it removes from its folder's descriptor.
            if self.concerns(path) or (event in {"os.remove", "os.rmdir"} and path[:1] != "/"):
                self.take(event, path)

    def _fsync(self, descriptor: int) -> None:
        path = _path_of(descriptor)
        if self.concerns(path):
            self.take("fsync", path)
        _real_fsync(descriptor)

    def _sendfile(self, target: int, source: int, offset: int, count: int) -> int:
        path = _path_of(target)
        if self.concerns(path):
            self.take("write", path, lambda: _real_sendfile(target, source, offset, count // 2))
        return _real_sendfile(target, source, offset, count)

    def _open(
        self,
        file: Any,  # noqa: ANN401 - as open() takes it
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        *more: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> IO[Any]:
        path = _path_of(file) if isinstance(file, int) else os.fsdecode(file)
        if not set("wax+") & set(mode) or not self.concerns(path):
            return _real_open(file, mode, buffering, encoding, *more, **named)
        sink = io.BufferedWriter(_WatchedFile(file, mode.strip("bt"), path, self))
        return sink if "b" in mode else io.TextIOWrapper(sink, encoding)


class _WatchedFile(io.FileIO):
    def __init__(self, file: str | Path | int, mode: str, path: str, steps: _Steps) -> None:
        super().__init__(file, mode)
        self._path, self._steps = path, steps

    def write(self, block: Any, /) -> int:  # noqa: ANN401 - any buffer
        half = memoryview(block)[: len(block) // 2]
        self._steps.take("write", self._path, lambda: super(_WatchedFile, self).write(half))
        return super().write(block)


def _named(argument: object) -> str | bytes:
    if isinstance(argument, int):
        return _path_of(argument)
    return argument if isinstance(argument, bytes) else str(argument)


def _is_writing(flags: object) -> bool:
    return isinstance(flags, int) and bool(flags & _WRITING)


def _path_of(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - hot, and a string


def place_of(path: str, lake: str) -> str:
    """Name a step's place; the many files of a commit, or of a tree, go by one name."""
    if not path.startswith("/"):
        return "below a tree"
    inside = path.removeprefix(lake).strip("/") if path.startswith(lake) else "above"
    inside = re.sub(r"(tree-)\d+.*", r"\1*", inside)
    inside = re.sub(r"[a-z_]+-[0-9a-f]{32}\.parquet", "*.parquet", inside)
    return re.sub(r"[0-9a-f]{32}|\d{10}", "*", inside)
