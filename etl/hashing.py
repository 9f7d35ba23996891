"""Fast content hashes: lines, prefixes of logs, Parquet files. Against accidents, not enemies."""

import hashlib
from typing import Protocol

import xxhash

_SIGN_BIT = 1 << 63
_TWO_TO_64 = 1 << 64


class RunningHash(Protocol):
    """A hash that takes bytes as they come."""

    def update(self, chunk: bytes | memoryview) -> None:
        """Take in the next bytes."""

    def hexdigest(self) -> str:
        """Return the hash of everything taken in so far."""


def running_hash() -> RunningHash:
    """Start the hash of a prefix or a file."""
    state: RunningHash = xxhash.xxh3_128()
    return state


def hash_of(content: bytes) -> str:
    """Return the 128-bit hash of some bytes as hex."""
    return str(xxhash.xxh3_128_hexdigest(content))


def line_hash(line: bytes) -> int:
    """Return the 64-bit hash of a line as a signed integer, as Parquet and SQL hold it."""
    unsigned: int = xxhash.xxh3_64_intdigest(line)
    return unsigned - _TWO_TO_64 if unsigned & _SIGN_BIT else unsigned


def file_id_of(source: str, relative_path: str, counter: int) -> str:
    """Return the identity of a log: from where it was first seen, with a counter for reuse."""
    return str(xxhash.xxh3_64_hexdigest(f"{source}\0{relative_path}\0{counter}".encode()))


def fingerprint_of(key: bytes, content: bytes) -> str:
    """Return a keyed hash that nobody without the key can try guesses on: 64 bits, as hex."""
    return hashlib.blake2b(content, key=key, digest_size=8).hexdigest()
