"""What must hold for any bytes at all: read in time, never raising, kept once, and given back."""

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from etl import derive, rebuild
from etl.facts import FactBatch, Facts
from etl.follow import Tally
from etl.parse import DEEPEST_NESTING
from etl.tables import FACTS
from tests.normalise.reader import MAIN

Place = tuple[int, int, int]

LINES_A_DERIVE = 500
_PADDING = " \t\r\n"


class WrongError(AssertionError):
    """Raised for bytes of which something is lost, kept twice, changed or slow."""


@dataclass(frozen=True, slots=True)
class Told:
    """A line as Python's own reader tells it; `is_plain` if JSON text can say all of it."""

    objects: list[str]
    is_plain: bool


@dataclass(slots=True)
class Judge:
    """Looks at one input after the other, and derives all of them together now and then."""

    inputs: int = 0
    slowest_seconds: float = 0.0
    _held: list[bytes] = field(default_factory=list)

    def look_at(self, content: bytes) -> None:
        """Check that some bytes, as the lines of a log, are read as promised."""
        self.inputs += 1
        started = time.process_time()
        tally = Tally()
        facts = _facts_of(content + b"\n", tally)
        seconds = time.process_time() - started
        self.slowest_seconds = max(self.slowest_seconds, seconds)
        if seconds > 2 + len(content) / 50_000:
            raise WrongError(f"took {seconds:.1f} s for {len(content):,} bytes")
        _check(content + b"\n", facts, tally)
        self._held.append(content)
        if len(self._held) >= LINES_A_DERIVE:
            self.derive()

    def derive(self) -> None:
        """Derive the tables of everything that was looked at since the last time."""
        held, self._held = self._held, []
        derive.derive(_facts_of(b"\n".join([*held, b""]), Tally()))


def _facts_of(lines: bytes, tally: Tally) -> Facts:
    batch = FactBatch()
    batch.add_lines(MAIN, 0, lines, tally)
    return batch.take()


def _check(content: bytes, facts: Facts, tally: Tally) -> None:
    for table in FACTS:
        facts[table.name].validate(full=True)
    entries, rejects = _by_place(facts, "entries"), _by_place(facts, "rejects")
    places = _places_of(content)
    if entries.keys() & rejects.keys() or sorted([*entries, *rejects]) != places:
        raise WrongError("a line is kept twice, nowhere or in the wrong place")
    kept = sum(end - start for _, start, end in places)
    if kept + tally.blank_bytes != len(content) or tally.lines != content.count(b"\n"):
        raise WrongError("not every byte is accounted for")
    blocks = _by_place(facts, "content_blocks")
    for place in places:
        line = content[place[1] : place[2] - 1]
        if place in rejects:
            _check_reject(line, rejects[place])
        else:
            _check_entries(line, entries[place], blocks.get(place, []))


def _by_place(facts: Facts, name: str) -> dict[Place, list[dict[str, Any]]]:
    rows = facts[name]
    if "occurred_at" in rows.column_names:
        at = rows.column_names.index("occurred_at")
        rows = rows.set_column(at, "occurred_at", rows.column(at).cast("int64"))
    found = defaultdict(list)
    for row in rows.to_pylist():
        found[row["line_no"], row["byte_start"], row["byte_end"]].append(row)
    return found


def _places_of(content: bytes) -> list[Place]:
    places, at = [], 0
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        end = at + len(line) + 1
        if line.strip():
            places.append((number, at, end))
        at = end
    return places


def _check_reject(line: bytes, rows: Sequence[dict[str, Any]]) -> None:
    if [row["raw"] for row in rows] != [line]:
        raise WrongError("a rejected line is not kept as it was")
    told = told_by_python(line)
    if told is not None and told.is_plain and told.objects:
        raise WrongError(f"rejected as {rows[0]['reason']} what Python reads")


def _check_entries(
    line: bytes, rows: Sequence[dict[str, Any]], blocks: Sequence[dict[str, Any]]
) -> None:
    if [row["object_index"] for row in rows] != list(range(len(rows))):
        raise WrongError("the objects of a line are not numbered")
    first, *others = [row["raw"] for row in rows]
    if any(others) or (first is not None) != (rows[0]["flaws"] is not None):
        raise WrongError("a line's bytes stand more than once, or without a flaw")
    back = [canonical(_rebuilt(row, blocks)) for row in rows]
    if first is not None:
        if first != line:
            raise WrongError("a flawed line is not kept as it was")
        return
    told = told_by_python(line)
    if told is None or not told.is_plain or back != told.objects:
        raise WrongError("what comes back is not what was logged")


def _rebuilt(row: dict[str, Any], blocks: Sequence[dict[str, Any]]) -> object:
    own = [block for block in blocks if block["object_index"] == row["object_index"]]
    return rebuild.object_of(row, own)


def told_by_python(line: bytes) -> Told | None:
    """Read the objects of a line another way; None if it is no JSON, or none that is objects."""
    losses: list[str] = []

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) != len(pairs):
            losses.append("keys")
        return dict(pairs)

    def number(digits: str) -> Decimal | None:
        try:
            return Decimal(digits)
        except InvalidOperation:  # An exponent that no decimal has.
            losses.append("number")
            return None

    decoder = json.JSONDecoder(
        object_pairs_hook=members, parse_float=number, parse_constant=losses.append
    )
    try:
        text, found, at = line.decode().strip(_PADDING), [], 0
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            at += len(text[at:]) - len(text[at:].lstrip(_PADDING))
            found.append(value)
        objects = [canonical(one) for one in found if isinstance(one, dict)]
        json.dumps(found, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return Told([], is_plain=False)
    except (ValueError, RecursionError):
        return None
    is_plain = not losses and len(objects) == len(found) and _depth_of(found) <= DEEPEST_NESTING
    return Told(objects, is_plain)


def canonical(value: object) -> str:
    """Write a value so that equal text is the same JSON to the last digit."""
    return repr(_plain(value))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return sorted((key, _plain(item)) for key, item in value.items())
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return Decimal(repr(value)).normalize()
    return value.normalize() if isinstance(value, Decimal) else value


def _depth_of(values: list[object]) -> int:
    depth, level = -1, values
    while level:
        depth += 1
        inner = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level = [item for one in inner if isinstance(one, list) for item in one or [None]]
    return depth
