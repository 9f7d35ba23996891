"""What each worker gets: sessions have their parts, and a part its files and stored segments."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from etl import parts, peek
from etl.build import PartTask, Segment
from etl.commit import State, Warehouse
from etl.follow import FileTask, Origin
from etl.ledger import LedgerRow
from etl.parts import Slot
from etl.tables import FACTS


def with_slots(rows: list[LedgerRow], known: list[LedgerRow]) -> list[LedgerRow]:
    """Give every row whose session has lines its part; a session keeps the part it once got."""
    slots: dict[tuple[str, str], Slot] = {
        (row.source, row.session_id): Slot(row.part, row.month)
        for row in known
        if row.part is not None and row.month is not None and row.session_id is not None
    }
    filled: dict[Slot, int] = defaultdict(int)
    sources = {row.source for row in rows}
    for row in known:
        # A part lies below its source's folder: a session of another machine gets one of its own.
        if row.source in sources and row.part is not None and row.month is not None:
            filled[Slot(row.part, row.month)] += row.offset
    peeked = [peek.with_session(row) if row.is_of_a_part() else row for row in rows]
    fresh = peek.new_sessions(
        row for row in peeked if row.is_of_a_part() and (row.source, row.session_id) not in slots
    )
    next_part = 1 + max((row.part for row in known if row.part is not None), default=0)
    assigned = parts.assign(fresh, filled=filled, next_part=next_part)
    return [_with_slot(row, slots, assigned) for row in peeked]


def _with_slot(
    row: LedgerRow, slots: dict[tuple[str, str], Slot], assigned: dict[str, Slot]
) -> LedgerRow:
    if row.part is not None or row.session_id is None or not row.is_of_a_part():
        return row
    slot = slots.get((row.source, row.session_id)) or assigned.get(row.session_id)
    return replace(row, part=slot.part, month=slot.month) if slot else row


def part_tasks(rows: list[LedgerRow], state: State, warehouse: Warehouse) -> Iterator[PartTask]:
    """Yield a task for every part that has a file to look at, the largest first."""
    by_slot: dict[Slot, list[LedgerRow]] = defaultdict(list)
    for row in rows:
        if row.part is not None and row.month is not None:
            by_slot[Slot(row.part, row.month)].append(row)
    for slot, members in sorted(by_slot.items(), key=lambda item: -sum(r.size for r in item[1])):
        ordered = sorted(members, key=lambda row: (row.session_id or "", row.layout, row.file_id))
        yield PartTask(
            slot,
            tuple(file_task(row) for row in ordered),
            _segments(state, slot, warehouse),
            str(warehouse.staging),
        )


def file_task(row: LedgerRow) -> FileTask:
    """Return what a worker has to know of a file."""
    return FileTask(
        path=f"{row.root}/{row.path}",
        name=row.path.rpartition("/")[2],
        origin=Origin(
            row.file_id,
            row.generation,
            row.session_id,
            row.agent_id,
            row.layout,
            row.path.split("/")[-2] if row.layout == "workflow" else None,
        ),
        offset=row.offset,
        line_count=row.line_count,
        blank_bytes=row.blank_bytes,
        prefix_hash=row.prefix_hash,
        is_sidecar=row.kind == "sidecar",
        tail=row.pending if row.gone_at else b"",
    )


def _segments(state: State, slot: Slot, warehouse: Warehouse) -> tuple[Segment, ...]:
    facts = {table.name for table in FACTS}
    paths: dict[int, dict[str, str]] = defaultdict(dict)
    raw_bytes: dict[int, int] = {}
    for file in state.files:
        if file.part == slot.part and file.table in facts:
            paths[file.segment][file.table] = str(warehouse.files / file.name)
            raw_bytes[file.segment] = file.raw_bytes
    return tuple(Segment(number, raw_bytes[number], paths[number]) for number in sorted(paths))
