"""What a worker is told of a part and its files."""

from dataclasses import replace
from pathlib import Path

from etl import ledger, tasks
from etl.commit import State, StoredFile, Warehouse
from etl.discover import FoundFile, place_of
from etl.ledger import LedgerRow
from tests.sessions import SESSION, user, write_log


def row_of(folder: Path, path: str, session: str = SESSION) -> LedgerRow:
    write_log(folder, [user("hi")], path)
    place = place_of(path)
    assert place
    root = str(folder / "projects")
    size = Path(root, path).stat().st_size
    found = FoundFile(root, path, place, 1, 1, size, 0, 0)
    row = ledger.seen_now(ledger.new_row(found, "laptop", set(), 0), found)
    return replace(row, session_id=session)


def test_a_new_session_gets_the_next_part_and_a_known_one_keeps_its_own(tmp_path: Path) -> None:
    known = replace(row_of(tmp_path, "p/a.jsonl", "a"), part=7, month="2026-01", offset=10)
    fresh = [row_of(tmp_path, "p/b.jsonl", "b"), row_of(tmp_path, "p/agent-1.jsonl", "a")]
    slots = [(row.part, row.month) for row in tasks.with_slots(fresh, [known])]
    assert slots == [(8, "2026-03"), (7, "2026-01")]


def test_a_part_gets_its_files_and_the_segments_it_has(tmp_path: Path) -> None:
    row = replace(row_of(tmp_path, "p/a.jsonl"), part=2, month="2026-03")
    stored = [StoredFile("entries", "one", 1, 1, "", "laptop", "2026-03", 2, 0, 50)]
    stored += [replace(stored[0], name="two", part=3), replace(stored[0], table="usage")]
    state = State(1, tuple(stored))
    (task,) = tasks.part_tasks([row], state, Warehouse(tmp_path / "lake"))
    assert [file.path for file in task.files] == [f"{row.root}/{row.path}"]
    assert [(one.number, one.raw_bytes) for one in task.segments] == [(0, 50)]
    assert [Path(path).name for path in task.segments[0].paths.values()] == ["one"]


def test_a_file_that_waits_for_its_session_has_no_task(tmp_path: Path) -> None:
    row = row_of(tmp_path, "p/a.jsonl")
    assert list(tasks.part_tasks([row], State(), Warehouse(tmp_path / "lake"))) == []
