"""Following one log: where it is taken up, what it counts, when it starts over."""

import os
from dataclasses import replace
from pathlib import Path

from etl.follow import FileOutcome, FileTask, Origin, Place, Tally, follow, lines_in, whole
from etl.read import KEPT_TAIL_BYTES, LONGEST_LINE_BYTES


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, Place, bytes]] = []
        self.rejects: list[tuple[int, Place, str]] = []

    def add_lines(self, origin: Origin, start: int, lines: bytes, tally: Tally) -> None:
        for place, line in lines_in(start, lines, tally):
            self.lines.append((origin.generation, place, line))

    def settle(self) -> None:
        self.settled = len(self.lines)

    def add_reject(self, origin: Origin, place: Place, reason: str, raw: bytes | None) -> None:
        assert raw is None
        self.rejects.append((origin.generation, place, reason))


def task(path: Path, outcome: FileOutcome | None = None) -> FileTask:
    known = outcome or FileOutcome("f")
    return FileTask(
        str(path),
        path.name,
        Origin("f", known.generation, "s", None, "main"),
        known.offset,
        known.line_count,
        known.blank_bytes,
        known.prefix_hash,
        is_sidecar=False,
    )


def test_lines_have_their_number_and_bytes_and_blank_ones_only_count() -> None:
    tally = Tally(lines=4)
    assert list(lines_in(100, b"one\n\n \r\ntwo\n", tally)) == [
        ((5, 100, 104), b"one"),
        ((8, 108, 112), b"two"),
    ]
    assert (tally.lines, tally.blank_bytes) == (8, 4)


def test_a_long_line_comes_without_its_newline_and_has_the_same_place() -> None:
    tally = Tally()
    assert list(lines_in(0, b"long", tally)) == [((1, 0, 5), b"long")]
    assert (tally.lines, tally.blank_bytes) == (1, 0)


def test_a_tail_too_long_to_be_kept_is_told_in_words(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"one\n")
    os.truncate(log, KEPT_TAIL_BYTES + 4)
    outcome = follow(task(log), Kept())
    assert (outcome.event, len(outcome.pending)) == (None, KEPT_TAIL_BYTES)
    os.truncate(log, KEPT_TAIL_BYTES + 5)
    outcome = follow(task(log), Kept())
    assert (outcome.offset, outcome.pending) == (4, b"")
    assert outcome.event == "its last line has 16 MiB so far; it waits, and no copy is kept"
    os.truncate(log, LONGEST_LINE_BYTES + 5)
    outcome = follow(replace(task(log, outcome), prefix_hash="other"), Kept())
    assert (outcome.offset, outcome.generation, outcome.pending) == (4, 1, b"")
    assert outcome.event == "rewritten; its last line is longer than 256 MiB so far; it waits"


def test_a_log_is_taken_up_where_it_was_left(tmp_path: Path) -> None:
    log, first, second = tmp_path / "a.jsonl", Kept(), Kept()
    log.write_bytes(b"one\ntw")
    outcome = follow(task(log), first)
    assert (outcome.offset, outcome.line_count, outcome.pending) == (4, 1, b"tw")
    log.write_bytes(b"one\ntwo\n")
    again = follow(task(log, outcome), second)
    assert second.lines == [(0, (2, 4, 8), b"two")]
    assert (again.offset, again.bytes_read, again.lines_read, again.event) == (8, 4, 1, None)


def test_a_log_whose_read_bytes_changed_starts_over_as_a_new_generation(tmp_path: Path) -> None:
    log, sink = tmp_path / "a.jsonl", Kept()
    log.write_bytes(b"one\n")
    outcome = follow(task(log), Kept())
    log.write_bytes(b"ONE\ntwo\n")
    again = follow(task(log, outcome), sink)
    assert [(generation, line) for generation, _, line in sink.lines] == [(1, b"ONE"), (1, b"two")]
    assert (again.generation, again.line_count, again.event) == (1, 2, "rewritten")


def test_a_small_file_is_read_whole_once_for_every_content(tmp_path: Path) -> None:
    path = tmp_path / "agent-a.meta.json"
    path.write_bytes(b"{}")
    outcome, content = whole(task(path))
    assert (outcome.generation, content) == (0, b"{}")
    same, nothing = whole(task(path, outcome))
    assert (replace(same, bytes_read=2), nothing) == (outcome, None)
    path.write_bytes(b"{ }")
    changed, content = whole(task(path, outcome))
    assert (changed.generation, content) == (1, b"{ }")
