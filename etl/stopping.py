"""What a run does when it is told to stop: it ends, and says in one sentence what became of it.

A stop is a kill that speaks. Nothing is unwound: the next run heals what any kill leaves behind,
and no library on the way can swallow an exit. Only from a commit on until it is shown, which takes
a moment, a stop has to wait; so the sentence is always true.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import NoReturn

from etl.errors import CclakeError, StorageError

SIGNALS = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGTERM})
_ENDINGS = SIGNALS - {signal.SIGINT}
_WORKER_END_SECONDS = 5


@dataclass(slots=True)
class _Run:
    """What this process was told, whether that has to wait, and what it has committed."""

    told: signal.Signals | None = None
    must_wait: bool = False
    commit: int = 0


_run = _Run()


@contextmanager
def listening() -> Iterator[None]:
    """Let signals stop the run in here at once, but not between a commit and its showing."""
    _run.told, _run.must_wait, _run.commit = None, False, 0
    with _handled(SIGNALS, _stop):
        yield


def wait() -> None:
    """Let a stop wait from here on: a commit is about to be made."""
    _run.must_wait = True


def go_on(commit: int) -> None:
    """Let a stop be at once again: a commit was made and is shown."""
    _run.must_wait, _run.commit = False, commit
    if _run.told:
        _end(_run.told)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the process as it ends any tool: at once, without a word."""
    with _handled({signal.SIGINT}, signal.SIG_DFL):
        yield


@contextmanager
def left_to_another() -> Iterator[None]:
    """Leave Ctrl-C to the program that has the terminal, and end in order when told to."""
    with _handled({signal.SIGINT}, _ignore), _handled(_ENDINGS, _leave):
        yield


@contextmanager
def raised() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt where it ends a statement alone, and end in order else."""
    with _handled({signal.SIGINT}, signal.default_int_handler), _handled(_ENDINGS, _leave):
        yield


@contextmanager
def noted() -> Iterator[threading.Event]:
    """Note what the process is told, for a wait that looks at it; Ctrl-C ends the wait alone."""
    is_told = threading.Event()
    told: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        told.append(number)
        is_told.set()

    try:
        with _handled(SIGNALS, note):
            yield is_told
    finally:
        for number in _ENDINGS.intersection(told):
            _leave(number, None)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold signals back, also from processes that begin in here, until each is ready for them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_it_to_the_run() -> None:
    """Make a worker deaf to what a terminal tells everybody: the run answers, and ends it."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # So a broken pool ends those that are left.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


@contextmanager
def _handled(
    signals: set[signal.Signals] | frozenset[signal.Signals],
    how: Callable[[int, FrameType | None], None] | signal.Handlers,
) -> Iterator[None]:
    """Handle signals in here, but leave those alone that are ignored, as nohup has it."""
    before = {one: signal.getsignal(one) for one in signals if _is_ours(one)}
    for one in before:
        signal.signal(one, how)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Do nothing; unlike SIG_IGN, it is not passed on to a program that is started."""


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    """End in order, as when the window of a terminal is closed."""
    sys.exit(128 + number)


def _is_ours(one: signal.Signals) -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(one) not in {signal.SIG_IGN, None}


def _stop(number: int, _frame: FrameType | None) -> None:
    if _run.told:
        return  # Once is enough: it is ending, or waits.
    _run.told = signal.Signals(number)
    if not _run.must_wait:
        _end(_run.told)


def _end(told: signal.Signals) -> NoReturn:
    _end_workers()
    became = f"commit {_run.commit} is safe" if _run.commit else "nothing was committed"
    with suppress(OSError):  # The terminal may be what went away.
        os.write(2, f"cclake: stopped by {told.name}; {became}\n".encode())
    os._exit(CclakeError.exit_code if _run.commit else StorageError.exit_code)


def _end_workers() -> None:
    workers = multiprocessing.active_children()
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.join(_WORKER_END_SECONDS)
