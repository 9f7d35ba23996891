"""What must hold however the logs arrive: in pieces, in any order, twice, or as copies."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etl import build, views, write
from etl.build import PartTask
from etl.commit import Warehouse
from etl.demo import write_tree
from etl.follow import FileTask, Origin
from etl.hashing import hash_of
from etl.parts import SEGMENT_BYTES, Slot
from etl.tables import DERIVED, FACTS, LOGICAL, PART_TABLES
from tests.accounts import account_of, expected_of
from tests.sessions import (
    run_sync,
)
from tests.trees import SIDECAR, TREE

Rows = list[str]
Picture = dict[str, Rows]

VIEWS = (
    "turns",
    "daily_spend",
    "usage",
    "tool_calls",
    "agents",
    "compactions",
    "messages",
    "entries",
    "content_blocks",
)
LEDGER = (
    'select file_id, path, kind, layout, session_id, agent_id, "offset", line_count,'
    " blank_bytes, pending, prefix_hash, generation, part is null as waits from source_files"
)

INSIDE_CHARACTERS = {
    path: [at for at, byte in enumerate(content) if 0x80 <= byte < 0xC0]
    for path, content in TREE.items()
}

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `make faults` takes more of them.
MORE = int(os.environ.get("EXAMPLES", "1"))
some = settings(patient, max_examples=5 * MORE)
few = settings(patient, max_examples=2 * MORE)


def picture_of(warehouse: Path) -> Picture:
    """Take every row of every table and view, in an order of its own."""
    logical = {table.name for table in LOGICAL}
    physical = [
        f"raw.{table.name}" if table.name in logical else table.name for table in PART_TABLES
    ]
    queries = {name: f"select * from {name}" for name in (*physical, *VIEWS)}  # noqa: S608
    queries["ledger"] = LEDGER
    with closing(views.connect(Warehouse(warehouse), time_zone="UTC")) as con:
        return {name: sorted(map(repr, con.sql(sql).pl().rows())) for name, sql in queries.items()}


@contextmanager
def place() -> Iterator[tuple[Path, Path]]:
    """Make a log folder and a place for its warehouse, for one example."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        (logs / "projects").mkdir(parents=True)
        yield logs, Path(folder) / "warehouse"


def append(logs: Path, path: str, more: bytes) -> None:
    target = logs / "projects" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("ab") as log:
        log.write(more)


def lay_out(logs: Path, tree: dict[str, bytes]) -> None:
    for path, content in tree.items():
        append(logs, path, content)


@pytest.fixture(scope="module")
def at_once() -> Iterator[Picture]:
    """What one sync of the whole tree gives."""
    with place() as (logs, warehouse):
        lay_out(logs, TREE)
        run_sync(logs, warehouse)
        yield picture_of(warehouse)


@st.composite
def instalments(draw: st.DrawFn) -> list[dict[str, bytes]]:
    """Cut every file of the tree anywhere, and deal the pieces out over a few syncs."""
    count = draw(st.integers(1, 3))
    dealt: list[dict[str, bytes]] = [{} for _ in range(count + 1)]
    for path, content in TREE.items():
        anywhere = st.integers(0, len(content))
        if path == SIDECAR:
            anywhere = st.sampled_from([0, len(content)])  # It is written in one go.
        elif INSIDE_CHARACTERS[path]:
            anywhere |= st.sampled_from(INSIDE_CHARACTERS[path])
        cuts = sorted(draw(st.lists(anywhere, min_size=count, max_size=count)))
        for step, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(content)], strict=True)):
            if end > start or step == count:
                dealt[step][path] = content[start:end]
    return dealt


@some
@given(instalments())
def test_syncing_in_any_instalments_gives_the_same_rows_as_syncing_once(
    at_once: Picture, dealt: list[dict[str, bytes]]
) -> None:
    with place() as (logs, warehouse):
        for pieces in dealt:
            lay_out(logs, pieces)
            run_sync(logs, warehouse)
        assert picture_of(warehouse) == at_once


@few
@given(st.permutations(sorted(TREE)), st.integers(2, 5))
def test_the_order_in_which_files_arrive_does_not_matter(
    at_once: Picture, order: list[str], together: int
) -> None:
    with place() as (logs, warehouse):
        for start in range(0, len(order), together):
            lay_out(logs, {path: TREE[path] for path in order[start : start + together]})
            run_sync(logs, warehouse)
        assert picture_of(warehouse) == at_once


def test_the_made_up_tree_holds_what_these_properties_are_about(at_once: Picture) -> None:
    assert all(
        at_once[table.name if table in FACTS[2:] else f"raw.{table.name}"] for table in FACTS
    )
    assert len(at_once["agents"]) == 3
    assert len(at_once["raw.usage"]) > len(at_once["usage"])
    assert len(at_once["raw.compactions"]) == 3
    assert len(at_once["compactions"]) == 1
    assert len(at_once["rejects"]) == 2 * 2 + 2
    assert sum(b"\\xc3'" in row.encode() for row in at_once["ledger"]) == 2


def stored_files(warehouse: Path) -> dict[str, bytes]:
    """Every file of the warehouse but the note on the last run and the lock."""
    return {
        str(path.relative_to(warehouse)): path.read_bytes()
        for path in sorted(warehouse.rglob("*"))
        if path.is_file() and path.name not in {"last_run.json", "lock"}
    }


@few
@given(st.sets(st.sampled_from(sorted(TREE)), min_size=1))
def test_syncing_again_changes_nothing_and_makes_no_commit(paths: set[str]) -> None:
    with place() as (logs, warehouse):
        lay_out(logs, {path: TREE[path] for path in paths})
        first = run_sync(logs, warehouse)
        before = stored_files(warehouse)
        again = run_sync(logs, warehouse)
        assert first.is_committed
        assert not again.is_committed
        assert again.commit == first.commit
        assert (again.bytes, again.lines, again.parts_written) == (0, 0, 0)
        assert stored_files(warehouse) == before


@pytest.fixture(scope="module")
def file_tasks() -> Iterator[list[FileTask]]:
    """The tree's files as a worker gets them, before anything was read."""
    with place() as (logs, warehouse):
        lay_out(logs, TREE)
        run_sync(logs, warehouse)
        with closing(views.connect(Warehouse(warehouse))) as con:
            rows = con.sql(
                "select path, kind, file_id, session_id, agent_id, layout from source_files"
                " where part is not null order by session_id, layout, file_id"
            )
            found = rows.pl().rows()
        yield [
            FileTask(
                path=str(logs / "projects" / path),
                name=path.rpartition("/")[2],
                origin=Origin(file_id, 0, session_id, agent_id, layout),
                offset=0,
                line_count=0,
                blank_bytes=0,
                prefix_hash=hash_of(b""),
                is_sidecar=kind == "sidecar",
            )
            for path, kind, file_id, session_id, agent_id, layout in found
        ]


def built(parts: list[list[FileTask]], segment_bytes: int = SEGMENT_BYTES) -> Picture:
    """Build the parts and read all rows that they staged."""
    rows: Picture = {table.name: [] for table in PART_TABLES}
    with tempfile.TemporaryDirectory() as staging:
        for number, files in enumerate(parts, 1):
            slot = Slot(number, "2026-03")
            result = build.build_part(PartTask(slot, tuple(files), (), staging, segment_bytes))
            assert not [one.problem for one in result.outcomes if one.problem]
            for _, _, file in result.written:
                stored = write.read_table(Path(staging) / file.name)
                rows[file.table] += map(repr, stored.to_pylist())
    return {name: sorted(found) for name, found in rows.items()}


def by_session(files: list[FileTask]) -> dict[str, list[FileTask]]:
    sessions: dict[str, list[FileTask]] = {}
    for file in files:
        sessions.setdefault(str(file.origin.session_id), []).append(file)
    return sessions


def test_one_part_for_all_sessions_equals_one_part_a_session(file_tasks: list[FileTask]) -> None:
    sessions = by_session(file_tasks)
    together = built([file_tasks])
    assert len(sessions) == 3
    assert all(together[table.name] for table in DERIVED)
    assert built(list(sessions.values())) == together


@few
@given(st.lists(st.integers(0, 2), min_size=3, max_size=3), st.integers(1, 20_000), st.randoms())
def test_neither_parts_nor_segments_nor_the_order_of_files_show_in_the_rows(
    file_tasks: list[FileTask], parts: list[int], segment_bytes: int, dice: Random
) -> None:
    sessions = by_session(file_tasks)
    dealt: dict[int, list[FileTask]] = {}
    for part, files in zip(parts, sessions.values(), strict=True):
        dealt.setdefault(part, []).extend(dice.sample(files, len(files)))
    assert built(list(dealt.values()), segment_bytes) == built([file_tasks])


def test_a_demo_tree_comes_out_as_its_truth_says(tmp_path: Path) -> None:
    write_tree(tmp_path / "demo", megabytes=1, seed=3)
    run = run_sync(tmp_path / "demo", tmp_path / "warehouse")
    truth = json.loads((tmp_path / "demo" / "truth.json").read_text())
    assert run.problems == []
    assert account_of(str(tmp_path / "warehouse")) == expected_of(truth)


def test_a_demo_tree_read_half_first_comes_out_as_its_truth_says(tmp_path: Path) -> None:
    write_tree(tmp_path / "demo", megabytes=1, seed=5)
    projects = tmp_path / "demo" / "projects"
    tree = {
        str(path.relative_to(projects)): path.read_bytes()
        for path in projects.rglob("*")
        if path.is_file()
    }
    halves = {name: 0 if name.endswith(".json") else len(tree[name]) // 2 for name in tree}
    lay_out(tmp_path, {name: tree[name][:half] for name, half in halves.items() if half})
    typed = (tmp_path / "demo" / "history.jsonl").read_bytes()
    (tmp_path / "history.jsonl").write_bytes(typed[: len(typed) // 2])
    run_sync(tmp_path, tmp_path / "warehouse")
    lay_out(tmp_path, {name: tree[name][half:] for name, half in halves.items()})
    (tmp_path / "history.jsonl").write_bytes(typed)
    run_sync(tmp_path, tmp_path / "warehouse")
    truth = json.loads((tmp_path / "demo" / "truth.json").read_text())
    assert account_of(str(tmp_path / "warehouse")) == expected_of(truth)
