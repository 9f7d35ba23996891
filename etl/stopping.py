"""What a run does when it is told to stop: it ends, and says in one sentence what became of it.

Before the commit a stop is a kill that speaks. Nothing is unwound: the next run heals what any
kill leaves behind, and no library on the way can swallow an exit. From the commit on a run is
finished first, which takes a moment; so the sentence is always true.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType

from etl.errors import StorageError

SIGNALS = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGTERM})
_WORKER_END_SECONDS = 5


@dataclass(slots=True)
class _Run:
    """What this process was told, and whether it must finish first."""

    told: signal.Signals | None = None
    must_finish: bool = False


_run = _Run()


@contextmanager
def listening() -> Iterator[None]:
    """Let signals stop the run in here: at once, or from its commit on at its end."""
    _run.told, _run.must_finish = None, False
    with _handled(SIGNALS, _stop):
        yield


def finish_first() -> None:
    """Say that from here on the run has to be finished, whatever it is told."""
    _run.must_finish = True


def stopped_by() -> str | None:
    """Return the name of the signal that a finished run was told to stop by, if it was."""
    return _run.told.name if _run.told else None


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the process as it ends any tool: at once, without a word."""
    with _handled({signal.SIGINT}, signal.SIG_DFL):
        yield


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


def _is_ours(one: signal.Signals) -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(one) not in {signal.SIG_IGN, None}


def _stop(number: int, _frame: FrameType | None) -> None:
    if _run.told:
        return  # Once is enough; it is ending.
    _run.told = signal.Signals(number)
    if _run.must_finish:
        return
    _end_workers()
    words = f"cclake: stopped by {_run.told.name}; nothing was committed\n"
    with suppress(OSError):  # The terminal may be what went away.
        os.write(2, words.encode())
    os._exit(StorageError.exit_code)


def _end_workers() -> None:
    workers = multiprocessing.active_children()
    for worker in workers:
        worker.kill()
    for worker in workers:
        worker.join(_WORKER_END_SECONDS)
