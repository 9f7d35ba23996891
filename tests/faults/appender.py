"""Write logs as Claude Code does, many sessions at once, until stopped: whole and torn lines.

Run as `python -m tests.faults.appender DIR SEED`.
"""

import random
import sys
import time
from pathlib import Path

from tests.sessions import PROJECT, encoded, user

MOST_LINES = 20_000
MOST_LOGS = 40
PAUSE_SECONDS = 0.08


def main(logs: Path, seed: int) -> None:
    """Append line after line, each in one or two writes, now and then to a new log."""
    dice = random.Random(seed)  # noqa: S311 - what is written when, not secrets
    names: list[str] = []
    for number in range(MOST_LINES):
        if not names or (len(names) < MOST_LOGS and dice.random() < 0.05):
            names.append(f"{seed:08d}-1111-4111-8111-{len(names):012d}")
        session = dice.choice(names)
        text = "leaf " * dice.randrange(200)
        line = encoded([user(text, f"u-{number}", number % 3600, sessionId=session)])
        cut = dice.randrange(len(line)) if dice.random() < 0.3 else 0
        log = logs / "projects" / PROJECT / f"{session}.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab", buffering=0) as sink:
            for piece in filter(None, (line[:cut], line[cut:])):
                sink.write(piece)
                time.sleep(dice.random() * PAUSE_SECONDS)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
