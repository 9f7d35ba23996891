"""One damaged part: what is kept of it, which of its files are read again, and what is lost."""

from pathlib import Path

import pyarrow as pa
import pytest

from etl.facts import Facts
from etl.ledger import LedgerRow
from etl.mend import Account, Left, comes_out, mended, past_of
from etl.tables import FACTS
from tests.sessions import encoded, user
from tests.test_rewrite import facts_of, segment_of

LINES: list[bytes] = [
    encoded([user(f"words {number}", f"u{number}")]) if number % 3 else b"\n" for number in range(9)
]
LOG = b"".join([*LINES, b"oops\n"])


def row_of(**more: object) -> LedgerRow:
    names = {"offset": len(LOG), "line_count": 10, "blank_bytes": 3, "generation": 0}
    texts = dict.fromkeys(("source", "root", "layout", "prefix_hash"), "")
    rest = dict.fromkeys(("size", "mtime_ns", "ctime_ns", "device", "inode", "first_seen_at"), 0)
    told = {"file_id": "id-a", "path": "a", "kind": "main", "session_id": "s", "agent_id": None}
    last = {"pending": b"", "part": 1, "month": "2026-03", "gone_at": None}
    return LedgerRow(**(texts | rest | names | told | last | more))  # type: ignore[arg-type]


def account(**more: object) -> Account:
    row = row_of(**more)
    return Account(row, row.generation, row.offset, row.line_count, row.blank_bytes)


@pytest.fixture
def facts(tmp_path: Path) -> Facts:
    segment, _ = segment_of(tmp_path, {"a": LOG})
    return facts_of(segment)


def halves(facts: Facts) -> list[Left]:
    """Return the facts as two segments, the lines in both by turns."""
    odd = {
        name: rows.filter(pa.array([one % 2 == 1 for one in rows.column("line_no").to_pylist()]))
        if "line_no" in rows.column_names
        else rows
        for name, rows in facts.items()
    }
    even = {
        name: rows.filter(pa.array([one % 2 == 0 for one in rows.column("line_no").to_pylist()]))
        if "line_no" in rows.column_names
        else rows.slice(0, 0)
        for name, rows in facts.items()
    }
    return [odd, even]


def joined(segments: list[Facts]) -> Facts:
    return {one.name: pa.concat_tables([part[one.name] for part in segments]) for one in FACTS}


def test_an_account_comes_out_or_does_not(facts: Facts) -> None:
    assert comes_out(facts, [account()])
    assert not comes_out(facts, [account(offset=len(LOG) + 1)])
    assert not comes_out(facts | {"entries": facts["entries"].slice(1)}, [account()])
    twice = pa.concat_tables([facts["rejects"], facts["rejects"]])
    assert not comes_out(facts | {"rejects": twice}, [account()])


@pytest.mark.parametrize("half", [0, 1])
def test_gaps_are_filled_so_that_the_account_comes_out(facts: Facts, half: int) -> None:
    segments = halves(facts)
    kept = segments[1 - half]["entries"]
    assert kept is not None
    segments[half] = {**segments[half], "entries": None}
    part = mended(segments, [account()], frozenset())
    together = joined(part.segments)
    assert comes_out(together, [account(blank_bytes=0)])
    assert together["entries"].equals(kept)
    assert together["content_blocks"].num_rows == kept.num_rows
    assert part.filled == {("id-a", 0)}
    (loss,) = part.losses
    entries = facts["entries"]
    sizes = {
        number: end - start
        for number, start, end in zip(
            *(entries.column(name).to_pylist() for name in ("line_no", "byte_start", "byte_end")),
            strict=True,
        )
    }
    assert loss.bytes == sum(sizes[one] for one in sizes if one % 2 == 1 - half)
    numbers = [
        *kept.column("line_no").to_pylist(),
        *together["rejects"].column("line_no").to_pylist(),
    ]
    assert len(set(numbers)) == len(numbers)


def test_what_can_be_read_again_goes_and_nothing_of_it_is_lost(facts: Facts) -> None:
    segments: list[Left] = [{**facts, "rejects": None}]
    part = mended(segments, [account()], frozenset({"id-a"}))
    assert (part.again, part.losses, part.filled) == ({"id-a"}, [], set())
    assert all(rows.num_rows == 0 for rows in part.segments[0].values())


def test_an_older_generation_stays_when_its_log_is_read_again(facts: Facts) -> None:
    segments: list[Left] = [{**facts, "content_blocks": None}]
    now = account(generation=1, offset=0, line_count=0, blank_bytes=0)
    before = Account(now.row, 0, len(LOG), 10, 3)
    part = mended(segments, [now, before], frozenset({"id-a"}))
    assert part.segments[0]["entries"].equals(facts["entries"])
    (loss,) = part.losses
    assert (loss.path, loss.lines) == ("/a (generation 0)", facts["entries"].num_rows)


def test_a_sidecar_that_cannot_be_read_again_is_told_in_each_generation(facts: Facts) -> None:
    segments: list[Left] = [{**facts, "sidecars": None}]
    row = row_of(kind="sidecar", generation=1, offset=5)
    accounts = [Account(row, 1, 5, 0, 0), Account(row, 0, 0, 0, 0)]
    part = mended(segments, accounts, frozenset())
    assert [one.path for one in part.losses] == ["/a", "/a (generation 0)"]
    assert part.segments[0]["entries"].equals(facts["entries"])


def test_a_generation_that_ended_is_worked_out_from_its_lines(facts: Facts) -> None:
    (past,) = past_of(facts, {"id-a": row_of(generation=1)})
    found = [past[name] for name in ("generation", "offset", "line_count", "blank_bytes")]
    assert found == [0, len(LOG), 10, 3]
