"""Hold a log that is still there beside what the warehouse has of it, line by line."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import duckdb

from etl import restore
from etl.content import OFF, Keeping
from etl.follow import Place, Tally, lines_in
from etl.hashing import line_hash
from etl.parse import objects_of, parse_line
from etl.read import LogReader, TornReadError

_MOST = 20
_HASHES = """
select byte_start, byte_end, line_hash
from raw.entries
where file_id = ? and generation = ? and object_index = 0
"""


@dataclass(frozen=True, slots=True)
class KnownLog:
    """What the ledger says of a log."""

    file_id: str
    generation: int
    root: str
    path: str
    offset: int
    prefix_hash: str
    size: int
    mtime_ns: int
    ctime_ns: int

    def full_path(self) -> str:
        """Return where the log lies."""
        return os.path.join(self.root, self.path)  # noqa: PTH118 - a path may be any bytes


@dataclass(frozen=True, slots=True)
class Difference:
    """What is not the same, and whether the next sync would notice by itself."""

    what: str
    byte: int | None = None
    is_news: bool = False


def differences(
    con: duckdb.DuckDBPyConnection, log: KnownLog, keeping: Keeping
) -> Iterator[Difference]:
    """Yield what differs between a log and its rows, the first few of many."""
    try:
        with closing(LogReader(log.full_path())) as reader:
            if not reader.prefix_matches(log.offset, log.prefix_hash):
                yield _changed(log)
                return
            reader.start_over()
            lines = _lines(reader, log.offset)
            for count, one in enumerate(_of_lines(con, log, keeping, lines), 1):
                yield one
                if count == _MOST:
                    return
    except TornReadError:
        yield Difference("changed while it was read; run the check again", is_news=True)
    except OSError as error:
        yield Difference(f"cannot be read: {error.strerror}", is_news=True)


def meaning_of(line: bytes) -> object:
    """Return what must be the same: the objects as JSON, or the bytes where there are none."""
    objects = objects_of(parse_line(line))
    if not objects:
        return line.strip()
    return [json.dumps(one, sort_keys=True) for one in objects]


def _changed(log: KnownLog) -> Difference:
    seen = os.stat(log.full_path(), follow_symlinks=False)  # noqa: PTH116 - as above
    if (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns) == (
        log.size,
        log.mtime_ns,
        log.ctime_ns,
    ):
        return Difference(
            "its bytes changed and its times did not; touch it, and the next sync reads it anew"
        )
    return Difference("changed since it was read; the next sync reads it anew", is_news=True)


def _lines(reader: LogReader, offset: int) -> Iterator[tuple[Place, bytes]]:
    tally = Tally()
    for chunk in reader.chunks():
        for place, line in lines_in(chunk.start, chunk.lines, tally):
            if place[2] > offset:
                return
            yield place, line
        tally.lines += chunk.too_long


def _of_lines(
    con: duckdb.DuckDBPyConnection,
    log: KnownLog,
    keeping: Keeping,
    lines: Iterator[tuple[Place, bytes]],
) -> Iterator[Difference]:
    stored = con.execute(_HASHES, [log.file_id, log.generation]).fetchall()
    hashes = {start: (end, digest) for start, end, digest in stored}
    has_words = not keeping.is_metrics and keeping.redact == OFF
    back = enumerate(restore.lines_of(con, log.file_id, log.generation), 1) if has_words else ()
    words = iter(back)
    for (number, start, end), line in lines:
        if start in hashes and hashes[start] != (end, line_hash(line)):
            yield Difference(f"line {number} is stored as another", start)
        again = next((text for at, text in words if at == number), None)
        if has_words and not _is_forgotten(again) and meaning_of(line) != meaning_of(again or b""):
            yield Difference(f"line {number} comes back otherwise", start)


def _is_forgotten(again: bytes | None) -> bool:
    """A line of which only its place is kept comes back empty."""
    return again == b""
