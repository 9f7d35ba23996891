"""What is left of a warehouse to start from: sound documents, published trees, whole files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from etl import chain, write
from etl.chain import NewerFormatError, State, StoredFile
from etl.commit import Warehouse
from etl.content import FULL, KNOWN, METRICS, OFF
from etl.counts import counted
from etl.errors import StateError, UsageError
from etl.tables import ALL_TABLES, ENTRIES, FACTS, REJECTS, SIDECARS, SOURCE_FILES, Table

# What reading a Parquet file raises that is not one, or is one no more.
UNREADABLE = (OSError, pa.ArrowException, ValueError, MemoryError)
_TABLES = {table.name: table for table in ALL_TABLES}
_FACTS = {table.name for table in FACTS}
_PUBLISHED = re.compile(
    r"(?P<table>\w+)/(?:(?P=table)|source=(?P<source>[^/]+)/month=(?P<month>[^/]+)/"
    r"part-(?P<part>\d+)(?:-s(?P<segment>\d+))?)\.parquet"
)


@dataclass(frozen=True, slots=True)
class Base:
    """The commit that a repair starts from; some of its files may be damaged."""

    state: State
    is_rebuilt: bool = False
    has_terms: bool = True


@dataclass(slots=True)
class Survey:
    """What is there of a warehouse: sound documents, trees, whole files, and all that is wrong."""

    warehouse: Warehouse
    states: dict[int, State] = field(default_factory=dict)
    trees: dict[int, Path] = field(default_factory=dict)
    wrong: list[tuple[str, str]] = field(default_factory=list)
    _places: dict[str, Path | None] = field(default_factory=dict)

    def place_of(self, file: StoredFile) -> Path | None:
        """Return where a stored file lies whole: in its place, or as the copy in a tree."""
        if file.name not in self._places:
            shown = [tree / file.published_path() for tree in self.trees.values()]
            places = [self.warehouse.files / file.name, *shown]
            whole = (path for path in places if is_whole(path, file))
            self._places[file.name] = next(whole, None)
        return self._places[file.name]

    def has_all(self, state: State) -> bool:
        """Say whether all files of a commit are whole."""
        return all(self.place_of(file) for file in state.files)

    def newest(self) -> int:
        """Return the number of the newest commit there ever was, sound or not; 0 for none."""
        return max([*self.states, *self.trees, *self.warehouse.commit_numbers()], default=0)

    def older(self, number: int) -> Iterator[State]:
        """Yield the sound documents before a commit, the newest first."""
        yield from (self.states[one] for one in sorted(self.states, reverse=True) if one < number)

    def connected(self, state: State) -> list[int]:
        """Return the earlier commits that may stay: whole, and each one followed by the next."""
        kept: list[int] = []
        for number in range(state.number - 1, 0, -1):
            older = self.states.get(number)
            if older is None or older.sha256 != state.parent_sha256 or not self.has_all(older):
                break
            kept.append(number)
            state = older
        return kept


def survey(warehouse: Warehouse, to: int | None) -> Survey:
    """Read every document and find every tree; what a newer version wrote is not ours to mend."""
    found = Survey(warehouse)
    for path in warehouse.published.glob("*"):
        if path.name.isdecimal() and path.is_dir():
            found.trees[int(path.name)] = path
    for number in warehouse.commit_numbers():
        try:
            found.states[number] = chain.read(warehouse.commits, number)
        except NewerFormatError as error:
            if to is None or number <= to:
                raise
            found.wrong.append((f"commit {number}", error.what))
        except StateError as error:
            found.wrong.append((f"commit {number}", error.what))
    lost = sorted(found.trees.keys() - {*warehouse.commit_numbers()})
    found.wrong += [(f"commit {number}", "its document is missing") for number in lost]
    return found


def base_of(found: Survey, to: int | None) -> Base:
    """Return the newest commit that can be started from, or the one that was asked for."""
    numbers = sorted({*found.states, *found.trees}, reverse=True)
    if to is not None and to not in numbers:
        there = ", ".join(map(str, sorted(numbers))) or "none"
        raise UsageError(f"commit {to} is not kept", hint=f"there are: {there}")
    for number in numbers if to is None else [to]:
        base = _base_at(found, number)
        if base is not None:
            return base
        found.wrong.append((f"commit {number}", "its ledger is damaged, so it cannot be kept"))
    if to is not None:
        raise StateError(f"commit {to} cannot be started from", hint="try an older one")
    stray = sum(path.is_file() for path in found.warehouse.files.glob("*.parquet"))
    if stray:
        where = str(found.warehouse.files)
        many = counted(stray, "file")
        found.wrong.append((where, f"has {many}, and no commit names what is there"))
    return Base(State(), has_terms=not found.newest())


def raw_bytes_of(facts: dict[str, pa.Table]) -> int:
    """Return how much raw log some facts hold."""
    size = 0
    for name in (ENTRIES.name, REJECTS.name):
        first = facts[name].filter(pc.equal(facts[name].column("object_index"), 0))
        lengths = pc.subtract(first.column("byte_end"), first.column("byte_start"))
        size += pc.sum(lengths).as_py() or 0
    contents = pc.binary_length(facts[SIDECARS.name].column("content"))
    return size + int(pc.sum(contents).as_py() or 0)


def is_whole(path: Path, file: StoredFile) -> bool:
    """Say whether a file is the very one that was written."""
    try:
        return path.stat().st_size == file.size and write.hash_file(path) == file.content_hash
    except OSError:
        return False


def _base_at(found: Survey, number: int) -> Base | None:
    state = found.states.get(number)
    if state is None:
        return _base_of_tree(found, number) if number in found.trees else None
    return Base(state) if _has_ledger(found, state) else None


def _has_ledger(found: Survey, state: State) -> bool:
    return any(file.table == SOURCE_FILES.name and found.place_of(file) for file in state.files)


def _base_of_tree(found: Survey, number: int) -> Base | None:
    """Take what a tree shows for what its lost document said; its paths tell most of it."""
    tree = found.trees[number]
    names = {path.stat().st_ino: path.name for path in found.warehouse.files.iterdir()}
    files = [
        _file_in_tree(found, path, match.groupdict(), names)
        for path in sorted(tree.rglob("*.parquet"))
        if (match := _PUBLISHED.fullmatch(path.relative_to(tree).as_posix()))
        and match["table"] in _TABLES
    ]
    state = State(number, _with_raw_bytes(tree, files))
    if not _has_ledger(found, state):
        return None
    known = next(iter(found.older(found.newest() + 1)), None)
    if known is not None:
        state = replace(state, content=known.content, redact=known.redact, key=known.key)
        return Base(state, is_rebuilt=True)
    return Base(_with_seen_terms(tree, state), is_rebuilt=True, has_terms=False)


def _file_in_tree(
    found: Survey, path: Path, place: dict[str, str | None], names: dict[int, str]
) -> StoredFile:
    """Return what a document would say of a file; of a damaged one a hash that no file has."""
    table = _TABLES[str(place["table"])]
    part = place["part"]
    name = names.get(path.stat().st_ino, f"{table.name}-{uuid4().hex}.parquet")
    rows = _rows_in(found, path, table, name)
    return StoredFile(
        table.name,
        name,
        0 if rows is None else rows,
        path.stat().st_size,
        "" if rows is None else write.hash_file(path),
        place["source"],
        place["month"],
        None if part is None else int(part),
        int(place["segment"] or 0),
    )


def _rows_in(found: Survey, path: Path, table: Table, name: str) -> int | None:
    """Read a file to its end and count its rows; None if it is not what was written."""
    known = (file for state in found.states.values() for file in state.files if file.name == name)
    expected = next(known, None)
    if expected is not None and not is_whole(path, expected):
        return None
    try:
        rows = write.read_table(path)
    except UNREADABLE:
        return None
    return rows.num_rows if rows.column_names == table.names() else None


def _with_raw_bytes(tree: Path, files: list[StoredFile]) -> tuple[StoredFile, ...]:
    sizes: dict[tuple[int | None, int], int] = {}
    for key in {(file.part, file.segment) for file in files if file.table in _FACTS}:
        same = [file for file in files if (file.part, file.segment) == key]
        facts = {file.table: file for file in same if file.table in _FACTS and file.content_hash}
        rows = {
            table.name: write.read_table(tree / facts[table.name].published_path())
            if table.name in facts
            else table.schema().empty_table()
            for table in FACTS
        }
        sizes[key] = raw_bytes_of(rows)
    return tuple(
        replace(file, raw_bytes=sizes[file.part, file.segment]) if file.table in _FACTS else file
        for file in files
    )


def _with_seen_terms(tree: Path, state: State) -> State:
    """Tell from the rows themselves whether content was kept, and secrets were hidden."""
    has_content, has_hidden, has_rows = False, False, False
    for file in state.files:
        if file.table == ENTRIES.name and file.content_hash:
            rows = write.read_table(tree / file.published_path(), ["payload", "flaws"])
            has_rows |= rows.num_rows > 0
            has_content |= rows.column("payload").null_count < rows.num_rows
            has_hidden |= any("redacted" in (one or "") for one in rows.column("flaws").to_pylist())
    return replace(
        state,
        content=FULL if has_content or not has_rows else METRICS,
        redact=KNOWN if has_hidden else OFF,
    )
