"""A sync as a process of its own, with its workers: timed, watched, or killed."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tests.benchmarks.trees import TOP

WATCH_SECONDS = 0.02
SOURCE = "bench"


@dataclass(slots=True)
class Memory:
    """The most memory seen in use, in bytes."""

    largest_process: int = 0  # the kernel's own high-water mark of the largest process
    together: int = 0  # all processes at one moment, shared pages counted once


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of one sync, and what it took."""

    exit_code: int
    wall_seconds: float
    cpu_seconds: float
    memory: Memory
    run: dict[str, Any]
    words: str


def sync(logs: Path, warehouse: Path, *, jobs: int, is_watched: bool = False) -> Finished:
    """Run one sync to its end. CPU is that of all its processes, system time too."""
    memory = Memory()
    before = _children_cpu_seconds()
    started = time.perf_counter()
    process = start(logs, warehouse, jobs=jobs)
    try:
        out, words = _finish(process, memory if is_watched else None)
    finally:
        strike_group(process)
    wall_seconds = time.perf_counter() - started
    cpu_seconds = _children_cpu_seconds() - before
    run = orjson.loads(out) if out else {}
    return Finished(process.returncode, wall_seconds, cpu_seconds, memory, run, words.decode())


def killed(logs: Path, warehouse: Path, *, jobs: int, after_seconds: float) -> bool:
    """Start a sync and kill all its processes after a while; say whether the kill came in time."""
    process = start(logs, warehouse, jobs=jobs)
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(after_seconds)
    finally:
        strike_group(process)
        process.communicate()  # Ends when no process of the group holds its pipes any more.
    return process.returncode == -signal.SIGKILL


def start(logs: Path, warehouse: Path, *, jobs: int) -> subprocess.Popen[bytes]:
    """Start `cclake sync` as the leader of its own process group."""
    places = ["--logs", str(logs), "--warehouse", str(warehouse)]
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "etl",
            "sync",
            *places,
            "--source",
            SOURCE,
            "--jobs",
            f"{jobs}",
            "--json",
        ],
        cwd=TOP,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def strike_group(process: subprocess.Popen[bytes]) -> None:
    """Send SIGKILL to a sync and its workers, if any is left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _finish(process: subprocess.Popen[bytes], memory: Memory | None) -> tuple[bytes, bytes]:
    while True:
        try:
            return process.communicate(timeout=WATCH_SECONDS if memory else None)
        except subprocess.TimeoutExpired:
            if memory:
                _look(process.pid, memory)


def _children_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _look(group: int, memory: Memory) -> None:
    together = 0
    for process in _members(group):
        memory.largest_process = max(memory.largest_process, _stated(process / "status", "VmHWM:"))
        together += _stated(process / "smaps_rollup", "Pss:")
    memory.together = max(memory.together, together)


def _members(group: int) -> Iterator[Path]:
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # It may end while it is looked at.
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                yield process


def _stated(path: Path, key: str) -> int:
    with suppress(OSError):
        for line in path.read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    return 0
