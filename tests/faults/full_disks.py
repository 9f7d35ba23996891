"""A file system of a few kilobytes in memory, which fills up as a disk does."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_mounts = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("mount") is None,
    reason="needs root and mount, to fill a disk",
)


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[None]:
    """Mount a small tmpfs there, and unmount it whatever happens."""
    place.mkdir(exist_ok=True)
    _run("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=0700", "tmpfs", str(place))
    try:
        yield
    finally:
        _run("umount", "--lazy", str(place))


def enlarge(place: Path, kilobytes: int) -> None:
    _run("mount", "-o", f"remount,size={kilobytes}k", str(place))


def used_kilobytes(place: Path) -> int:
    stated = os.statvfs(place)
    return (stated.f_blocks - stated.f_bfree) * stated.f_bsize // 1024


def _run(command: str, *arguments: str) -> None:
    found = shutil.which(command)
    assert found
    subprocess.run([found, *arguments], check=True)
