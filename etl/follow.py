"""Follow one log: take up where it was left, or start over if what was read has changed."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol

from etl.hashing import hash_of
from etl.read import (
    KEPT_TAIL_BYTES,
    LONGEST_LINE_BYTES,
    Identity,
    LogReader,
    read_small_file,
)

Place = tuple[int, int, int]  # line, first byte, byte after its newline


@dataclass(frozen=True, slots=True)
class Origin:
    """What every row of a file carries."""

    file_id: str
    generation: int
    session_id: str | None
    agent_id: str | None
    layout: str
    workflow_run_id: str | None = None


@dataclass(slots=True)
class Tally:
    """What was counted in one file's new lines."""

    lines: int = 0
    entries: int = 0
    rejects: int = 0
    blank_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FileTask:
    """One file to look at, and what is known of it: where its rows go, how far it was read."""

    path: str
    name: str
    origin: Origin
    offset: int
    line_count: int
    blank_bytes: int
    prefix_hash: str
    is_sidecar: bool
    tail: bytes = b""  # of a file that is gone: it will never get its newline
    identity: Identity | None = None  # no other file is read, whatever stands at the path now


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file: how far it is read now, or what went wrong."""

    file_id: str
    generation: int = 0
    offset: int = 0
    line_count: int = 0
    blank_bytes: int = 0
    pending: bytes = b""
    prefix_hash: str = ""
    entries: int = 0
    rejects: int = 0
    bytes_read: int = 0
    lines_read: int = 0
    event: str | None = None
    problem: str | None = None


class LineSink(Protocol):
    """Where the lines go."""

    def add_lines(self, origin: Origin, start: int, lines: bytes, tally: Tally) -> None:
        """Take in whole lines that begin at byte `start` of the file."""

    def add_reject(self, origin: Origin, place: Place, reason: str, raw: bytes | None) -> None:
        """Take in a line that cannot be read, with the reason."""

    def settle(self) -> None:
        """Do what is due between two chunks, when the bytes of neither are in memory."""


def follow(file: FileTask, sink: LineSink) -> FileOutcome:
    """Hand the new whole lines of a log to the sink, all of them if the log was rewritten."""
    with closing(LogReader(file.path, file.identity)) as reader:
        return _follow(file, reader, sink)


def _follow(file: FileTask, reader: LogReader, sink: LineSink) -> FileOutcome:
    origin = file.origin
    tally = Tally(lines=file.line_count, blank_bytes=file.blank_bytes)
    event = None
    if file.offset and not reader.prefix_matches(file.offset, file.prefix_hash):
        reader.start_over()
        origin = replace(origin, generation=origin.generation + 1)
        tally, event = Tally(), "rewritten"
    first_byte, first_line = reader.offset, tally.lines
    for chunk in reader.chunks():
        if chunk.too_long:
            tally.lines += 1
            tally.rejects += 1
            sink.add_reject(origin, (tally.lines, chunk.start, reader.offset), "too_long", None)
        else:
            sink.add_lines(origin, chunk.start, chunk.lines, tally)
        del chunk  # Or its bytes would stay in memory while the next are read.
        sink.settle()
    return FileOutcome(
        origin.file_id,
        origin.generation,
        reader.offset,
        tally.lines,
        tally.blank_bytes,
        reader.pending,
        reader.prefix_hash(),
        tally.entries,
        tally.rejects,
        reader.offset - first_byte,
        tally.lines - first_line,
        "; ".join(filter(None, (event, said_of_tail(reader.waiting_bytes())))) or None,
    )


def said_of_tail(waiting_bytes: int) -> str | None:
    """Say in words that a tail is too long to be kept while it waits; None if it is kept."""
    if waiting_bytes <= KEPT_TAIL_BYTES:
        return None
    if waiting_bytes > LONGEST_LINE_BYTES:
        return f"its last line is longer than {LONGEST_LINE_BYTES >> 20} MiB so far; it waits"
    return f"its last line has {waiting_bytes >> 20} MiB so far; it waits, and no copy is kept"


def whole(file: FileTask) -> tuple[FileOutcome, bytes | None]:
    """Read a small file as one piece; no bytes if it is still what was read before."""
    content = read_small_file(file.path, file.identity)
    origin, digest = file.origin, hash_of(content)
    if digest == file.prefix_hash and file.offset == len(content):
        return FileOutcome(
            origin.file_id, origin.generation, len(content), prefix_hash=digest
        ), None
    outcome = FileOutcome(
        origin.file_id,
        origin.generation + bool(file.prefix_hash),
        len(content),
        prefix_hash=digest,
        bytes_read=len(content),
    )
    return outcome, content


def lines_in(start: int, lines: bytes, tally: Tally) -> Iterator[tuple[Place, bytes]]:
    """Yield the lines that are not blank, each with its place, and count them all.

    The last newline may be left out, so that a long line need not be copied to cut it off.
    """
    at, number = start, tally.lines
    pieces = lines.split(b"\n")
    if not pieces[-1]:
        pieces.pop()
    for line in pieces:
        end = at + len(line) + 1
        number += 1
        if not line or line.isspace():
            tally.blank_bytes += end - at
        else:
            yield (number, at, end), line
        at = end
    tally.lines = number
