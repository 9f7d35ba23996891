"""Rebuild a damaged warehouse from a commit that is left and from the logs: `repair`.

What is damaged is moved aside and kept; what could not be had is said, with its file.
"""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from etl import build, chain, derive, ledger, mend, pricing, salvage, step, tasks, write
from etl.build import PartResult
from etl.chain import State, StoredFile
from etl.commit import Warehouse
from etl.counts import counted
from etl.errors import StateError, StorageError
from etl.facts import Facts
from etl.mend import Account, Loss
from etl.parts import Slot
from etl.prices.book import Book
from etl.salvage import Base, Survey
from etl.shelf import Shelf
from etl.step import RunSummary
from etl.tables import DERIVED, FACTS, SOURCE_FILES, USAGE


@dataclass(slots=True)
class Report:
    """What was wrong, what was mended and how, what to read again, and what could not be had."""

    commit: int = 0
    is_dry: bool = False
    wrong: list[tuple[str, str]] = field(default_factory=list)
    mended: list[tuple[str, str]] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    lost: list[Loss] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    damaged: str | None = None
    is_back: bool = False
    runs: list[RunSummary] = field(default_factory=list)

    def exit_code(self) -> int:
        """Return 0, or 1 if something could not be had or is left to do."""
        is_undone = self.problems and not self.runs  # A sync shows what a repair could not.
        has_problems = any(run.problems for run in self.runs)
        return int(bool(self.lost or self.asks or is_undone or has_problems))


def repair(
    warehouse: Warehouse, book: Book, *, to: int | None = None, is_dry: bool = False
) -> Report:
    """Make the warehouse sound again; what the logs still have, the next sync reads."""
    try:
        warehouse.create_folders()
        with warehouse.lock():
            found = salvage.survey(warehouse, to)
            return _Repair(found, salvage.base_of(found, to), book, is_dry=is_dry).report()
    except derive.DeriveError as error:
        raise StorageError(str(error), hint="nothing was changed; run again") from error


class _Repair:
    """One repair: what is kept of the base, what was made anew for it, and what is told of it."""

    def __init__(self, found: Survey, base: Base, book: Book, *, is_dry: bool) -> None:
        self._found, self._base, self._book = found, base, book
        self._warehouse = found.warehouse
        self._report = Report(base.state.number, is_dry, found.wrong)
        self._files = {file.published_path(): file for file in base.state.files}
        self._results: list[PartResult] = []
        self._rows: dict[str, ledger.LedgerRow] = {}
        self._shelf = Shelf(found, base.state)
        self._back: list[StoredFile] = []

    def report(self) -> Report:
        """Look at everything, mend what can be mended, and say what cannot."""
        self._refuse_older_format()
        self._look_at_files()
        if self._base.state.number and self._base.state.format == chain.FORMAT:
            self._look_into_files()
        self._report.is_back = self._found.newest() > self._base.state.number
        is_other = bool(self._results or self._back or self._shelf.changed or self._base.is_rebuilt)
        if not self._base.has_terms:
            told = (
                "the terms of content were lost: give --content and --redact again with cclake"
                " sync; it reads again what was forgotten, if its logs are still there"
            )
            self._report.asks.append(told)
        self._look_at_commits()
        if self._report.wrong and not self._report.is_dry:
            self._make_sound(
                is_new=bool(self._base.state.number) and (is_other or self._report.is_back)
            )
        return self._report

    # ---- Look.

    def _refuse_older_format(self) -> None:
        state = self._base.state
        if state.format < chain.FORMAT and not self._found.has_all(state):
            raise StateError(
                f"commit {state.number} was written by an older cclake and is damaged",
                hint="name an older commit with --to N, or sync into another warehouse",
            )

    def _look_at_files(self) -> None:
        for file in self._base.state.files:
            path, place = self._warehouse.files / file.name, self._found.place_of(file)
            if place != path:
                what = "is damaged" if path.exists() else "is missing"
                where = f"{path} ({file.published_path()})"
                if not (self._base.is_rebuilt and place):
                    self._report.wrong.append((where, what))
                if place:
                    self._back.append(file)
                    self._report.mended.append((where, f"taken from {place}"))

    def _look_into_files(self) -> None:
        (stored,) = (one for one in self._base.state.files if one.table == SOURCE_FILES.name)
        rows = ledger.from_arrow(write.read_table(self._place(stored)))
        self._rows = {row.file_id: row for row in self._shelf.settled(rows)}
        parts = {(slot.part, slot): source for slot, source in self._slots().items()}
        for (_, slot), source in sorted(parts.items(), key=lambda one: one[0][0]):
            self._look_at_part(slot, source)
        self._report.mended += self._shelf.mended
        self._report.lost += self._shelf.lost
        self._report.asks += self._shelf.asks

    def _slots(self) -> dict[Slot, str]:
        return tasks.slots_of(self._base.state)

    def _look_at_part(self, slot: Slot, source: str) -> None:
        segments = self._segments(slot)
        accounts = self._accounts(slot)
        if all(segment[table.name] for segment in segments for table in FACTS):
            narrow = [self._narrow(segment) for segment in segments]
            facts = _joined(narrow)
            if self._shelf.has_lost_past:
                self._shelf.put_past(mend.past_of(facts, self._rows))
                accounts = self._accounts(slot)
            if mend.comes_out(facts, accounts):
                if not self._has_derived(slot, derive.derive(facts)):
                    self._derive_again(slot, source, narrow)
                return
            self._report.wrong.append((f"part {slot.part} of {source}", "does not account for all"))
        self._mend_part(slot, source, segments, accounts)

    def _segments(self, slot: Slot) -> list[dict[str, StoredFile | None]]:
        """Return the files of a part's facts, those that are whole, by segment and table."""
        facts = {table.name for table in FACTS}
        of_part = [
            file
            for file in self._base.state.files
            if file.part == slot.part and file.table in facts
        ]
        segments: dict[int, dict[str, StoredFile | None]] = {
            number: dict.fromkeys(facts) for number in sorted({file.segment for file in of_part})
        }
        for file in of_part:
            if self._found.place_of(file):
                segments[file.segment][file.table] = file
        return list(segments.values()) or [dict.fromkeys(facts)]

    def _accounts(self, slot: Slot) -> list[Account]:
        members = [row for row in self._rows.values() if row.part == slot.part]
        now = [
            Account(row, row.generation, row.offset, row.line_count, row.blank_bytes)
            for row in members
        ]
        sidecars = [
            Account(row, generation, 0, 0, 0)
            for row in members
            if row.kind == "sidecar"
            for generation in range(row.generation)
        ]
        return [*now, *sidecars, *self._shelf.past_accounts({row.file_id: row for row in members})]

    def _narrow(self, segment: dict[str, StoredFile | None]) -> Facts:
        return {
            table.name: write.read_table(self._place(file), table.narrow_names())
            for table in FACTS
            if (file := segment[table.name])
        }

    def _has_derived(self, slot: Slot, tables: dict[str, pa.Table]) -> bool:
        stored = {
            file.table: file
            for file in self._base.state.files
            if file.part == slot.part and file.table in tables and self._found.place_of(file)
        }
        return all(
            table.name in stored
            and tables[table.name].equals(write.read_table(self._place(stored[table.name])))
            for table in DERIVED
        )

    def _look_at_commits(self) -> None:
        state = self._base.state
        known = {where for where, _ in self._report.wrong}
        for number in sorted({*self._found.states} - {state.number}):
            where = f"commit {number}"
            if number > state.number:
                told = (where, "is later than the one to start from")
            elif number in self._found.connected(state):
                continue
            else:
                is_whole = self._found.has_all(self._found.states[number])
                told = (where, "is not tied to the next" if is_whole else "names damaged files")
            if where not in known:
                self._report.wrong.append(told)
        # A commit that is made here is shown anyway, and an older format by its upgrade.
        is_newest = state.number == self._found.newest() and not self._base.is_rebuilt
        if state.number and is_newest and state.format == chain.FORMAT:
            self._look_at_tree(state)

    def _look_at_tree(self, state: State) -> None:
        tree = self._warehouse.published / chain.name_of(state.number)
        if not self._warehouse.is_published(state):
            self._report.wrong.append((str(self._warehouse.current), "does not show the commit"))
            self._report.mended.append((str(self._warehouse.current), "published again"))
            return
        for file in state.files:
            shown, stored = tree / file.published_path(), self._warehouse.files / file.name
            is_same = shown.exists() and stored.exists() and shown.samefile(stored)
            if not is_same and self._found.place_of(file) and not salvage.is_whole(shown, file):
                self._report.wrong.append((str(shown), "is not the file of the commit"))
                self._report.mended.append((str(shown), "published again"))

    def _place(self, file: StoredFile) -> Path:
        place = self._found.place_of(file)
        return place or self._warehouse.files / file.name

    # ---- Mend.

    def _derive_again(self, slot: Slot, source: str, narrow: list[Facts]) -> None:
        where = f"part {slot.part} of {source}"
        if all(self._found.place_of(file) for file in self._of_part(slot)):
            self._report.wrong.append((where, "its derived tables are not what its facts give"))
        self._report.mended.append((where, "derived again from its facts"))
        result = PartResult(slot, source=source)
        if not self._report.is_dry:
            build.derive_part(narrow, self._warehouse.staging, result)
        self._take(result, {table.name for table in DERIVED})

    def _mend_part(
        self,
        slot: Slot,
        source: str,
        segments: list[dict[str, StoredFile | None]],
        accounts: list[Account],
    ) -> None:
        rows = {one.row.file_id: one.row for one in accounts}
        readable = frozenset(name for name, row in rows.items() if mend.is_readable(row))
        left = [
            {
                name: write.read_table(self._place(file)) if file else None
                for name, file in one.items()
            }
            for one in segments
        ]
        part = mend.mended(left, accounts, readable)
        self._report.lost += part.losses
        for file_id in sorted(part.again, key=lambda one: self._rows[one].path):
            row = self._rows[file_id]
            self._report.again.append(f"{row.root}/{row.path}")
            self._rows[file_id] = mend.set_back(row)
        for file_id, generation in part.filled:
            if self._rows[file_id].generation == generation:
                self._rows[file_id] = replace(self._rows[file_id], blank_bytes=0)
            else:
                self._shelf.without_blanks(file_id, generation)
        told = f"kept what is whole; to be read again: {counted(len(part.again), 'file')}"
        self._report.mended.append((f"part {slot.part} of {source}", told))
        result = PartResult(slot, source=source)
        if not self._report.is_dry:
            self._write_part(part.segments, result)
        self._take(result, {table.name for table in (*FACTS, *DERIVED)})

    def _write_part(self, segments: list[Facts], result: PartResult) -> None:
        staging = self._warehouse.staging
        for number, facts in enumerate(segments):
            raw_bytes = salvage.raw_bytes_of(facts)
            for table in FACTS:
                file = write.write_table(table, facts[table.name], staging)
                result.written.append((number, raw_bytes, file))
        narrow = [
            {table.name: facts[table.name].select(table.narrow_names()) for table in FACTS}
            for facts in segments
        ]
        build.derive_part(narrow, staging, result)

    def _take(self, result: PartResult, tables: set[str]) -> None:
        """Let what was made anew stand for what a part had of these tables."""
        self._results.append(result)
        for file in self._of_part(result.slot):
            if file.table in tables:
                self._files.pop(file.published_path())

    def _of_part(self, slot: Slot) -> list[StoredFile]:
        return [file for file in self._base.state.files if file.part == slot.part]

    # ---- Commit.

    def _make_sound(self, *, is_new: bool) -> None:
        base = self._base.state
        self._set_aside(number for number in self._numbers() if number > base.number)
        for file in self._back:
            self._put_back(file)
        run = RunSummary(uuid4().hex, "", step.now(), kind="repair")
        after = self._commit(run) if is_new else base
        if is_new:
            self._found.states[after.number] = after
        kept = {after.number, *self._found.connected(after)} if after.number else set()
        self._set_aside(number for number in self._numbers() if number not in kept)
        self._set_files_aside(kept)
        if not after.number:
            self._warehouse.current.unlink(missing_ok=True)
        elif not is_new:
            self._warehouse.publish(after)
        self._report.commit = after.number
        run.problems = []  # What was lost is in the commit, and in the report.
        step.show(self._warehouse, after, run)
        self._report.problems = run.problems

    def _commit(self, run: RunSummary) -> State:
        run.events = [*self._report.wrong, *self._report.mended]
        run.problems = [(one.path, one.what) for one in self._report.lost]
        files = self._shelf.files_of(self._files)
        state = replace(self._base.state, files=tuple(files))
        books = {SOURCE_FILES.name: ledger.to_arrow(self._rows.values()), **self._shelf.books()}
        if self._shelf.has_lost_prices:
            books |= pricing.tables_of(self._book, self._models())
        return step.commit(self._warehouse, state, self._results, books, run)

    def _models(self) -> set[str]:
        """Return the names of all models that were logged."""
        models = {model for result in self._results for model in result.models}
        for file in self._files.values():
            if file.table == USAGE.name:
                models |= build.models_in(write.read_table(self._place(file)))
        return models

    def _put_back(self, file: StoredFile) -> None:
        staged = self._warehouse.staging / f"{uuid4().hex}.parquet"
        shutil.copyfile(self._place(file), staged)
        staged.chmod(0o600)
        with staged.open("rb+") as copy:
            write.sync_descriptor(copy.fileno())
        staged.rename(self._warehouse.files / file.name)

    def _numbers(self) -> list[int]:
        shown = [
            int(one.name) for one in self._warehouse.published.iterdir() if one.name.isdecimal()
        ]
        return sorted({*shown, *self._warehouse.commit_numbers()}, reverse=True)

    def _set_aside(self, numbers: Iterable[int]) -> None:
        """Move documents and trees aside, the newest first, so that a kill leaves older ones."""
        for number in numbers:
            name = chain.name_of(number)
            document = self._warehouse.commits / f"{name}.json"
            for path in (self._warehouse.published / name, document):
                if path.exists():
                    self._move_aside(path)

    def _set_files_aside(self, kept: set[int]) -> None:
        states = [chain.read(self._warehouse.commits, number) for number in kept]
        named = {file.name for state in states for file in state.files}
        for path in sorted(self._warehouse.files.iterdir()):
            if path.name not in named:
                self._move_aside(path)

    def _move_aside(self, path: Path) -> None:
        folder = self._warehouse.damaged
        folder.mkdir(mode=0o700, exist_ok=True)
        target, count = folder / path.name, 0
        while os.path.lexists(target):
            count += 1
            target = folder / f"{path.name}.{count}"
        path.rename(target)
        self._report.damaged = str(folder)


def _joined(facts: list[Facts]) -> Facts:
    return {table.name: pa.concat_tables([one[table.name] for one in facts]) for table in FACTS}
