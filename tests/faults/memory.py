"""The most memory that a sync takes, measured in a process of its own."""

import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.sessions import run_sync

TOP = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Watched:
    """What a sync said of itself, and its most memory and CPU time."""

    peak_bytes: int
    cpu_seconds: float
    run: dict[str, Any]


def watched_sync(logs: Path, lake: Path) -> Watched:
    """Sync a config directory in a process of its own."""
    finished = subprocess.run(
        [sys.executable, "-m", "tests.faults.memory", str(logs), str(lake)],
        cwd=TOP,
        env={**os.environ, "CCLAKE_PRICES": os.devnull},
        check=False,
        capture_output=True,
        timeout=900,
    )
    assert finished.returncode == 0, finished.stderr.decode()
    return Watched(**json.loads(finished.stdout))


def _peak_bytes() -> int:
    """A process that was forked starts with its parent's peak in ru_maxrss, but not in VmHWM."""
    stated = Path("/proc/self/status")
    if stated.exists():
        (line,) = (one for one in stated.read_text().splitlines() if one.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    summary = run_sync(Path(sys.argv[1]), Path(sys.argv[2]))
    spent = resource.getrusage(resource.RUSAGE_SELF)
    sys.stdout.write(
        json.dumps(asdict(Watched(_peak_bytes(), spent.ru_utime + spent.ru_stime, asdict(summary))))
    )
