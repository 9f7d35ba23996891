"""Processes that wait at a step of their own until they are told to go on."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from etl.errors import CclakeError
from tests.faults.forked import FORKS
from tests.sessions import run_sync

LONGEST_SECONDS = 60


def end_with_sync(logs: Path, lake: Path) -> None:
    """Sync, and end this process with the exit code that the command would have."""
    try:
        sys.exit(run_sync(logs, lake).exit_code())
    except CclakeError as error:
        sys.exit(error.exit_code)


def waiting(talk: Connection, place: str, count: int) -> Callable[[str], None]:
    """Return what waits before the step of that number among those that begin so."""
    left = count

    def wait(step: str) -> None:
        nonlocal left
        left -= step.startswith(place)
        if left == 0:
            left = -1
            talk.send(step)
            talk.recv()

    return wait


@dataclass(frozen=True, slots=True)
class Paused:
    """A sync that waits somewhere, or has ended before it came there."""

    process: BaseProcess
    talk: Connection

    def go_on(self) -> int | None:
        """Let it run to its end, and return its exit code."""
        if self.process.is_alive():
            self.talk.send(None)
        self.process.join(LONGEST_SECONDS)
        return self.process.exitcode


@contextmanager
def paused(target: Callable[..., None], *arguments: object) -> Iterator[Paused]:
    """Start a process, which gets its end of a pipe first, and let it come to its step."""
    ours, theirs = FORKS.Pipe()
    process = FORKS.Process(target=target, args=(theirs, *arguments))
    process.start()
    theirs.close()
    try:
        assert ours.poll(LONGEST_SECONDS), "a process neither came to its step nor ended"
        if not came_to_its_step(ours):
            process.join(LONGEST_SECONDS)
        yield Paused(process, ours)
    finally:
        process.kill()
        process.join()
        ours.close()


def came_to_its_step(talk: Connection) -> bool:
    try:
        talk.recv()
    except EOFError:
        return False
    return True
