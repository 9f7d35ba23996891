"""One part whose facts are damaged: what is left of it, what is read again, and what is lost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pyarrow as pa

from etl.facts import Facts
from etl.ledger import LedgerRow
from etl.read import LogReader
from etl.tables import CONTENT_BLOCKS, ENTRIES, FACTS, REJECTS, SIDECARS, Table

Left = Mapping[str, pa.Table | None]  # a segment's facts by table; None is damaged
Generation = tuple[str, int]
Place = tuple[int, int, int]  # line, first byte, byte after its newline

_DOCUMENTS = frozenset({"sidecar", "index", "stats"})  # read whole, not line by line
_LINES = (ENTRIES, CONTENT_BLOCKS, REJECTS)


@dataclass(frozen=True, slots=True)
class Account:
    """How far one generation of a log was read, as the ledger has it."""

    row: LedgerRow
    generation: int
    offset: int
    line_count: int
    blank_bytes: int

    def key(self) -> Generation:
        """Return what its rows are found by."""
        return self.row.file_id, self.generation


@dataclass(frozen=True, slots=True)
class Loss:
    """What could not be had: of which file, what, and how much."""

    path: str
    what: str
    lines: int = 0
    bytes: int = 0


@dataclass(slots=True)
class Mended:
    """A part as it can be kept, its files that are to be read again, and what is lost."""

    segments: list[Facts] = field(default_factory=list)
    again: set[str] = field(default_factory=set)
    filled: set[Generation] = field(default_factory=set)
    losses: list[Loss] = field(default_factory=list)


def mended(segments: Sequence[Left], accounts: list[Account], readable: frozenset[str]) -> Mended:
    """Keep what is whole of a part's lines; what no row covers any more becomes rows `lost`."""
    part = Mended()
    is_of_lines = any(one[table.name] is None for one in segments for table in _LINES)
    is_of_sidecars = any(one[SIDECARS.name] is None for one in segments)
    # A part whose files are whole comes here if its account does not come out.
    is_of_lines |= not is_of_sidecars
    now = [one for one in accounts if one.generation == one.row.generation]
    part.again = {
        one.row.file_id
        for one in now
        if one.row.file_id in readable
        and (is_of_sidecars if one.row.kind == "sidecar" else is_of_lines)
    }
    gone = {one.key() for one in now if one.row.file_id in part.again}
    part.segments = [_kept(segment, gone) for segment in segments]
    stay = [one for one in accounts if one.key() not in gone]
    if is_of_lines:
        part.losses += _without_words(segments, part.segments, stay)
        _fill_gaps(part, [one for one in stay if one.row.kind != "sidecar"])
    if is_of_sidecars:
        part.losses += _lost_sidecars(part, stay)
    part.segments = [one for one in part.segments if _has_rows(one)] or part.segments[:1]
    return part


def comes_out(facts: Facts, accounts: Iterable[Account]) -> bool:
    """Say whether every byte of these logs stands in one row, and every row once."""
    places = _places(facts)
    lines = [one for one in accounts if one.row.kind != "sidecar"]
    is_once = all(_is_once(facts[table.name], table) for table in FACTS)
    return is_once and all(not _missing(one, places.get(one.key(), set())) for one in lines)


def past_of(facts: Facts, rows: Mapping[str, LedgerRow]) -> Iterator[dict[str, object]]:
    """Work out from their lines how far the generations that ended were read."""
    for (file_id, generation), places in _places(facts).items():
        if file_id in rows and generation < rows[file_id].generation:
            offset = max(end for _, _, end in places)
            yield {
                "file_id": file_id,
                "generation": generation,
                "offset": offset,
                "line_count": max(number for number, _, _ in places),
                "blank_bytes": offset - sum(end - start for _, start, end in places),
                "prefix_hash": "",
                "ended_at": datetime.fromtimestamp(rows[file_id].first_seen_at / 1e6, tz=UTC),
            }


def is_readable(row: LedgerRow) -> bool:
    """Say whether a log still has all the bytes that were read of it."""
    try:
        with closing(LogReader(f"{row.root}/{row.path}")) as reader:
            is_all = row.kind not in _DOCUMENTS or reader.size == row.offset
            is_read = row.offset > 0 and is_all
            return is_read and reader.prefix_matches(row.offset, row.prefix_hash)
    except OSError:
        return False


def set_back(row: LedgerRow) -> LedgerRow:
    """Return the row of a file that is to be read from its beginning."""
    return replace(
        row, offset=0, line_count=0, blank_bytes=0, pending=b"", prefix_hash="", ctime_ns=0
    )


def _has_rows(facts: Facts) -> bool:
    return any(rows.num_rows for rows in facts.values())


def _kept(segment: Left, gone: set[Generation]) -> Facts:
    facts: Facts = {}
    for table in FACTS:
        rows = segment[table.name]
        # Blocks lie in the segment of their entries, and are nothing without them.
        if rows is None or (table is CONTENT_BLOCKS and segment[ENTRIES.name] is None):
            facts[table.name] = table.schema().empty_table()
        else:
            facts[table.name] = _without(rows, table, gone)
    return facts


def _without(rows: pa.Table, table: Table, gone: set[Generation]) -> pa.Table:
    """Leave out generations that go, and what stands there twice."""
    seen: set[object] = set()
    keeps = []
    for key in _keys(rows, table):
        keeps.append(key[:2] not in gone and key not in seen)
        seen.add(key)
    return rows.filter(pa.array(keeps, pa.bool_()))


def _keys(rows: pa.Table, table: Table) -> Iterator[tuple[object, ...]]:
    return zip(*(rows.column(name).to_pylist() for name in table.key), strict=True)


def _is_once(rows: pa.Table, table: Table) -> bool:
    return bool(rows.num_rows == len(set(_keys(rows, table))))


def _places(facts: Facts) -> dict[Generation, set[Place]]:
    places: dict[Generation, set[Place]] = {}
    for name in (ENTRIES.name, REJECTS.name):
        names = ("file_id", "generation", "line_no", "byte_start", "byte_end")
        columns = [facts[name].column(one).to_pylist() for one in names]
        for file_id, generation, *place in zip(*columns, strict=True):
            places.setdefault((file_id, generation), set()).add((place[0], place[1], place[2]))
    return places


def _missing(account: Account, places: set[Place]) -> int:
    return account.offset - account.blank_bytes - sum(end - start for _, start, end in places)


def _fill_gaps(part: Mended, accounts: list[Account]) -> None:
    names = (ENTRIES.name, REJECTS.name)
    together = {name: pa.concat_tables([one[name] for one in part.segments]) for name in names}
    places = _places(together)
    fillers: list[dict[str, object]] = []
    for account in accounts:
        covered = places.get(account.key(), set())
        missing = _missing(account, covered)
        if missing:
            gaps = list(_gaps(account, covered))
            fillers += [_lost_row(account, gap) for gap, _ in gaps]
            part.filled.add(account.key())
            lines = sum(count for _, count in gaps)
            what = "lines that are lost"
            part.losses.append(Loss(_path_of(account), what, lines, missing))
    if fillers:
        schema = REJECTS.schema()
        arrays = [pa.array([row.get(one.name) for row in fillers], type=one.type) for one in schema]
        lost = pa.Table.from_arrays(arrays, schema=schema)
        last = part.segments[-1]
        last[REJECTS.name] = pa.concat_tables([last[REJECTS.name], lost])


def _path_of(account: Account) -> str:
    row = account.row
    older = f" (generation {account.generation})" if account.generation < row.generation else ""
    return f"{row.root}/{row.path}{older}"


def _gaps(account: Account, covered: set[Place]) -> Iterator[tuple[Place, int]]:
    """Yield what no line covers, each with its first line's number, and how many it may be."""
    at, line = 0, 0
    for number, start, end in sorted(covered, key=lambda place: place[1]):
        if start > at:
            yield (line + 1, at, start), number - line - 1
        at, line = end, number
    if account.offset > at:
        yield (line + 1, at, account.offset), account.line_count - line


def _lost_row(account: Account, place: Place) -> dict[str, object]:
    row = account.row
    return {
        "file_id": row.file_id,
        "generation": account.generation,
        "line_no": place[0],
        "byte_start": place[1],
        "byte_end": place[2],
        "object_index": 0,
        "session_id": row.session_id,
        "agent_id": row.agent_id,
        "reason": "lost",
    }


def _without_words(
    segments: Sequence[Left], kept: list[Facts], accounts: list[Account]
) -> Iterator[Loss]:
    """Tell of which logs entries stay whose blocks were in a damaged file."""
    paths = {one.key(): _path_of(one) for one in accounts}
    told: dict[str, list[int]] = {}
    for before, after in zip(segments, kept, strict=True):
        if before[CONTENT_BLOCKS.name] is None and before[ENTRIES.name] is not None:
            names = ("file_id", "generation", "role", "byte_start", "byte_end")
            columns = [after[ENTRIES.name].column(name).to_pylist() for name in names]
            for file_id, generation, role, start, end in zip(*columns, strict=True):
                if role is not None:
                    path = paths.get((file_id, generation), file_id)
                    told.setdefault(path, []).append(end - start)
    for path, sizes in told.items():
        yield Loss(path, "lines without their words", len(sizes), sum(sizes))


def _lost_sidecars(part: Mended, accounts: list[Account]) -> Iterator[Loss]:
    there = {key for one in part.segments for key in _keys(one[SIDECARS.name], SIDECARS)}
    for account in accounts:
        row = account.row
        was_read = row.offset or account.generation < row.generation
        if row.kind == "sidecar" and was_read and account.key() not in there:
            yield Loss(_path_of(account), "a sidecar that is lost", 0, account.offset)
