"""The books of a commit that is repaired: whole ones, and older ones for those that are not."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from etl import ledger, mend, write
from etl.chain import State, StoredFile
from etl.ledger import LedgerRow
from etl.mend import Account, Generation, Loss
from etl.salvage import Survey
from etl.step import Books
from etl.tables import (
    AROUND_TABLES,
    BOOKS,
    DAILY_STATS,
    FORGOTTEN,
    PAST_GENERATIONS,
    PRICE_TABLES,
    PROMPT_HISTORY,
    SESSION_INDEX,
    SOURCE_FILES,
    Table,
)

_KINDS = {PROMPT_HISTORY.name: "history", SESSION_INDEX.name: "index", DAILY_STATS.name: "stats"}


class Shelf:
    """The books that stand beside the ledger, as far as they are whole."""

    def __init__(self, found: Survey, state: State) -> None:
        """Find the books of a commit that are damaged."""
        self.mended: list[tuple[str, str]] = []
        self.lost: list[Loss] = []
        self.asks: list[str] = []
        self._found, self._state = found, state
        self._files = {file.table: file for file in state.files if file.part is None}
        self._damaged = [
            table
            for table in BOOKS
            if table != SOURCE_FILES
            and table.name in self._files
            and not found.place_of(self._files[table.name])
        ]
        self._instead: dict[str, StoredFile] = {}
        self._past: dict[Generation, dict[str, Any]] = {}
        self._has_new_past = False
        self.has_lost_prices = any(table in PRICE_TABLES for table in self._damaged)
        self.has_lost_past = PAST_GENERATIONS in self._damaged

    @property
    def changed(self) -> bool:
        """Say whether a book is not as it was."""
        return bool(self._damaged or self._has_new_past)

    def settled(self, rows: list[LedgerRow]) -> list[LedgerRow]:
        """Replace damaged books by older ones, and return the ledger as it goes with them."""
        known = {row.file_id: row for row in rows}
        for table in self._damaged:
            if table in PRICE_TABLES:
                self.mended.append((table.name, "made anew from the price book"))
            elif table in AROUND_TABLES:
                known |= self._as_of_older(table, rows)
            else:
                self._take_older(table)
        self._read_past({row.file_id for row in rows if known[row.file_id] != row}, known)
        return list(known.values())

    def put_past(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take in generations that were worked out again, where they are not known."""
        for row in rows:
            key = (row["file_id"], row["generation"])
            self._has_new_past |= key not in self._past
            self._past.setdefault(key, dict(row))

    def past_accounts(self, rows: Mapping[str, LedgerRow]) -> list[Account]:
        """Return how far earlier generations of these files were read."""
        names = ("generation", "offset", "line_count", "blank_bytes")
        return [
            Account(rows[one["file_id"]], *(one[name] for name in names))
            for one in self._past.values()
            if one["file_id"] in rows
        ]

    def without_blanks(self, file_id: str, generation: int) -> None:
        """Count no blank bytes in a generation whose gaps were filled."""
        self._past[file_id, generation]["blank_bytes"] = 0
        self._has_new_past = True

    def books(self) -> Books:
        """Return the books that are written anew."""
        schema = PAST_GENERATIONS.schema()
        rows = sorted(self._past.values(), key=lambda one: (one["ended_at"], one["file_id"]))
        is_new = self._has_new_past or (self.has_lost_past and rows)
        return {PAST_GENERATIONS.name: pa.Table.from_pylist(rows, schema=schema)} if is_new else {}

    def files_of(self, files: Mapping[str, StoredFile]) -> list[StoredFile]:
        """Return a commit's files with the damaged books replaced or left out."""
        damaged = {table.name for table in self._damaged}
        return [
            *(file for file in files.values() if file.table not in damaged),
            *self._instead.values(),
        ]

    def _older(self, table: Table, *, with_ledger: bool) -> tuple[State, StoredFile] | None:
        for state in self._found.older(self._state.number):
            of_state = {file.table: file for file in state.files if file.part is None}
            wanted = [table.name, SOURCE_FILES.name] if with_ledger else [table.name]
            if all(name in of_state and self._found.place_of(of_state[name]) for name in wanted):
                return state, of_state[table.name]
        return None

    def _take_older(self, table: Table) -> None:
        older = self._older(table, with_ledger=False)
        if table == PAST_GENERATIONS:
            self.mended.append((table.name, "worked out again from the lines"))
        elif older is not None:
            self.mended.append((table.name, f"taken from commit {older[0].number}"))
        if older is not None:
            self._instead[table.name] = older[1]
        if table == FORGOTTEN:
            told = "what was forgotten since is not known; cclake sync may read it again"
            self.asks.append(told if older else told.replace(" since", ""))
        elif table != PAST_GENERATIONS:
            what = "rows since then" if older else "all of its rows"
            rows = self._files[table.name].rows - (older[1].rows if older else 0)
            if rows:
                self.lost.append(Loss(table.name, f"{what}: {rows:,}"))

    def _as_of_older(self, table: Table, rows: list[LedgerRow]) -> dict[str, LedgerRow]:
        """Go back to an older state of a book and of its files' rows; the sync reads on from it."""
        members = [row for row in rows if row.kind == _KINDS[table.name]]
        older = self._older(table, with_ledger=True)
        before: dict[str, LedgerRow] = {}
        if older is None:
            self.mended.append((table.name, "left out, to be read again"))
        else:
            state, self._instead[table.name] = older
            self.mended.append((table.name, f"taken from commit {state.number}, to be read on"))
            before = {row.file_id: row for row in self._ledger_of(state)}
        return {row.file_id: self._set_back(row, before.get(row.file_id)) for row in members}

    def _ledger_of(self, state: State) -> list[LedgerRow]:
        (file,) = (one for one in state.files if one.table == SOURCE_FILES.name)
        place = self._found.place_of(file)
        return ledger.from_arrow(write.read_table(place)) if place else []

    def _set_back(self, row: LedgerRow, older: LedgerRow | None) -> LedgerRow:
        names = ("offset", "line_count", "blank_bytes", "pending", "prefix_hash", "generation")
        base = older or replace(mend.set_back(row), generation=0)
        back = replace(row, ctime_ns=0, **{name: getattr(base, name) for name in names})
        path = f"{row.root}/{row.path}"
        if not mend.is_readable(row) and (row.offset, row.generation) != (
            back.offset,
            back.generation,
        ):
            lines = max(0, row.line_count - back.line_count)
            size = max(0, row.offset - back.offset)
            self.lost.append(Loss(path, "what was read of it since", lines, size))
        elif row.generation > back.generation + (older is not None):
            self.lost.append(Loss(path, "what it had once and has no longer"))
        return back

    def _read_past(self, set_back: set[str], rows: Mapping[str, LedgerRow]) -> None:
        """Read the generations that ended, but for those that are not over again."""
        file = self._instead.pop(PAST_GENERATIONS.name, None) or self._files.get(
            PAST_GENERATIONS.name
        )
        place = self._found.place_of(file) if file else None
        for one in write.read_table(place).to_pylist() if place else []:
            file_id, generation = one["file_id"], one["generation"]
            if file_id in set_back and generation >= rows[file_id].generation:
                self._has_new_past = True
            else:
                self._past[file_id, generation] = one
