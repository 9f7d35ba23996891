"""Sessions and the parts they get."""

from collections import defaultdict
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from etl.parts import NewSession, Slot, assign

SESSIONS = st.lists(
    st.builds(
        NewSession,
        session_id=st.uuids().map(str),
        size=st.integers(0, 250),
        month=st.sampled_from(["2026-01", "2026-02"]),
    ),
    max_size=25,
    unique_by=lambda session: session.session_id,
)
FILLED = {Slot(0, "2026-01"): 40, Slot(1, "2026-01"): 100, Slot(2, "2026-02"): 99}


def loads_of(sessions: list[NewSession], slots: dict[str, Slot]) -> dict[Slot, int]:
    loads: dict[Slot, int] = defaultdict(int)
    for session in sessions:
        loads[slots[session.session_id]] += session.size
    return loads


@given(SESSIONS)
def test_every_session_gets_one_part_of_its_month(sessions: list[NewSession]) -> None:
    slots = assign(sessions, filled=FILLED, next_part=3, part_bytes=100)
    assert slots.keys() == {session.session_id for session in sessions}
    assert all(slots[session.session_id].month == session.month for session in sessions)
    months = defaultdict(set)
    for slot in [*FILLED, *slots.values()]:
        months[slot.part].add(slot.month)
    assert all(len(names) == 1 for names in months.values())


@given(SESSIONS)
def test_no_part_grows_beyond_its_size_and_one_session(sessions: list[NewSession]) -> None:
    slots = assign(sessions, filled=FILLED, next_part=3, part_bytes=100)
    largest = max((session.size for session in sessions), default=0)
    for slot, load in loads_of(sessions, slots).items():
        assert FILLED.get(slot, 0) + load <= 100 + largest


@given(SESSIONS, st.randoms(use_true_random=False))
def test_order_of_sessions_does_not_matter(sessions: list[NewSession], dice: Random) -> None:
    shuffled = sorted(sessions, key=lambda _: dice.random())
    one = assign(sessions, filled=FILLED, next_part=3, part_bytes=100)
    assert assign(shuffled, filled=FILLED, next_part=3, part_bytes=100) == one


def test_new_parts_are_balanced() -> None:
    sessions = [NewSession(f"s{number:02d}", 10, "2026-01") for number in range(40)]
    slots = assign(sessions, filled={}, next_part=7, part_bytes=100)
    loads = loads_of(sessions, slots)
    assert sorted(slot.part for slot in loads) == [7, 8, 9, 10]
    assert set(loads.values()) == {100}


def test_existing_part_is_filled_first() -> None:
    sessions = [NewSession("a", 30, "2026-01"), NewSession("b", 30, "2026-01")]
    slots = assign(sessions, filled=FILLED, next_part=3, part_bytes=100)
    assert set(slots.values()) == {Slot(0, "2026-01")}


def test_full_part_and_part_of_another_month_are_left_alone() -> None:
    filled = {Slot(0, "2026-01"): 100, Slot(1, "2026-02"): 0}
    slots = assign([NewSession("a", 1, "2026-01")], filled=filled, next_part=2, part_bytes=100)
    assert slots == {"a": Slot(2, "2026-01")}


def test_session_larger_than_a_part_stays_whole() -> None:
    slots = assign([NewSession("a", 950, "2026-01")], filled={}, next_part=0, part_bytes=100)
    assert slots["a"].month == "2026-01"


def test_empty_session_gets_a_part_too() -> None:
    slots = assign([NewSession("a", 0, "2026-01")], filled={}, next_part=0, part_bytes=100)
    assert slots == {"a": Slot(0, "2026-01")}
