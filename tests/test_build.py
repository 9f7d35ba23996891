"""Building one part: what it reads, which segments it writes, and what it does with bad files."""

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from etl import build, derive, sqlfiles, write
from etl.build import PartResult, PartTask, Segment
from etl.errors import StorageError
from etl.follow import FileOutcome, FileTask, Origin
from etl.hashing import hash_of
from etl.parts import SEGMENT_BYTES, Slot
from etl.tables import DERIVED, FACTS, PART_TABLES
from tests.sessions import assistant, encoded, user

SLOT = Slot(1, "2026-03")
BIG = "x" * (build.BATCH_BYTES + 1)


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    folder = tmp_path / "staging"
    folder.mkdir()
    return folder


def written_log(folder: Path, name: str, content: bytes) -> FileTask:
    """Write a log and return the task of a file that was never read."""
    (folder / name).write_bytes(content)
    return FileTask(
        path=str(folder / name),
        name=name,
        origin=Origin(name, 0, "session", None, "main"),
        offset=0,
        line_count=0,
        blank_bytes=0,
        prefix_hash="",
        is_sidecar=False,
    )


def run(
    staging: Path,
    *files: FileTask,
    segments: tuple[Segment, ...] = (),
    segment_bytes: int = SEGMENT_BYTES,
) -> PartResult:
    return build.build_part(PartTask(SLOT, files, segments, str(staging), segment_bytes))


def as_read(file: FileTask, outcome: FileOutcome) -> FileTask:
    """The task of the same file in the next run."""
    return replace(
        file,
        origin=replace(file.origin, generation=outcome.generation),
        offset=outcome.offset,
        line_count=outcome.line_count,
        blank_bytes=outcome.blank_bytes,
        prefix_hash=outcome.prefix_hash,
    )


def segments_of(staging: Path, result: PartResult) -> tuple[Segment, ...]:
    """The segments that a result leaves, as the next run is told of them."""
    facts = {table.name for table in FACTS}
    found: dict[int, Segment] = {}
    for number, raw_bytes, file in result.written:
        if file.table in facts:
            segment = found.setdefault(number, Segment(number, raw_bytes, {}))
            segment.paths[file.table] = str(staging / file.name)
    return tuple(found[number] for number in sorted(found))


def rows(staging: Path, result: PartResult, table: str, column: str) -> list[object]:
    return [
        value
        for _, _, file in result.written
        if file.table == table
        for value in write.read_table(staging / file.name).column(column).to_pylist()
    ]


def prompts(*uuids: str) -> bytes:
    return encoded([user("Hi", uuid) for uuid in uuids])


def test_every_table_is_written_also_without_rows(tmp_path: Path, staging: Path) -> None:
    result = run(staging, written_log(tmp_path, "a.jsonl", prompts("u1")))
    assert sorted(file.table for _, _, file in result.written) == sorted(
        table.name for table in PART_TABLES
    )
    assert rows(staging, result, "entries", "uuid") == ["u1"]
    assert rows(staging, result, "tool_calls", "tool_use_id") == []
    assert result.slot == SLOT


def test_a_file_without_news_writes_nothing(tmp_path: Path, staging: Path) -> None:
    log = written_log(tmp_path, "a.jsonl", prompts("u1"))
    first = run(staging, log)
    again = run(staging, as_read(log, first.outcomes[0]), segments=segments_of(staging, first))
    assert again.written == []
    assert again.replaced_segments == set()
    assert (
        replace(again.outcomes[0], entries=1, bytes_read=log_size(log), lines_read=1)
        == (first.outcomes[0])
    )


def log_size(file: FileTask) -> int:
    return Path(file.path).stat().st_size


def test_an_outcome_says_how_far_a_file_is_read(tmp_path: Path, staging: Path) -> None:
    content = prompts("u1") + b"\n\noops\n" + b'{"torn'
    (outcome,) = run(staging, written_log(tmp_path, "a.jsonl", content)).outcomes
    whole = content.rindex(b"\n") + 1
    assert outcome == FileOutcome(
        "a.jsonl",
        generation=0,
        offset=whole,
        line_count=4,
        blank_bytes=2,
        pending=b'{"torn',
        prefix_hash=hash_of(content[:whole]),
        entries=1,
        rejects=1,
        bytes_read=whole,
        lines_read=4,
    )


# ---- Segments.


def test_news_go_into_the_last_segment_while_it_has_room(tmp_path: Path, staging: Path) -> None:
    log = written_log(tmp_path, "a.jsonl", prompts("u1"))
    first = run(staging, log)
    Path(log.path).write_bytes(prompts("u1", "u2"))
    second = run(staging, as_read(log, first.outcomes[0]), segments=segments_of(staging, first))
    assert second.replaced_segments == {0}
    assert rows(staging, second, "entries", "uuid") == ["u1", "u2"]
    assert [segment.raw_bytes for segment in segments_of(staging, second)] == [log_size(log)]


def test_news_after_a_full_segment_begin_another(tmp_path: Path, staging: Path) -> None:
    log = written_log(tmp_path, "a.jsonl", prompts("u1"))
    first = run(staging, log, segment_bytes=100)
    Path(log.path).write_bytes(prompts("u1", "u2"))
    second = run(
        staging,
        as_read(log, first.outcomes[0]),
        segments=segments_of(staging, first),
        segment_bytes=100,
    )
    assert second.replaced_segments == {1}
    assert rows(staging, second, "entries", "uuid") == ["u2"]
    assert rows(staging, second, "messages", "key") == ["u1", "u2"]


def test_only_the_last_of_several_segments_is_opened_again(tmp_path: Path, staging: Path) -> None:
    log = written_log(tmp_path, "a.jsonl", prompts("u1"))
    one = run(staging, log, segment_bytes=100)
    Path(log.path).write_bytes(prompts("u1", "u2"))
    log = as_read(log, one.outcomes[0])
    two = run(staging, log, segments=segments_of(staging, one), segment_bytes=100)
    Path(log.path).write_bytes(prompts("u1", "u2", "u3"))
    log = as_read(log, two.outcomes[0])
    stored = segments_of(staging, one) + segments_of(staging, two)
    three = run(staging, log, segments=stored)
    assert three.replaced_segments == {1}
    assert rows(staging, three, "entries", "uuid") == ["u2", "u3"]
    assert rows(staging, three, "messages", "key") == ["u1", "u2", "u3"]


def test_a_long_read_is_cut_into_segments(tmp_path: Path, staging: Path) -> None:
    logs = [written_log(tmp_path, name, encoded([user(BIG, name)])) for name in ("a", "b", "c")]
    result = run(staging, *logs, segment_bytes=build.BATCH_BYTES)
    assert [segment.number for segment in segments_of(staging, result)] == [0, 1, 2]
    assert result.replaced_segments == {0, 1, 2}
    assert [segment.raw_bytes for segment in segments_of(staging, result)] == [
        log_size(log) for log in logs
    ]
    assert rows(staging, result, "messages", "key") == ["a", "b", "c"]
    assert sum(file.table == "messages" for _, _, file in result.written) == 1


def test_derived_tables_are_those_of_one_segment(tmp_path: Path, staging: Path) -> None:
    content = encoded([user("Hi"), assistant(output=1), assistant(uuid="a2", second=3, output=9)])
    cut = content.index(b"\n", content.index(b"\n") + 1) + 1
    at_once = run(staging, written_log(tmp_path, "a.jsonl", content))
    log = written_log(tmp_path, "a.jsonl", content[:cut])
    first = run(staging, log, segment_bytes=1)
    Path(log.path).write_bytes(content)
    second = run(
        staging,
        as_read(log, first.outcomes[0]),
        segments=segments_of(staging, first),
        segment_bytes=1,
    )
    for table in DERIVED:
        for name in table.names():
            assert rows(staging, second, table.name, name) == rows(
                staging, at_once, table.name, name
            )
    assert rows(staging, second, "usage", "output_tokens") == [9]


# ---- Files that are not as they should be.


def test_a_file_that_shrinks_while_it_is_read_is_left_out_and_others_go_on(
    tmp_path: Path, staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = written_log(tmp_path, "good.jsonl", prompts("u1"))
    torn = written_log(tmp_path, "torn.jsonl", prompts("t1", "t2"))
    late = written_log(tmp_path, "late.jsonl", prompts("u2"))
    real = os.pread

    def shrinking(descriptor: int, length: int, offset: int) -> bytes:
        if os.path.samestat(os.fstat(descriptor), Path(torn.path).stat()):
            os.truncate(torn.path, 10)
        return real(descriptor, length, offset)

    monkeypatch.setattr(os, "pread", shrinking)
    result = run(staging, good, torn, late)
    assert [outcome.file_id for outcome in result.outcomes] == ["good.jsonl", "late.jsonl"]
    assert rows(staging, result, "entries", "uuid") == ["u1", "u2"]
    assert rows(staging, result, "rejects", "reason") == []


def test_a_file_that_cannot_be_read_is_reported_and_others_go_on(
    tmp_path: Path, staging: Path
) -> None:
    gone = written_log(tmp_path, "gone.jsonl", prompts("g1"))
    good = written_log(tmp_path, "good.jsonl", prompts("u1"))
    Path(gone.path).unlink()
    result = run(staging, gone, good)
    assert {one.file_id: one.problem for one in result.outcomes} == {
        "gone.jsonl": "cannot read: No such file or directory",
        "good.jsonl": None,
    }
    assert rows(staging, result, "entries", "uuid") == ["u1"]


def test_a_file_that_fails_half_way_leaves_no_row_behind(
    tmp_path: Path, staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = written_log(tmp_path, "good.jsonl", encoded([user("hi", "u-good")]))
    bad = written_log(tmp_path, "bad.jsonl", encoded([user("first", "u1"), user(BIG + BIG, "u2")]))
    pread = os.pread

    def failing(descriptor: int, count: int, offset: int) -> bytes:
        if offset:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return pread(descriptor, count, offset)

    monkeypatch.setattr(os, "pread", failing)
    result = run(staging, bad, good)
    assert rows(staging, result, "entries", "uuid") == ["u-good"]
    assert {one.file_id: one.problem for one in result.outcomes} == {
        "good.jsonl": None,
        "bad.jsonl": "cannot read: Input/output error",
    }


def test_a_segment_that_cannot_be_stored_is_no_fault_of_the_log_that_fills_it(
    tmp_path: Path,
) -> None:
    log = written_log(tmp_path, "a.jsonl", encoded([user(BIG, "u1")]))
    with pytest.raises(StorageError, match="No such file or directory"):
        run(tmp_path / "no such folder", log, segment_bytes=1)


@pytest.mark.parametrize(
    "now", [prompts("n1", "n2"), prompts("u1"), b""], ids=["other", "cut", "emptied"]
)
def test_a_rewritten_prefix_is_a_new_generation(tmp_path: Path, staging: Path, now: bytes) -> None:
    log = written_log(tmp_path, "a.jsonl", prompts("u1", "u2"))
    first = run(staging, log)
    Path(log.path).write_bytes(now)
    second = run(staging, as_read(log, first.outcomes[0]), segments=segments_of(staging, first))
    (outcome,) = second.outcomes
    assert (outcome.event, outcome.generation, outcome.offset) == ("rewritten", 1, len(now))
    assert outcome.prefix_hash == hash_of(now)
    if now:
        found = zip(
            rows(staging, second, "entries", "generation"),
            rows(staging, second, "entries", "line_no"),
            strict=True,
        )
        assert list(found) == [(0, 1), (0, 2), *((1, at + 1) for at in range(now.count(b"\n")))]


def test_a_sidecar_is_read_once_and_again_when_it_changes(tmp_path: Path, staging: Path) -> None:
    meta = replace(written_log(tmp_path, "agent-a.meta.json", b"{}"), is_sidecar=True)
    first = run(staging, meta)
    same = run(staging, as_read(meta, first.outcomes[0]), segments=segments_of(staging, first))
    Path(meta.path).write_bytes(b'{"agentType":"Plan"}')
    changed = run(staging, as_read(meta, first.outcomes[0]), segments=segments_of(staging, first))
    assert same.written == []
    assert rows(staging, changed, "sidecars", "generation") == [0, 1]
    assert rows(staging, changed, "sidecars", "agent_type") == [None, "Plan"]


def test_a_part_whose_tables_cannot_be_derived_is_left_as_it_was_and_told(
    tmp_path: Path, staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = shutil.copytree(sqlfiles.folder(), tmp_path / "sql")
    (shipped / "tables" / "usage.sql").write_text("select error('out of ink')")
    monkeypatch.setattr(sqlfiles, "_FOLDERS", (shipped,))
    caches = (sqlfiles.load, derive._queries)  # noqa: SLF001 - they remember the real folder
    try:
        for cached in caches:
            cached.cache_clear()
        result = run(staging, written_log(tmp_path, "a.jsonl", encoded([user("Hi")])))
    finally:
        for cached in caches:
            cached.cache_clear()
    (outcome,) = result.outcomes
    assert result.written == []
    assert "out of ink" in str(outcome.problem)
