"""Give every session its part: a bucket of whole sessions, about 64 MB of raw log, for ever."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

PART_BYTES = 64_000_000
SEGMENT_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a session's rows live: a part, in the folder of a month."""

    part: int
    month: str


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session without a part: how much of it there is, and the month it goes under."""

    session_id: str
    size: int
    month: str


def assign(
    sessions: Iterable[NewSession],
    *,
    filled: Mapping[Slot, int],
    next_part: int,
    part_bytes: int = PART_BYTES,
) -> dict[str, Slot]:
    """Give each new session a slot: first the room left in its month's parts, then new parts.

    Large ones go first, each into the emptiest part, so that parts and workers are balanced.
    """
    slots: dict[str, Slot] = {}
    by_month: dict[str, list[NewSession]] = defaultdict(list)
    for session in sessions:
        by_month[session.month].append(session)
    for month in sorted(by_month):
        loads = {
            slot: load for slot, load in filled.items() if slot.month == month and load < part_bytes
        }
        room = sum(part_bytes - load for load in loads.values())
        missing = sum(session.size for session in by_month[month]) - room
        for _ in range(_parts_for(missing, part_bytes, any_part=bool(loads))):
            loads[Slot(next_part, month)] = 0
            next_part += 1
        for session in sorted(by_month[month], key=lambda one: (-one.size, one.session_id)):
            emptiest = min(loads, key=lambda slot: (loads[slot], slot.part))
            loads[emptiest] += session.size
            slots[session.session_id] = emptiest
    return slots


def _parts_for(missing: int, part_bytes: int, *, any_part: bool) -> int:
    needed = -(-missing // part_bytes) if missing > 0 else 0
    return needed if any_part else max(1, needed)
