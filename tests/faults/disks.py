"""Real file systems in a loop image, whose power can be cut; nothing of them outlives its test."""

import fcntl
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

IMAGE_BYTES = 400 << 20
SYSTEM_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
# FS_IOC_SHUTDOWN with NOLOGFLUSH: what is only in memory is gone, the journal's own tail too.
SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2
MADE_BY = re.compile(r"cclake-disk-(\d+)-")
MAKE = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
}


def need(*commands: str, root: bool = False) -> None:
    """Skip a test, and say why, where it cannot run."""
    if sys.platform != "linux":
        pytest.skip("needs Linux")
    if root and os.geteuid() != 0:
        pytest.skip("needs root, for mounts")
    for command in commands:
        if shutil.which(command, path=SYSTEM_PATH) is None:
            pytest.skip(f"needs {command}; make gear installs it")


def called(command: str, *arguments: str, is_asked: bool = False) -> str:
    """Run a system command; one that is only asked may fail."""
    path = shutil.which(command, path=SYSTEM_PATH)
    assert path, command
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
    assert is_asked or done.returncode == 0, f"{command} {arguments}: {done.stderr}"
    return done.stdout


@dataclass(frozen=True, slots=True)
class Disk:
    """A file system of its own, mounted from an image."""

    kind: str
    image: Path
    top: Path

    def make(self) -> None:
        with self.image.open("xb") as sink:
            sink.truncate(IMAGE_BYTES)
        command, *options = MAKE[self.kind]
        called(command, *options, str(self.image))
        self.top.mkdir()
        self.mount()

    def mount(self) -> None:
        called("mount", "-o", "loop", str(self.image), str(self.top))

    def cut(self) -> None:
        """Take the power away: nothing reaches the disk from now on."""
        assert self.top.stat().st_dev != self.image.stat().st_dev, "that is no disk of ours"
        descriptor = os.open(self.top, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(descriptor)

    def come_back(self) -> None:
        """Mount again, which replays the journal."""
        unmount(self.top)
        self.mount()


def unmount(top: Path) -> None:
    """Unmount; a process that is just ending may hold it a moment longer."""
    deadline = time.monotonic() + 10
    while is_mounted(top):
        if time.monotonic() > deadline:
            called("umount", "-l", str(top))
            pytest.fail(f"{top} was still in use")
        called("umount", str(top), is_asked=True)
        time.sleep(0.005)


def is_mounted(top: Path) -> bool:
    """Look it up: a file system that was cut off cannot be asked."""
    return any(line.split()[1] == str(top) for line in mounts())


def mounts() -> list[str]:
    return Path("/proc/self/mounts").read_text().splitlines()


@contextmanager
def disk(kind: str) -> Iterator[Disk]:
    """Make a disk for a test, and take it away whatever happens."""
    need("mount", "umount", "losetup", MAKE[kind][0], root=True)
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"cclake-disk-{os.getpid()}-"))
    made = Disk(kind, folder / "image", folder / "top")
    try:
        made.make()
        yield made
    finally:
        if is_mounted(made.top):
            called("umount", "-l", str(made.top), is_asked=True)
        shutil.rmtree(folder, ignore_errors=True)
        sweep()


@contextmanager
def read_only(folder: Path, top: Path) -> Iterator[Path]:
    """Show a folder in a second place, where nothing can be changed."""
    need("mount", "umount", root=True)
    top.mkdir()
    called("mount", "--bind", str(folder), str(top))
    try:
        called("mount", "-o", "remount,bind,ro", str(top))
        yield top
    finally:
        called("umount", str(top))


def sweep() -> None:
    """Take away the disks of test runs that are no more."""
    for line in mounts():
        if is_left_over(line):
            called("umount", "-l", line.split()[1], is_asked=True)
    for line in called("losetup", "-a").splitlines():
        if is_left_over(line):
            called("losetup", "-d", line.partition(":")[0], is_asked=True)
    for folder in Path(tempfile.gettempdir()).glob("cclake-disk-*"):
        if is_left_over(folder.name) and not is_mounted(folder / "top"):
            shutil.rmtree(folder, ignore_errors=True)


def is_left_over(text: str) -> bool:
    """Say whether something is named for a process that has ended."""
    maker = MADE_BY.search(text)
    return maker is not None and not Path("/proc", maker[1]).exists()
