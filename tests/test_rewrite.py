"""Stored facts written anew: unchanged if nothing is asked, and exactly without what is to go."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from etl import write
from etl.build import PartTask, Segment, build_part
from etl.content import METRICS, Keeping
from etl.errors import StateError
from etl.facts import Facts
from etl.follow import FileTask, Origin
from etl.hashing import hash_of
from etl.parts import Slot
from etl.rewrite import RewriteTask, rewrite_part, rewritten
from etl.tables import CONTENT_BLOCKS, ENTRIES, FACTS, PART_TABLES, REJECTS
from tests.kinds import SPECIMENS
from tests.sessions import SESSION, Line, encoded
from tests.trees import DEEP, MAIN, NESTED

SLOT = Slot(1, "2026-03")
KEEPING = Keeping(key="00" * 32)


def segment_of(folder: Path, contents: dict[str, bytes]) -> tuple[Segment, Path]:
    """Build a part of logs of one session, and return its stored segment."""
    staging = folder / "staging"
    staging.mkdir(exist_ok=True)
    files = []
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        origin = Origin(f"id-{name}", 0, SESSION, None, "main")
        files.append(
            FileTask(str(folder / name), name, origin, 0, 0, 0, hash_of(b""), is_sidecar=False)
        )
    result = build_part(PartTask(SLOT, tuple(files), (), str(staging)))
    paths = {file.table: str(staging / file.name) for _, _, file in result.written}
    raw_bytes = max(raw_bytes for _, raw_bytes, _ in result.written)
    hashes = {file.table: file.content_hash for _, _, file in result.written}
    return Segment(0, raw_bytes, paths, hashes), staging


def task_of(segment: Segment, staging: Path) -> RewriteTask:
    return RewriteTask(SLOT, "laptop", (segment,), str(staging), KEEPING, KEEPING)


def facts_of(segment: Segment) -> Facts:
    return {table.name: segment.read(table) for table in FACTS}


def tables_after(task: RewriteTask) -> dict[str, pa.Table]:
    result = rewrite_part(task)
    return {
        file.table: write.read_table(Path(task.staging) / file.name)
        for _, _, file in result.written
    }


FLAWED: list[Line | bytes] = [
    b'{"type":"user","uuid":"f1","a":1,"a":2}\n',
    b'\0\0\0{"type":"user","uuid":"f2","n":36893488147419103232}\n',
    b'{"type":"user","uuid":"f3","message":{"role":"user","content":"half \\ud83d"}}\n',
    b'{"type":"user","uuid":"f4","message":{"role":"user","content":"bad \xff"}}\n',
    b'{"type":"user","uuid":"f5"}{"type":"user","uuid":"f6"}\n',
    b'{"uuid":"f7","x":1e400,"y":[NaN],"type":"user"}\n',
]


def changed(before: pa.Table, after: pa.Table) -> list[tuple[object, object]]:
    """Return rows that are not the same, where it differs."""
    if before.equals(after):
        return []
    return [
        ({name: one[name] for name in one if one[name] != other[name]}, other["line_no"])
        for one, other in zip(before.to_pylist(), after.to_pylist(), strict=True)
        if one != other
    ]


LOGS = {
    "main.jsonl": encoded(MAIN),
    "deep.jsonl": encoded(DEEP),
    "nested.jsonl": encoded(NESTED),
    "kinds.jsonl": encoded(SPECIMENS),
    "flawed.jsonl": encoded(FLAWED),
}


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Segment, Path]:
    return segment_of(tmp_path, LOGS)


def test_a_part_written_anew_is_the_same_part(stored: tuple[Segment, Path]) -> None:
    segment, staging = stored
    tables = tables_after(task_of(segment, staging))
    assert set(tables) == {table.name for table in PART_TABLES}
    for table in PART_TABLES:
        assert changed(segment.read(table), tables[table.name]) == []
    assert min(tables[name].num_rows for name in ("entries", "content_blocks", "rejects")) > 1


def test_a_file_that_goes_leaves_no_row(stored: tuple[Segment, Path]) -> None:
    segment, staging = stored
    task = replace(task_of(segment, staging), gone_files=frozenset({"id-main.jsonl"}))
    for name, rows in tables_after(task).items():
        before = write.read_table(Path(segment.paths[name]))
        left = {file for file in before.column("file_id").to_pylist() if file != "id-main.jsonl"}
        assert set(rows.column("file_id").to_pylist()) <= left, name


def test_a_line_that_goes_leaves_its_place_and_nothing_of_its_words(
    stored: tuple[Segment, Path],
) -> None:
    segment, staging = stored
    lines = {("id-main.jsonl", 0, 1), ("id-flawed.jsonl", 0, 5), ("id-deep.jsonl", 0, 1)}
    task = replace(task_of(segment, staging), gone_lines=frozenset(lines))
    before, after = facts_of(segment), rewritten(facts_of(segment), task)
    marks = [row for row in after["rejects"].to_pylist() if row["reason"] == "forgotten"]
    assert {(row["file_id"], row["generation"], row["line_no"]) for row in marks} == lines
    assert [row["raw"] for row in marks] == [None] * 3
    places = {
        (row["file_id"], row["byte_start"], row["byte_end"])
        for table in (ENTRIES, REJECTS)
        for row in before[table.name].to_pylist()
    }
    assert places == {
        (row["file_id"], row["byte_start"], row["byte_end"])
        for table in (ENTRIES, REJECTS)
        for row in after[table.name].to_pylist()
    }
    for table in (ENTRIES, CONTENT_BLOCKS):
        kept = [(row["file_id"], 0, row["line_no"]) for row in after[table.name].to_pylist()]
        assert lines.isdisjoint(kept)
        assert len(kept) < before[table.name].num_rows


def test_columns_that_are_new_are_filled_from_the_lines(stored: tuple[Segment, Path]) -> None:
    segment, staging = stored
    older = {
        name: rows.drop_columns(["result_meta"]) if name == "entries" else rows
        for name, rows in facts_of(segment).items()
    }
    task = task_of(segment, staging)
    assert changed(facts_of(segment)["entries"], rewritten(older, task)["entries"]) == []


def test_a_segment_that_is_not_as_it_was_written_is_refused(stored: tuple[Segment, Path]) -> None:
    segment, staging = stored
    spoiled = Path(segment.paths["content_blocks"])
    content = bytearray(spoiled.read_bytes())
    content[len(content) // 2] ^= 1
    spoiled.write_bytes(content)
    with pytest.raises(StateError, match="is damaged"):
        rewrite_part(task_of(segment, staging))


def test_without_content_only_metrics_are_left_and_derived_counts_are_the_same(
    stored: tuple[Segment, Path],
) -> None:
    segment, staging = stored
    task = replace(task_of(segment, staging), after=replace(KEEPING, content=METRICS))
    tables = tables_after(task)
    words = ["Bäume", "Ich", "sehe", "nach", "größe", "fertig", "glued"]
    told = repr({name: rows.to_pylist() for name, rows in tables.items()})
    assert [word for word in words if word in told] == []
    for name in ("messages", "usage", "tool_calls", "agents", "compactions"):
        before = segment_rows(segment, name)
        assert changed(without_words(before), without_words(tables[name])) == []


def segment_rows(segment: Segment, name: str) -> pa.Table:
    return write.read_table(Path(segment.paths[name]))


def without_words(rows: pa.Table) -> pa.Table:
    named = [name for name in rows.column_names if name.endswith("preview")]
    return rows.drop_columns(
        [
            name
            for name in (*named, "target", "result_meta", "description")
            if name in rows.column_names
        ]
    )
