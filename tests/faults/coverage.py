"""Account for the bytes of a warehouse from its files alone: each line once, without a gap."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from etl import ledger, write
from etl.commit import Warehouse
from etl.ledger import LedgerRow
from etl.tables import DERIVED

Span = tuple[int, int]  # first byte, byte after the newline
Source = tuple[str, int]  # file, generation


def stored_rows(lake: Path, table: str, *columns: str) -> list[tuple[Any, ...]]:
    """Return the rows of a physical table in the newest commit."""
    warehouse = Warehouse(lake)
    found: list[tuple[Any, ...]] = []
    for file in warehouse.load().files:
        if file.table == table:
            rows = write.read_table(warehouse.files / file.name, list(columns))
            found += zip(*(rows.column(name).to_pylist() for name in columns), strict=True)
    return found


def ledger_of(lake: Path) -> list[LedgerRow]:
    """Return what the newest commit knows of every file."""
    warehouse = Warehouse(lake)
    names = [file.name for file in warehouse.load().files if file.table == "source_files"]
    return [
        row for name in names for row in ledger.from_arrow(write.read_table(warehouse.files / name))
    ]


def spans_of(lake: Path) -> dict[Source, list[Span]]:
    """Return where the stored lines of each source lie, in their order; twice if stored twice."""
    place = ("file_id", "generation", "byte_start", "byte_end")
    found = Counter(stored_rows(lake, "rejects", *place))
    entries = stored_rows(lake, "entries", *place, "object_index")
    found += Counter(row[:-1] for row in entries if row[-1] == 0)
    spans: dict[Source, list[Span]] = defaultdict(list)
    for file_id, generation, start, end in sorted(found.elements(), key=repr):
        spans[file_id, generation].append((start, end))
    return {source: sorted(lines) for source, lines in spans.items()}


def flaws_of(lake: Path) -> Iterator[str]:
    """Yield what breaks the promise: lines twice, bytes that no line or blank accounts for."""
    spans = spans_of(lake)
    for source, lines in spans.items():
        if any(end > start for (_, end), (start, _) in pairwise(lines)):
            yield f"{source}: lines overlap: {lines}"
    for row in ledger_of(lake):
        gap = unaccounted_bytes(row, spans)
        if gap:
            yield f"{row.path}: {gap} bytes unaccounted"
    yield from _derived_without_facts(lake, set(spans))


def unaccounted_bytes(row: LedgerRow, spans: dict[Source, list[Span]]) -> int:
    """Return how many read bytes of a file's newest generation are no line and no blank."""
    if not row.is_of_a_part() or row.kind == "sidecar":
        return 0
    lines = spans.get((row.file_id, row.generation), [])
    behind = max([row.offset, *(end for _, end in lines)]) - row.offset
    return abs(row.offset - row.blank_bytes - sum(end - start for start, end in lines)) + behind


def _derived_without_facts(lake: Path, sources: set[Source]) -> Iterator[str]:
    for table in DERIVED:
        if not {"file_id", "generation"} <= set(table.names()):
            continue
        for file_id, generation in set(stored_rows(lake, table.name, "file_id", "generation")):
            if (file_id, generation) not in sources:
                yield f"{table.name}: a row of {file_id}, {generation}, which has no line"
