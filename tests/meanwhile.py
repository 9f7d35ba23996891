"""What happens to a warehouse while somebody reads it or writes it."""

import errno
import os
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


def refuse_links_of_trees(patch: pytest.MonkeyPatch) -> None:
    """Let a commit be made, and nothing of it be shown, as on a disk that is full by then."""
    link = os.link

    def refusing(source: Path, target: Path) -> None:
        if "tree-" in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        link(source, target)

    patch.setattr(os, "link", refusing)
