"""What happens to a warehouse while somebody reads it."""

from collections.abc import Callable
from pathlib import Path

import pytest


def act_before_reading(path: Path, act: Callable[[], object], patch: pytest.MonkeyPatch) -> None:
    """Do something once, when a file is about to be read whole."""
    read, acts = Path.read_bytes, [act]

    def reading(one: Path) -> bytes:
        if one == path and acts:
            acts.pop()()
        return read(one)

    patch.setattr(Path, "read_bytes", reading)
