"""Processes that work for one run and end with it, however it ends."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import BaseContext
from threading import Thread
from typing import TypeVar

from etl import stopping
from etl.errors import StorageError
from etl.lock import let_go_of_locks

Task = TypeVar("Task")
Result = TypeVar("Result")


def run(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, processes: int
) -> Iterator[Result]:
    """Yield the result of each task, in order, worked out by so many processes."""
    try:
        with ProcessPoolExecutor(processes, mp_context=_context(), initializer=_begin) as pool:
            with stopping.held_back():
                results = pool.map(work, tasks)
            yield from results
    except BrokenProcessPool as error:
        raise StorageError(
            "a worker process was killed, perhaps for want of memory",
            hint="nothing was committed; run again, with --jobs 1 to need less memory",
        ) from error


def _context() -> BaseContext:
    # A fork starts with everything imported; it is safe only where nothing else runs threads.
    method = "fork" if sys.platform == "linux" else "spawn"
    if method == "spawn":
        # Of a run that was stopped, Python's own tracker would tell what it clears away.
        os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
    return multiprocessing.get_context(method)


def _begin() -> None:
    """Tie a worker to its run: it answers to it alone, holds no lock and dies when it does."""
    stopping.leave_it_to_the_run()
    let_go_of_locks()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
