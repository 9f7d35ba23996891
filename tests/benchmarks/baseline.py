"""The yardstick: what `orjson.loads` alone costs over the same lines."""

import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from tests.benchmarks.trees import lines_of

TRIES = 3


@dataclass(frozen=True, slots=True)
class Baseline:
    """CPU seconds of the fastest try, and what was read."""

    cpu_seconds: float
    lines: int
    line_bytes: float


def measure(tree: Path) -> Baseline:
    """Load every line, drop the results, the collector off, the lines already in memory."""
    gc.collect()
    gc.disable()
    try:
        # The warm-up leaves out the few lines that are no JSON, so the timed loop catches nothing.
        lines = [line for line in lines_of(tree) if _is_json(line)]
        best = min(_cpu_seconds(lines) for _ in range(TRIES))
    finally:
        gc.enable()
    return Baseline(best, len(lines), sum(map(len, lines)) / len(lines))


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _cpu_seconds(lines: Sequence[bytes]) -> float:
    loads = orjson.loads
    started = time.process_time()
    for line in lines:
        loads(line)
    return time.process_time() - started
