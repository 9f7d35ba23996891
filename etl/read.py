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
# A tail is kept in case its file goes. The ledger, which every commit writes anew, has to hold it.
KEPT_TAIL_BYTES = 1 << 24

Identity = tuple[int, int]  # device and inode, as the walk saw them


class TornReadError(OSError):
    """Raised when a file shrank or was replaced meanwhile: its bytes are for the next run."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines and where the first one begins. A line that is a chunk alone has no newline."""

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
        return self._bytes(0, min(length, self.size))

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
        """Yield the new whole lines, block by block; what follows the last newline is pending.

        A line longer than a block is a chunk of its own. One that is too long is passed over, and
        a tail that is too long to be kept is only waited for: neither is ever held in memory.
        """
        while self.offset < self.size:
            block = os.pread(self._descriptor, self._next_bytes(), self.offset)
            cut = block.rfind(b"\n") + 1
            if not cut:
                del block
                end = self._end_of_line()
                if end is None:
                    break
                yield self._long_line(end)
            else:
                yield self._chunk(block if cut == len(block) else block[:cut])
        waiting = self.waiting_bytes()
        self.pending = self._bytes(self.offset, self.size) if waiting <= KEPT_TAIL_BYTES else b""
        self._refuse_torn_read()

    def waiting_bytes(self) -> int:
        """Return how many bytes follow the last whole line that was read."""
        return self.size - self.offset

    def _next_bytes(self) -> int:
        # No block is longer than a line may be: a line that is too long never fits into one.
        return min(BLOCK_BYTES, self._longest_line, self.size - self.offset)

    def _end_of_line(self) -> int | None:
        """Look for the newline that ends the next line; None if it is not there yet."""
        at = self.offset
        for block in self._blocks(at, self.size):
            found = block.find(b"\n")
            if found >= 0:
                return at + found + 1
            at += len(block)
        return None

    def _long_line(self, end: int) -> Chunk:
        start = self.offset
        if end - 1 - start > self._longest_line:
            for block in self._blocks(start, end):
                self._hash.update(block)
            self.offset = end
            return Chunk(start, b"", too_long=True)
        line = self._bytes(start, end - 1)
        newline = self._bytes(end - 1, end)
        if newline != b"\n":
            raise TornReadError(self._path)
        self._hash.update(line)
        self._hash.update(newline)
        self.offset = end
        return Chunk(start, line)

    def _chunk(self, lines: bytes) -> Chunk:
        chunk = Chunk(self.offset, lines)
        self._hash.update(lines)
        self.offset += len(lines)
        return chunk

    def _bytes(self, start: int, end: int) -> bytes:
        """Return a stretch of the file. In one read, it is in memory once."""
        pieces = [os.pread(self._descriptor, end - start, start)] if start < end else []
        pieces += self._blocks(start + sum(map(len, pieces)), end)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

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
    """Open and read a whole small file. What is longer than a line may be is none."""
    reader = LogReader(path, identity)
    try:
        if reader.size > LONGEST_LINE_BYTES:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
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
