"""The model: logs that live any life, syncs that may be killed, and readers beside them.

It knows each line that ever stood in a log at a sync, and holds the warehouse against that.
"""

import os
import shutil
import signal
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from etl import write
from etl.commit import Warehouse
from etl.ledger import LedgerRow
from tests.faults import warm  # noqa: F401 - for what it does
from tests.faults.coverage import Source, Span, flaws_of, ledger_of, stored_rows
from tests.faults.forked import doomed_sync, exit_code_of
from tests.faults.tally import Tally
from tests.sessions import append, assistant, encoded, run_sync, user

# Renames and copies lead from name to name, also to one that another log once had.
NAMES = ("-a/s1.jsonl", "-a/s2.jsonl", "-b/s1.jsonl", "-b/s3.jsonl", "-a/s1.jsonl.superseded")
STEPS = st.integers(1, 20) | st.integers(1, 110)  # A sync without news takes few.
SAME_SIZE = {"é".encode(): b"ee", b"Done": b"Gone", b"oops": b"hmph", b" \n": b"\t\n"}
Stored = dict[Source, dict[Span, bytes]]  # what identifies the line: its uuid, or its raw bytes

FRESH = tuple(f"-c/s{number}.jsonl" for number in range(4, 9))
names = st.sampled_from(NAMES)
which = st.integers(0, len(NAMES) - 1)
kinds = st.sampled_from(["user", "user", "assistant", "blank", "broken"])


class LivesOfLogs(RuleBasedStateMachine):
    """Any sequence of what can happen to logs, and of syncs between."""

    tally = Tally()

    def __init__(self) -> None:
        super().__init__()
        self._place = Path(tempfile.mkdtemp(prefix="model-"))
        self._logs, self._lake = self._place / "logs", self._place / "lake"
        self._count = 0
        self._rests: dict[str, bytes] = {}  # what would end the torn line of a log
        self._is_calm = True  # since the last sync logs only grew, moved or were touched
        self._generations: dict[str, int] = {}
        self._new_names = 0  # logs that began since then
        self._checked = 0  # the last commit that was looked at
        self._settled: Stored = {}
        self._read: dict[Source, bytes] = {}
        self._ever_stood: set[bytes] = set()
        self._readers: list[tuple[Path, list[Any]]] = []
        (self._logs / "projects").mkdir(parents=True)

    def teardown(self) -> None:
        shutil.rmtree(self._place)

    @initialize()
    def first_sync(self) -> None:
        """Its kills are all in `test_sweep.py`; they cost a second each."""
        self.append_lines("-a/s1.jsonl", ["user", "assistant"])
        self.sync()

    # ---- What happens to logs.

    def _path(self, name: str) -> Path:
        path = self._logs / "projects" / name
        path.parent.mkdir(exist_ok=True)
        return path

    def _present(self) -> dict[str, Path]:
        paths = {name: self._path(name) for name in NAMES + FRESH}
        return {name: path for name, path in paths.items() if path.exists()}

    def _one_of(self, number: int) -> str:
        present = [*self._present()]
        return present[number % len(present)]

    def _line(self, kind: str) -> bytes:
        self._count += 1
        number = self._count
        if kind == "assistant":
            return encoded(
                [assistant(uuid=f"a{number}", message_id=f"m{number}", request=f"r{number}")]
            )
        others = {"blank": b" \n", "broken": b"{%d oops\n" % number}
        return others.get(kind) or encoded([user(f"é {number}", f"u{number}")])

    def _begin_if_new(self, name: str) -> None:
        """Where a log stood before, another that begins is the same one with other bytes."""
        if not self._path(name).exists():
            self._new_names += 1
            self._is_calm = self._is_calm and name not in {row.path for row in self._known()}

    def _known(self) -> list[LedgerRow]:
        return ledger_of(self._lake) if Warehouse(self._lake).exists() else []

    @rule(name=names, kinds=st.lists(kinds, min_size=1, max_size=3))
    def append_lines(self, name: str, kinds: list[str]) -> None:
        self._rests.pop(name, None)
        self._begin_if_new(name)
        append(self._path(name), *map(self._line, kinds))

    @precondition(lambda self: self._present())
    @rule(number=which, kinds=st.lists(kinds, min_size=1, max_size=3))
    def grow_and_sync(self, number: int, kinds: list[str]) -> None:
        """As most logs do most of the time."""
        self.append_lines(self._one_of(number), kinds)
        self.sync()

    @rule(name=names, left=st.sampled_from([1, 2, 40, 200]))
    def append_partial(self, name: str, left: int) -> None:
        line = self._line("user")
        self._begin_if_new(name)
        append(self._path(name), line[:-left])
        self._rests[name] = line[-left:]

    @precondition(lambda self: self._rests.keys() & self._present().keys())
    @rule(number=which, differently=st.booleans())
    def finish_partial(self, number: int, *, differently: bool) -> None:
        torn = sorted(self._rests.keys() & self._present().keys())
        name = torn[number % len(torn)]
        rest = self._rests.pop(name)
        append(self._path(name), b'" and other\n' if differently else rest)

    @precondition(lambda self: self._present())
    @rule(number=which, share=st.floats(0, 1))
    def truncate(self, number: int, share: float) -> None:
        path = self._path(self._one_of(number))
        os.truncate(path, int(path.stat().st_size * share))
        self._is_calm = False

    @precondition(lambda self: self._present())
    @rule(number=which, kept=st.integers(0, 3), more=st.integers(0, 3), by_rename=st.booleans())
    def rewrite(self, number: int, kept: int, more: int, *, by_rename: bool) -> None:
        path = self._path(self._one_of(number))
        lines = path.read_bytes().splitlines(keepends=True)[:kept]
        content = b"".join([*lines, *(self._line("user") for _ in range(more))])
        if by_rename:
            path.with_name("new").write_bytes(content)
            path.with_name("new").rename(path)
        else:
            path.write_bytes(content)
        self._is_calm = False

    @precondition(lambda self: self._present())
    @rule(number=which, is_synced=st.booleans())
    def alter(self, number: int, *, is_synced: bool) -> None:
        """Put other words of the same length."""
        path = self._path(self._one_of(number))
        content = path.read_bytes()
        for one, other in SAME_SIZE.items():
            content = content.replace(one, other)
        path.write_bytes(content)
        self._is_calm = False
        if is_synced:
            self.sync()

    @precondition(lambda self: self._present())
    @rule(number=which, to=names | st.sampled_from(FRESH), is_synced=st.booleans())
    def rename(self, number: int, to: str, *, is_synced: bool) -> None:
        """It may stand where another log stands, or stood: then no model knows which is which."""
        name = self._one_of(number)
        known = {row.path: row for row in ledger_of(self._lake)}
        was_used = to in known or self._path(to).exists()
        if name in known and not (known[name].offset or known[name].pending):
            self._new_names += 1  # Nothing of it was read by which to know it again.
        self._path(name).rename(self._path(to))
        self._is_calm = self._is_calm and not was_used
        self._rests.pop(to, None)
        if name in self._rests:
            self._rests[to] = self._rests.pop(name)
        if is_synced:
            self.sync()

    @precondition(lambda self: self._present())
    @rule(number=which, to=names)
    def copy(self, number: int, to: str) -> None:
        name = self._one_of(number)
        if name != to:
            shutil.copy(self._path(name), self._path(to))
            self._is_calm = False

    @precondition(lambda self: self._present())
    @rule(number=which)
    def delete(self, number: int) -> None:
        self._path(self._one_of(number)).unlink()
        self._is_calm = False

    @precondition(lambda self: self._present())
    @rule(number=which, seconds=st.sampled_from([0, 1, 10**9, 4 * 10**9]))
    def touch(self, number: int, seconds: int) -> None:
        os.utime(self._path(self._one_of(number)), (seconds, seconds))

    # ---- Syncs and readers.

    @rule()
    def sync(self) -> None:
        assert run_sync(self._logs, self._lake).problems == []
        self._after_a_sync()

    @rule(step=STEPS)
    def sync_with_crash(self, step: int) -> None:
        exit_code = exit_code_of(doomed_sync, self._logs, self._lake, step)
        assert exit_code in {0, -signal.SIGKILL}
        type(self).tally.injected += 1
        type(self).tally.ended += exit_code != 0
        if exit_code == 0:
            self._after_a_sync()

    @precondition(lambda self: self._checked > len(self._readers))
    @rule()
    def open_reader(self) -> None:
        pinned = Warehouse(self._lake).snapshot()
        assert pinned
        self._readers.append((pinned, picture_of(pinned)))

    @precondition(lambda self: self._readers)
    @rule()
    def read_readers(self) -> None:
        """G6: who pinned a commit sees it as it was."""
        for pinned, seen in self._readers:
            assert picture_of(pinned) == seen

    # ---- What must hold.

    @invariant()
    def every_commit_keeps_the_promise(self) -> None:
        """G1, G2, G3 and G12 of the newest commit, whoever made it."""
        warehouse = Warehouse(self._lake)
        number = warehouse.load().number if warehouse.exists() else 0
        if number == self._checked:
            return
        self._checked = number
        assert list(flaws_of(self._lake)) == []
        stored = stored_lines(self._lake)
        for source, lines in self._settled.items():
            kept = stored.get(source, {})
            assert lines.items() <= kept.items(), f"{source} lost lines"
        self._settled = stored
        assert wrongly_derived(self._lake) == []
        self.read_readers()

    def _after_a_sync(self) -> None:
        """Hold each log on disk against its rows, and all lines that ever stood against them."""
        known = ledger_of(self._lake)
        live = {row.path: row for row in known if row.gone_at is None}
        present = self._present()
        assert live.keys() == present.keys()
        stored = stored_lines(self._lake)
        for name, path in present.items():
            self._check_log(live[name], path.read_bytes(), stored)
        assert self._ever_stood <= {mark for lines in stored.values() for mark in lines.values()}
        generations = {row.file_id: row.generation for row in known}
        if self._is_calm:
            now = {file_id: generations[file_id] for file_id in self._generations}
            assert now == self._generations, "a log that only grew or moved was read again"
            new = len(generations) - len(self._generations)
            assert new <= self._new_names, "a log that only grew or moved is another now"
        self._generations, self._is_calm, self._new_names = generations, True, 0
        self.every_commit_keeps_the_promise()

    def _check_log(self, row: LedgerRow, content: bytes, stored: Stored) -> None:
        """The rows of a log's generation are the lines that it has now, and its tail waits."""
        end = content.rfind(b"\n") + 1
        assert (row.offset, row.pending) == (end, content[end:])
        source = (row.file_id, row.generation)
        assert content.startswith(self._read.get(source, b"")), "other bytes, same generation"
        self._read[source] = content[:end]
        lines = stored.get(source, {})
        expected = spans_in(content[:end])
        assert lines.keys() == expected.keys()
        for span, line in expected.items():
            assert lines[span] in line
        self._ever_stood |= set(lines.values())


def spans_in(content: bytes) -> dict[Span, bytes]:
    """Return the lines that are not blank, by where they lie."""
    spans, start = {}, 0
    for line in content.split(b"\n")[:-1]:
        end = start + len(line) + 1
        if line.strip():
            spans[start, end] = line
        start = end
    return spans


def stored_lines(lake: Path) -> Stored:
    """Return what stands of each line in the newest commit."""
    place = ("file_id", "generation", "byte_start", "byte_end")
    found: Stored = defaultdict(dict)
    rows = [
        *stored_rows(lake, "rejects", *place, "raw"),
        *stored_rows(lake, "entries", *place, "uuid"),
    ]
    for file_id, generation, start, end, mark in rows:
        known = mark if isinstance(mark, bytes) else str(mark or "").encode()
        found[file_id, generation][start, end] = known
    return dict(found)


def wrongly_derived(lake: Path) -> list[str]:
    """G3: each prompt and response of the model is one line, and so one derived row.

    Nothing is derived from logs that were set aside.
    """
    place = ("file_id", "generation", "byte_start", "object_index")
    aside = {row.file_id for row in ledger_of(lake) if row.layout == "other"}
    entries = stored_rows(lake, "entries", *place, "type")
    entries = [row for row in entries if row[0] not in aside]
    expected = {
        "messages": sorted(row[:-1] for row in entries if row[-1] in {"user", "assistant"}),
        "usage": sorted(row[:-1] for row in entries if row[-1] == "assistant"),
    }
    return [
        table
        for table, rows in expected.items()
        if sorted(stored_rows(lake, table, *place)) != rows
    ]


def picture_of(pinned: Path) -> list[Any]:
    """Return what a reader sees below a pinned tree."""
    files = sorted(pinned.rglob("*.parquet"))
    shown = [
        path
        for path in files
        if path.parts[len(pinned.parts)] in {"entries", "usage", "source_files"}
    ]
    return [(path.name, write.read_table(path).to_pylist()) for path in shown]
