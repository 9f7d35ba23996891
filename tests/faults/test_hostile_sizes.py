"""However long a line, a tail or a session is: memory is bounded, and time grows as its bytes."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from etl import derive
from etl.build import BATCH_BYTES
from etl.parse import parse_line
from etl.parts import SEGMENT_BYTES
from etl.read import LONGEST_LINE_BYTES
from tests.faults.memory import watched_sync
from tests.faults.tally import Tally
from tests.normalise.reader import facts_of
from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    append,
    assistant,
    encoded,
    envelope,
    rows,
    text,
    tool_result,
    tool_use,
    user,
)

MEGABYTE = 1_000_000
# What a sync takes for a small log, and what one batch, one heap of values and DuckDB may take.
FIXED_BYTES = 320 * MEGABYTE
MOST_FACTOR = 4
WIDE_FACTOR = 8.5  # Python keeps text with one emoji at four bytes a character
STRICT_FACTOR = 6.5


def write_pieces(root: Path, pieces: Iterable[bytes]) -> Path:
    """Write a log piece by piece, so that this process stays small."""
    target = root / "projects" / PROJECT / f"{SESSION}.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as sink:
        sink.writelines(pieces)
    return target


def long_line(line: Line, megabytes: int, first: str = "") -> Iterable[bytes]:
    """A line in which MARK is so many megabytes of words."""
    before, _, after = encoded([line]).partition(b"MARK")
    yield before + first.encode()
    for _ in range(megabytes):
        yield b"kiln clay " * (MEGABYTE // 10)
    yield after


LONG = {
    "text": (user("MARK"), "", MOST_FACTOR),
    "payload": (tool_result(toolUseResult={"stdout": "MARK"}), "", MOST_FACTOR),
    "escaped": (user("MARK"), "\\n\\u00e9", MOST_FACTOR + 1),
    "wide": (user("MARK"), "\U0001f600", WIDE_FACTOR),
    "half": (user("MARK"), "\\ud800", STRICT_FACTOR),
    "odd key": ({"MARK": 1}, "", 7.5),  # its name stands in unknown_fields, too
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LONG)
def test_a_line_of_a_hundred_megabytes_takes_a_bounded_multiple_of_itself(
    logs: Path, lake: Path, kind: str, tally: Tally
) -> None:
    line, first, factor = LONG[kind]
    log = write_pieces(logs, long_line(line, 100, first))
    watched = watched_sync(logs, lake)
    tally.bad_inputs += 1
    assert (watched.run["problems"], watched.run["entries"], watched.run["rejects"]) == ([], 1, 0)
    assert watched.peak_bytes <= FIXED_BYTES + factor * log.stat().st_size


@pytest.mark.slow
def test_a_line_as_long_as_is_accepted_is_an_entry_in_bounded_memory(
    logs: Path, lake: Path, tally: Tally
) -> None:
    log = write_pieces(logs, long_line(user("MARK"), LONGEST_LINE_BYTES // MEGABYTE))
    watched = watched_sync(logs, lake)
    tally.bad_inputs += 1
    assert (watched.run["entries"], watched.run["rejects"]) == (1, 0)
    assert watched.peak_bytes <= FIXED_BYTES + MOST_FACTOR * log.stat().st_size


@pytest.mark.slow
def test_a_line_of_a_gigabyte_is_one_reject_in_fixed_memory(
    logs: Path, lake: Path, tally: Tally
) -> None:
    lines = [
        encoded([user("before")]),
        *long_line(user("MARK"), 1000),
        encoded([user("after", "u2")]),
    ]
    log = write_pieces(logs, lines)
    watched = watched_sync(logs, lake)
    size = log.stat().st_size
    again = watched_sync(logs, lake)
    log.unlink()
    tally.bad_inputs += 1
    assert (watched.run["entries"], watched.run["rejects"], watched.run["lines"]) == (2, 1, 3)
    assert watched.peak_bytes <= FIXED_BYTES
    assert rows(lake, "select line_no, reason, raw from rejects") == [(2, "too_long", None)]
    assert rows(lake, 'select "offset" from source_files') == [(size,)]
    assert (again.run["is_committed"], again.run["bytes"]) == (False, 0)


@pytest.mark.slow
def test_a_gigabyte_without_a_newline_waits_in_fixed_memory(
    logs: Path, lake: Path, tally: Tally
) -> None:
    before = encoded([user("before")])
    log = write_pieces(logs, [before, *long_line(user("MARK"), 1000)][:-1])
    watched = watched_sync(logs, lake)
    log.unlink()
    gone = watched_sync(logs, lake)
    tally.bad_inputs += 1
    words = "its last line is longer than 256 MiB so far; it waits"
    assert watched.run["events"] == [[f"{PROJECT}/{SESSION}.jsonl", words]]
    assert (watched.run["entries"], watched.run["rejects"]) == (1, 0)
    assert max(watched.peak_bytes, gone.peak_bytes) <= FIXED_BYTES
    ask = 'select "offset", octet_length(pending), gone_at is not null from source_files'
    assert rows(lake, ask) == [(len(before), 0, True)]


@pytest.mark.slow
def test_long_lines_one_after_the_other_take_no_more_than_one(
    logs: Path, lake: Path, tally: Tally
) -> None:
    one = [*long_line(user("MARK"), 60)]
    log = write_pieces(logs, [piece for _ in range(8) for piece in one])
    watched = watched_sync(logs, lake)
    tally.bad_inputs += 8
    assert watched.run["entries"] == 8
    # A segment of 64 MB is written and let go before the next is read.
    assert watched.peak_bytes <= FIXED_BYTES + MOST_FACTOR * log.stat().st_size / 4


def write_turns(root: Path, megabytes: int) -> Path:
    """Write an ordinary log: prompts, calls and results of a few kilobytes."""
    turns = (
        [
            user("Go on", f"u{n}", n % 3600),
            assistant(tool_use(f"t{n}"), uuid=f"a{n}", message_id=f"m{n}", request=f"r{n}"),
            tool_result(f"t{n}", f"{n} " + "clay " * 1200, uuid=f"r{n}"),
        ]
        for n in range(megabytes * 75)  # of 13.3 kB each
    )
    return write_pieces(root, map(encoded, turns))


@pytest.mark.slow
def test_a_log_of_a_gigabyte_is_read_in_time_and_memory(
    logs: Path, lake: Path, tally: Tally
) -> None:
    small, large = logs / "small", logs / "large"
    write_turns(small, 125)
    log = write_turns(large, 1000)
    once = watched_sync(small, lake / "small")
    watched = watched_sync(large, lake / "large")
    size = log.stat().st_size
    log.unlink()
    tally.bad_inputs += 1
    assert size > 950 * MEGABYTE
    assert (watched.run["problems"], watched.run["lines"]) == ([], 225_000)
    assert watched.cpu_seconds <= 2 + 3 * 8 * once.cpu_seconds
    # Texts are written and let go; what is derived of a session grows with its lines.
    assert watched.peak_bytes <= FIXED_BYTES + size


def write_many(root: Path, count: int) -> None:
    for n in range(count):
        session = f"{n:08d}-0000-4000-8000-000000000000"
        path = root / "projects" / f"-p{n % 40}" / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded([user("hi", f"u{n}", sessionId=session)]))


@pytest.mark.slow
def test_fifty_thousand_logs_are_read_in_time_and_memory_and_then_left_alone(
    logs: Path, lake: Path, tally: Tally
) -> None:
    small, large = logs / "small", logs / "large"
    write_many(small, 6_250)
    write_many(large, 50_000)
    once = watched_sync(small, lake / "small")
    first, idle = (watched_sync(large, lake / "large") for _ in range(2))
    append(large / "projects/-p7/00000007-0000-4000-8000-000000000000.jsonl", user("ho", "v"))
    more = watched_sync(large, lake / "large")
    tally.bad_inputs += 1
    assert (first.run["problems"], first.run["entries"]) == ([], 50_000)
    assert first.cpu_seconds <= 2 + 3 * 8 * once.cpu_seconds
    assert first.peak_bytes <= 1000 * MEGABYTE
    assert (idle.run["is_committed"], more.run["entries"], more.run["files_read"]) == (False, 1, 1)
    assert idle.cpu_seconds < first.cpu_seconds


WORDY = {
    "numbers": b'{"a":[' + b"9e15," * 100_000 + b"1]}",
    "bytes": b'{"a":"' + b"\xff" * 100_000 + b'"}',
    "escapes": b'{"a":"' + b"\\b\\n" * 100_000 + b'"}',
    "text": b'{"message":{"content":"' + b"\xff" * 100_000 + b'"}}',
}


@pytest.mark.parametrize("kind", WORDY)
def test_no_column_of_a_segment_outgrows_what_arrow_can_hold(kind: str, tally: Tally) -> None:
    line = WORDY[kind]
    tables = facts_of(line + b"\n").values()
    largest = max(column.nbytes for table in tables for column in table.columns)
    most_bytes = SEGMENT_BYTES + BATCH_BYTES + LONGEST_LINE_BYTES
    assert most_bytes * largest / len(line) < 1 << 31
    tally.bad_inputs += 1


# ---- Time.

MILLION = 1_000_000
CROWDS: dict[str, tuple[Callable[[int], bytes], int, int]] = {
    "blocks": (lambda n: encoded([assistant(*[text("x")] * n)]), 1, 0),
    "calls": (lambda n: encoded([assistant(*[tool_use()] * (n // 4))]), 1, 0),
    "keys": (lambda n: b"{" + b",".join(b'"k%d":1' % at for at in range(n)) + b"}\n", 1, 0),
    "same keys": (lambda n: b"{" + b",".join([b'"k":1'] * n) + b"}\n", 1, 0),
    "objects on a line": (lambda n: b"{}" * n + b"\n", MILLION, 0),
    "objects with a flaw": (lambda n: b'{"a":1}' * (n // 8) + b"\0\n", MILLION // 8, 0),
    "empty lines": (lambda n: b"\n" * n, 0, 0),
    "lines": (lambda n: b"{}\n" * n, MILLION, 0),
    "rejects": (lambda n: b"x\n" * n, 0, MILLION),
}


@pytest.mark.slow
@pytest.mark.parametrize("crowd", CROWDS)
def test_a_million_of_anything_is_read_in_time_and_memory(
    logs: Path, lake: Path, crowd: str, tally: Tally
) -> None:
    make, entries, rejects = CROWDS[crowd]
    small, large = (logs / name for name in ("small", "large"))
    write_pieces(small, [make(MILLION // 8)])
    log = write_pieces(large, [make(MILLION)])
    once = watched_sync(small, lake / "small")
    watched = watched_sync(large, lake / "large")
    tally.bad_inputs += 1
    assert watched.run["problems"] == []
    assert (watched.run["entries"], watched.run["rejects"]) == (entries, rejects)
    assert watched.cpu_seconds <= 2 + 3 * 8 * once.cpu_seconds
    assert watched.peak_bytes <= 2500 * MEGABYTE
    assert not watched_sync(large, lake / "large").run["is_committed"]
    assert rows(lake / "large", 'select "offset" from source_files') == [(log.stat().st_size,)]


def cpu_seconds(step: Callable[[], object]) -> float:
    """Return the CPU time of the faster of two tries."""
    tries = []
    for _ in range(2):
        started = time.process_time()
        step()
        tries.append(time.process_time() - started)
    return min(tries)


HARD: dict[str, Callable[[int], bytes]] = {
    "backslashes": lambda n: b'{"a":"' + b"\\" * n,
    "quotes": lambda n: b'{"a":' + b'"' * n,
    "escaped quotes": lambda n: b'{"a":NaN,"b":"' + b'\\"' * n,
    "open brackets": lambda n: b"[" * n,
    "strings without end": lambda n: b'{"a":"x' * n,
    "zeros": lambda n: b'{"a":1}' + b"\0 " * n,
    "objects": lambda n: b'{"a":NaN}' * (n // 8),
    "halves": lambda n: b'{"a":"' + b"\\ud800" * (n // 8) + b'"}',
    "invalid bytes": lambda n: b'{"a":"' + b"\xff" * n + b'"}',
    "a long number": lambda n: b'{"a":0.' + b"1" * n + b"}",
    "a long integer": lambda n: b'{"a":' + b"1" * n + b"}",
    "a long exponent": lambda n: b'{"a":1e' + b"1" * n + b"}",
    "like keys": lambda n: b"{" + b",".join(b'"%064d":1' % at for at in range(n // 64)) + b"}",
    "command tags": lambda n: encoded([user("<command-name>" * (n // 14))]),
    "closed command tags": lambda n: encoded(
        [user("<command-name></command-name>" * (n // 28) + "x")]
    ),
    "reminders": lambda n: encoded([user("<system-reminder></system-reminder>" * (n // 35))]),
    "open reminders": lambda n: encoded([user("<system-reminder " * (n // 17))]),
    "spaces in tags": lambda n: encoded([user("<task-notification><task-id>" + " " * n)]),
    "spaces": lambda n: encoded([user(" " * n)]),
    "task ids": lambda n: encoded([user("<task-notification>" + "<task-id> a" * (n // 11))]),
    "a stub": lambda n: encoded(
        [tool_result(content="<persisted-output" + " saved to:" * (n // 10))]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HARD)
def test_hard_lines_take_time_as_their_length(kind: str, tally: Tally) -> None:
    make = HARD[kind]
    short, long = make(200_000).rstrip(b"\n"), make(1_600_000).rstrip(b"\n")
    steps: tuple[Callable[[bytes], object], ...] = (parse_line, lambda one: facts_of(one + b"\n"))
    for step in steps:
        once = cpu_seconds(partial(step, short))
        assert cpu_seconds(partial(step, long)) <= 0.3 + 24 * once
    tally.bad_inputs += 1


def queued(uuid: str, words: str) -> Line:
    return envelope("attachment", uuid, 1, attachment={"type": "queued_command", "prompt": words})


def command(uuid: str, kind: str) -> Line:
    words = "<command-name>/kiln</command-name>"
    if kind == "user":
        return user(words, uuid)
    return envelope("system", uuid, 0, subtype="local_command", content=words)


SESSIONS: dict[str, Callable[[int], Line]] = {
    "nothing": lambda _: {},
    "prompts": lambda n: user("hi", f"u{n}"),
    "the same line": lambda _: user("hi"),
    "queued prompts": lambda n: queued(f"q{n}", "hi") if n % 2 else user("hi", f"u{n}"),
    "commands": lambda n: command(f"c{n}", "user" if n % 2 else "system"),
    "one response": lambda n: assistant(tool_use(), uuid=f"a{n}"),
    "responses": lambda n: assistant(tool_use(f"t{n}"), uuid=f"a{n}", message_id=f"m{n}"),
    "results": lambda n: tool_result(uuid=f"r{n}"),
    "a long thread": lambda n: user("hi", f"u{n}", isSidechain=True, parentUuid=f"u{n - 1}"),
    "a thread of two names": lambda n: user(
        "hi", f"u{n % 2}", isSidechain=True, parentUuid="nobody" if n % 2 else "u1"
    ),
    "agents": lambda n: assistant(uuid=f"a{n}", isSidechain=True, agentId=f"g{n}"),
    "compactions": lambda n: envelope(
        "system", f"c{n}", n, subtype="compact_boundary", compactMetadata={"preTokens": 1}
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SESSIONS)
def test_a_long_session_is_derived_in_time_as_its_length(kind: str, tally: Tally) -> None:
    make = SESSIONS[kind]
    short, long = (facts_of(encoded(make(at) for at in range(n))) for n in (10_000, 80_000))
    once = cpu_seconds(lambda: derive.derive(short))
    assert cpu_seconds(lambda: derive.derive(long)) <= 16 * once
    tally.bad_inputs += 1
