"""One writer at a time: a lock that the kernel lets go of when its holder ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from etl.errors import BusyError

# A forked worker inherits the descriptor, and with it the lock, which would outlive the run.
_HELD: set[int] = set()


def let_go_of_locks() -> None:
    """Close what a forked process inherited; the lock stays with the one that took it."""
    while _HELD:
        os.close(_HELD.pop())


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a lock file alone, and say whether its file system really keeps others out."""
    descriptor = _opened(path)
    if not _take(descriptor):
        os.close(descriptor)
        raise BusyError(
            f"another sync is at work on '{path.parent.parent}'",
            hint="wait for it to end; nothing was changed",
        )
    _HELD.add(descriptor)
    try:
        yield _is_kept(path)
    finally:
        _HELD.discard(descriptor)
        os.close(descriptor)


def _is_kept(path: Path) -> bool:
    """Try the lock a second time: where that succeeds too, as on some network disks, it lies."""
    second = _opened(path)
    try:
        return not _take(second)
    finally:
        os.close(second)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
