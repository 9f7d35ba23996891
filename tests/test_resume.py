"""What a file needs: nothing, or a look, and which known file it is."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from etl.discover import FoundFile, Place
from etl.ledger import LedgerRow
from etl.resume import Look, Plan, needs_look, plan
from tests.test_ledger import ledger_row

ROOT = "/logs/projects"
AWAY = "-home-ada-elsewhere/s.jsonl"


def found(row: LedgerRow) -> FoundFile:
    """The file that a row knows, as a walk sees it when nothing has changed."""
    return FoundFile(
        root=row.root,
        path=row.path,
        place=Place(row.kind, row.layout, row.session_id, row.agent_id),
        device=row.device,
        inode=row.inode,
        size=row.size,
        mtime_ns=row.mtime_ns,
        ctime_ns=row.ctime_ns,
    )


def planned(
    files: Iterable[FoundFile],
    ledger: Iterable[LedgerRow],
    *,
    same: Sequence[LedgerRow] = (),
    walked: Iterable[str] = (ROOT,),
) -> Plan:
    """Plan a run in which only the rows of `same` still have the content that was read."""
    return plan(
        files,
        ledger,
        walked_roots=frozenset(walked),
        is_moved=lambda _, row: row in same,
    )


def test_a_file_that_is_as_it_was_is_skipped() -> None:
    row = ledger_row()
    assert planned([found(row)], [row]) == Plan((), (row,), ())


def test_a_file_nobody_knew_is_new() -> None:
    file = found(ledger_row())
    assert planned([file], []) == Plan((Look(file, None, "new"),), (), ())


@pytest.mark.parametrize(
    "change",
    [
        {"size": 121},
        {"size": 119},
        {"mtime_ns": 0},
        {"mtime_ns": 1 << 62},
        {"ctime_ns": 0},
        {"inode": 1},
        {"device": 1},
    ],
)
def test_any_difference_of_a_known_file_is_looked_at(change: dict[str, Any]) -> None:
    row = ledger_row()
    file = replace(found(row), **change)
    assert planned([file], [row]) == Plan((Look(file, row, "changed"),), (), ())


def test_a_file_that_was_gone_is_looked_at_when_it_is_back() -> None:
    row = ledger_row(gone_at=5)
    assert needs_look(found(row), row)


def test_a_sidecar_that_waits_for_its_part_is_looked_at_in_every_run() -> None:
    waiting = ledger_row(kind="sidecar", offset=0)
    assert planned([found(waiting)], [waiting]).looks == (Look(found(waiting), waiting, "changed"),)
    read = ledger_row(kind="sidecar")
    assert planned([found(read)], [read]).looks == ()


def test_a_file_that_could_not_be_read_is_looked_at_again() -> None:
    row = ledger_row(size=-1)
    assert needs_look(replace(found(row), size=120), row)


def test_a_torn_tail_alone_is_no_reason_to_look() -> None:
    row = ledger_row(offset=100, pending=b'{"torn":')
    assert not needs_look(found(row), row)


def test_a_file_with_the_same_inode_and_content_has_moved() -> None:
    row = ledger_row()
    file = replace(found(row), path="-home-ada-kiln/renamed.jsonl")
    assert planned([file], [row], same=[row]) == Plan((Look(file, row, "moved"),), (), ())


def test_a_file_with_the_same_name_and_content_has_moved() -> None:
    row = ledger_row()
    file = replace(found(row), path=AWAY, inode=1, device=1)
    assert planned([file], [row], same=[row]) == Plan((Look(file, row, "moved"),), (), ())


def test_the_same_content_under_another_name_and_inode_is_a_new_file() -> None:
    row = ledger_row()
    file = replace(found(row), path="-home-ada-kiln/copy.jsonl", inode=1)
    assert planned([file], [row], same=[row]) == Plan((Look(file, None, "new"),), (), (row,))


def test_an_inode_that_was_used_again_is_a_new_file() -> None:
    row = ledger_row()
    file = replace(found(row), path="-home-ada-kiln/other.jsonl")
    assert planned([file], [row], same=[]) == Plan((Look(file, None, "new"),), (), (row,))


def test_a_file_of_which_nothing_was_read_cannot_be_known_again() -> None:
    row = ledger_row(offset=0)
    file = replace(found(row), path=AWAY)
    assert planned([file], [row], same=[row]).looks == (Look(file, None, "new"),)


def test_a_file_of_which_only_a_torn_line_is_known_can_be_known_again() -> None:
    row = ledger_row(offset=0, pending=b'{"torn"')
    file = replace(found(row), path="-home-ada-kiln/renamed.jsonl")
    assert planned([file], [row], same=[row]).looks == (Look(file, row, "moved"),)


def test_a_sidecar_of_another_session_is_a_new_file_though_it_says_the_same() -> None:
    row = ledger_row(kind="sidecar", path="p/s/custom-title.json")
    moved = replace(found(row), path="q/s/custom-title.json", inode=1)
    other = replace(found(row), path="p/t/custom-title.json", inode=1)
    other = replace(other, place=replace(other.place, session_id="t"))
    assert planned([moved], [row], same=[row]).looks == (Look(moved, row, "moved"),)
    assert planned([other], [row], same=[row]).looks == (Look(other, None, "new"),)


def test_a_copy_beside_the_file_that_is_still_there_is_a_new_file() -> None:
    row = ledger_row()
    copy = replace(found(row), path=AWAY, inode=1)
    assert planned([found(row), copy], [row], same=[row]) == Plan(
        (Look(copy, None, "new"),), (row,), ()
    )


def test_of_two_copies_of_a_vanished_file_only_one_is_that_file() -> None:
    row = ledger_row()
    one, two = (replace(found(row), path=f"{name}/s.jsonl", inode=1) for name in "ab")
    assert planned([one, two], [row], same=[row]).looks == (
        Look(one, row, "moved"),
        Look(two, None, "new"),
    )


def test_copies_that_moved_at_once_are_told_apart_by_their_inode() -> None:
    one, two = ledger_row(path="a/s.jsonl"), ledger_row(file_id="1f", path="b/t.jsonl", inode=78)
    now_one, now_two = replace(found(one), path="c/x.jsonl"), replace(found(two), path="c/s.jsonl")
    assert planned([now_two, now_one], [one, two], same=[one, two]).looks == (
        Look(now_two, two, "moved"),
        Look(now_one, one, "moved"),
    )


def test_vanished_files_of_one_name_are_told_apart_by_their_content() -> None:
    row = ledger_row()
    other = ledger_row(file_id="1f", path="-home-ada-loom/s.jsonl", inode=78)
    here = replace(found(other), path="-home-ada-mill/s.jsonl", inode=1)
    assert planned([here], [row, other], same=[other]) == Plan(
        (Look(here, other, "moved"),), (), (row,)
    )


def test_a_file_that_was_gone_and_comes_back_elsewhere_has_moved() -> None:
    row = ledger_row(gone_at=5)
    file = replace(found(row), path=AWAY, inode=1)
    assert planned([file], [row], same=[row]).looks == (Look(file, row, "moved"),)


def test_a_file_that_is_no_longer_there_is_gone() -> None:
    row = ledger_row()
    assert planned([], [row]) == Plan((), (), (row,))


def test_a_root_that_was_not_walked_loses_nothing() -> None:
    here, there = ledger_row(), ledger_row(file_id="1f", root="/mnt/projects")
    assert planned([], [here, there]) == Plan((), (there,), (here,))
    assert planned([], [here, there], walked=[]) == Plan((), (here, there), ())


def test_what_was_found_below_a_root_that_failed_is_still_looked_at() -> None:
    row, lost = ledger_row(), ledger_row(file_id="1f", path="locked/t.jsonl", inode=78)
    file = replace(found(row), size=200)
    assert planned([file], [row, lost], walked=[]) == Plan(
        (Look(file, row, "changed"),), (lost,), ()
    )


def test_equal_paths_below_two_roots_are_two_files() -> None:
    here, there = ledger_row(), ledger_row(file_id="1f", root="/mnt/projects", inode=78)
    files = [found(there), found(here)]
    assert planned(files, [here, there], walked=[ROOT, "/mnt/projects"]).unchanged == (there, here)


def test_every_known_file_is_in_the_plan_exactly_once() -> None:
    same, grown, moved, gone, unwalked = (
        ledger_row(file_id=f"{n}", path=f"p{n}/{n}.jsonl", inode=n) for n in range(5)
    )
    unwalked = replace(unwalked, root="/mnt/projects")
    files = [
        found(same),
        replace(found(grown), size=500),
        replace(found(moved), path="elsewhere/2.jsonl"),
    ]
    done = planned(files, [same, grown, moved, gone, unwalked], same=[moved])
    assert [look.known for look in done.looks] == [grown, moved]
    assert (done.unchanged, done.gone) == ((same, unwalked), (gone,))
