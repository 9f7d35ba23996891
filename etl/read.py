"""Read whole lines from an offset. A line without its newline is left for the next run.

Lines are cut at the byte 0x0A alone, which stands in no UTF-8 character and in no JSON string.
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from etl.hashing import RunningHash, running_hash

BLOCK_BYTES = 1 << 22
LONGEST_LINE_BYTES = 1 << 28
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WITHOUT_TRACE = getattr(os, "O_NOATIME", 0)

Identity = tuple[int, int]  # device and inode, as the walk saw them


class TornReadError(OSError):
    """Raised when a file shrank or was replaced meanwhile: its bytes are for the next run."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines, their newlines included, and where the first one begins."""

    start: int
    lines: bytes
    too_long: bool = False


class LogReader:
    """One open log: what it is now, its verified prefix, its new lines, its waiting tail."""

    def __init__(
        self,
        path: str,
        identity: Identity | None = None,
        *,
        longest_line: int = LONGEST_LINE_BYTES,
    ) -> None:
        """Open a regular file, the one that the walk saw and nothing else, for reading."""
        self._descriptor = _open(path, identity)
        self._path = path
        self._longest_line = longest_line
        self.size = os.fstat(self._descriptor).st_size
        self.pending = b""
        self.offset = 0
        self._hash: RunningHash = running_hash()

    def close(self) -> None:
        """Let the file go."""
        os.close(self._descriptor)

    def head(self, length: int) -> bytes:
        """Return the first bytes, without moving the offset."""
        return b"".join(self._blocks(0, min(length, self.size)))

    def prefix_matches(self, offset: int, prefix_hash: str) -> bool:
        """Hash the first `offset` bytes and stay behind them if they are still the same."""
        if offset > self.size:
            return False
        for block in self._blocks(0, offset):
            self._hash.update(block)
        self.offset = offset
        return self._hash.hexdigest() == prefix_hash

    def start_over(self) -> None:
        """Forget the prefix and read from the first byte."""
        self._hash = running_hash()
        self.offset = 0

    def prefix_hash(self) -> str:
        """Return the hash of the bytes up to the offset."""
        return self._hash.hexdigest()

    def chunks(self) -> Iterator[Chunk]:
        """Yield the new whole lines, block by block; what follows the last newline is pending."""
        carried: list[bytes] = []
        carried_bytes = 0
        for block in self._blocks(self.offset, self.size):
            cut = block.rfind(b"\n") + 1
            if not cut:
                carried.append(block)
                carried_bytes += len(block)
                continue
            if carried_bytes > self._longest_line:
                end = block.index(b"\n") + 1
                yield self._pass_over([*carried, block[:end]])
                carried = [block[end:cut]]
            else:
                carried.append(block[:cut])
            whole = b"".join(carried)
            if whole:
                yield self._chunk(whole)
            carried = [block[cut:]]
            carried_bytes = len(carried[0])
        self.pending = b"".join(carried)
        self._refuse_torn_read()

    def _chunk(self, lines: bytes) -> Chunk:
        chunk = Chunk(self.offset, lines)
        self._hash.update(lines)
        self.offset += len(lines)
        return chunk

    def _pass_over(self, pieces: list[bytes]) -> Chunk:
        chunk = Chunk(self.offset, b"", too_long=True)
        for piece in pieces:
            self._hash.update(piece)
            self.offset += len(piece)
        return chunk

    def _blocks(self, start: int, end: int) -> Iterator[bytes]:
        while start < end:
            block = os.pread(self._descriptor, min(BLOCK_BYTES, end - start), start)
            if not block:
                raise TornReadError(self._path)
            yield block
            start += len(block)

    def _refuse_torn_read(self) -> None:
        if os.fstat(self._descriptor).st_size < self.size:
            raise TornReadError(self._path)
        self._refuse_replaced()

    def _refuse_replaced(self) -> None:
        try:
            now = os.lstat(self._path)
        except OSError:
            return  # Renamed or deleted: what was read is all of it.
        if not os.path.samestat(now, os.fstat(self._descriptor)):
            raise TornReadError(self._path)

    def whole(self) -> bytes:
        """Return all of a small file, such as a sidecar."""
        content = self.head(self.size)
        self._refuse_torn_read()
        return content


def read_small_file(path: str, identity: Identity | None = None) -> bytes:
    """Open and read a whole small file."""
    reader = LogReader(path, identity)
    try:
        return reader.whole()
    finally:
        reader.close()


def _open(path: str, identity: Identity | None) -> int:
    try:
        descriptor = os.open(path, _FLAGS | _WITHOUT_TRACE)
    except PermissionError:  # Only its owner may read a file without a trace.
        descriptor = os.open(path, _FLAGS)
    try:
        _refuse_other(path, os.fstat(descriptor), identity)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_other(path: str, seen: os.stat_result, identity: Identity | None) -> None:
    if not stat.S_ISREG(seen.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    if identity and not _is_same(seen, identity):
        raise TornReadError(path)


def _is_same(seen: os.stat_result, identity: Identity) -> bool:
    """Compare modulo 2^64: the ledger's columns are signed."""
    device, inode = identity
    return (seen.st_dev - device) % (1 << 64) == (seen.st_ino - inode) % (1 << 64) == 0
