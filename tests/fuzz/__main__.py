"""Fuzz until the time is over or Ctrl-C: `python -m tests.fuzz [SECONDS] [--repeat FILE]`."""

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from etl.output import say
from tests.fuzz.judge import Judge
from tests.fuzz.lines import changed_lines, seeds
from tests.fuzz.notes import FOLDER, noted

EXAMPLES_A_ROUND = 300


def main() -> int:
    """Return 0 if nothing was found, 1 if something was."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=60.0)
    parser.add_argument("--repeat", type=Path, help="look at one file again")
    told = parser.parse_args()
    if told.repeat:
        Judge().look_at(told.repeat.read_bytes())
        say("nothing is wrong with it")
        return 0
    FOLDER.mkdir(exist_ok=True)
    before = set(FOLDER.glob("*.line"))
    if importlib.util.find_spec("atheris"):
        _in_a_process(told.seconds)
    else:
        _with_hypothesis(told.seconds)
    found = set(FOLDER.glob("*.line")) - before
    say(f"{len(found)} found" if found else "nothing found")
    return 1 if found else 0


def _with_hypothesis(seconds: float) -> None:
    judge, lines, ends_at = Judge(), seeds(), time.monotonic() + seconds
    say(f"fuzzing with Hypothesis for {seconds:.0f} s, from {len(lines)} lines")
    try:
        while time.monotonic() < ends_at:
            _round(judge, lines)
    except KeyboardInterrupt:
        say("stopped")
    say(f"{judge.inputs:,} inputs, the slowest took {judge.slowest_seconds:.2f} s")


def _round(judge: Judge, lines: list[bytes]) -> None:
    smallest = [b""]

    @seed(int.from_bytes(os.urandom(4)))
    @settings(
        max_examples=EXAMPLES_A_ROUND,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(changed_lines(lines))
    def look(line: bytes) -> None:
        smallest[0] = line
        judge.look_at(line)

    try:
        look()
    except Exception:  # noqa: BLE001 - whatever it is, it is found
        noted(smallest[0])


def _in_a_process(seconds: float) -> None:
    """Run atheris in a process of its own: it ends the one that it runs in."""
    process = subprocess.Popen([sys.executable, "-m", "tests.fuzz.steered", f"{seconds:.0f}"])
    try:
        process.wait()
    except KeyboardInterrupt:
        say("stopped")
        process.wait()


if __name__ == "__main__":
    sys.exit(main())
