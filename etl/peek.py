"""Look into the head of a file before it is read: whose session it is, and of which month."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

from etl.follow import said_of_tail
from etl.ledger import LedgerRow
from etl.parse import objects_of, parse_line
from etl.parts import NewSession
from etl.read import LogReader, TornReadError

_HEAD_BYTES = 1 << 18
_MONTH = re.compile(rb'"timestamp":"(\d{4}-(?:0[1-9]|1[0-2]))-')


def with_session(row: LedgerRow) -> LedgerRow:
    """Name the session of an agent file that lies beside the sessions: the first it mentions."""
    if row.session_id is not None or row.kind == "sidecar":
        return row
    session = next(filter(None, map(_session_in, _lines_of(row))), None)
    # Without one it waits, its bytes kept as pending, until a line names the session.
    return replace(row, session_id=session) if session else row


def _lines_of(row: LedgerRow) -> Iterator[bytes]:
    """Yield whole lines from the first on, some at a time; all that is left of a file that went."""
    if row.gone_at is not None:
        yield row.pending
        return
    try:
        with closing(_opened(row)) as reader:
            for chunk in reader.chunks():
                yield chunk.lines
    except OSError:
        return  # The read itself opens it again, and reports why it cannot.


def _session_in(lines: bytes) -> str | None:
    for line in lines.split(b"\n"):
        for object_ in objects_of(parse_line(line)):
            session = object_.get("sessionId")
            if isinstance(session, str) and session:
                return session
    return None


def new_sessions(rows: Iterable[LedgerRow]) -> list[NewSession]:
    """Return the sessions among these files that have a whole line, with size and month."""
    members: dict[str, list[LedgerRow]] = defaultdict(list)
    for row in rows:
        if row.session_id is not None:
            members[row.session_id].append(row)
    return [
        session
        for session_id, files in sorted(members.items())
        if (session := _new_session(session_id, files)) is not None
    ]


def _new_session(session_id: str, files: list[LedgerRow]) -> NewSession | None:
    ordered = sorted(files, key=lambda row: (row.layout != "main", row.path))
    logs = [row for row in ordered if row.kind != "sidecar" and b"\n" in _head(row)]
    if not logs:
        return None
    size = sum(row.size for row in files)
    for row in logs:
        if match := _MONTH.search(_head(row)):
            return NewSession(session_id, size, match.group(1).decode())
    changed = datetime.fromtimestamp(max(0, logs[0].mtime_ns) / 1e9, tz=UTC)
    return NewSession(session_id, size, f"{changed:%Y-%m}")


def with_pending(
    row: LedgerRow, problems: list[tuple[str, str]], events: list[tuple[str, str]]
) -> LedgerRow:
    """Keep the tail of a file that has no whole line yet, unless it is too long to be kept."""
    if row.kind == "sidecar" or row.gone_at is not None:
        return row
    if not row.size:
        return replace(row, pending=b"")
    if told := said_of_tail(row.size):
        events.append((row.path, told))
        return replace(row, pending=b"")
    try:
        with closing(_opened(row)) as reader:
            return replace(row, pending=reader.head(row.size))
    except TornReadError:
        events.append((row.path, "torn"))
    except OSError as error:
        problems.append((row.path, f"cannot read: {error.strerror}"))
    return replace(row, ctime_ns=0)  # So that the next run looks again.


def _head(row: LedgerRow) -> bytes:
    """Return a stretch of the file with a newline in it; without one there is no whole line."""
    if row.gone_at is not None:
        return row.pending + b"\n"  # All that is left of it will never get its newline.
    try:
        with closing(_opened(row)) as reader:
            head = reader.head(_HEAD_BYTES)
            if b"\n" in head:
                return head
            first = next(reader.chunks(), None)
            return first.lines + b"\n" if first else head
    except OSError:
        return b""  # The read itself opens it again, and reports why it cannot.


def _opened(row: LedgerRow) -> LogReader:
    return LogReader(f"{row.root}/{row.path}", (row.device, row.inode))
