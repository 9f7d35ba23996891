"""What was found is written down as it came, with the way to see it again."""

import hashlib
import sys
import traceback
from pathlib import Path

from etl.output import say

FOLDER = Path(".fuzz")


def noted(content: bytes, folder: Path = FOLDER) -> Path:
    """Write down an input for which an error is being handled, and say how to repeat it."""
    path = folder / f"{hashlib.sha256(content).hexdigest()[:12]}.line"
    path.write_bytes(content)
    say(traceback.format_exc().splitlines()[-1])
    say(f"  {content[:200]!r}")
    say(f"  again: {sys.executable} -m tests.fuzz --repeat {path}")
    return path
