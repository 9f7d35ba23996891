"""After a repair: read again what the logs still have, each machine's from where they lie."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from etl import ledger, pipeline, step
from etl.commit import Warehouse
from etl.config import Settings
from etl.ledger import LedgerRow
from etl.repair import Report
from etl.tables import SOURCE_FILES


def read_again(warehouse: Warehouse, report: Report, settings: Settings) -> None:
    """Sync from the log folders that were found, and from those of files that must be read again.

    A folder belongs to the machine under whose name it is known.
    """
    stored = step.stored_books(warehouse, warehouse.load(), (SOURCE_FILES,))
    rows = ledger.from_arrow(stored[SOURCE_FILES.name]) if stored else []
    for one in _syncs(rows, {*report.again}, settings, is_back=report.is_back):
        report.runs.append(pipeline.sync(one))
    report.commit = warehouse.load().number


def _syncs(
    rows: list[LedgerRow], again: set[str], settings: Settings, *, is_back: bool
) -> Iterator[Settings]:
    sources: dict[str, set[str]] = defaultdict(set)
    places: dict[str, set[Path]] = defaultdict(set)
    configs = {*settings.configs} | {
        Path(row.root) for row in rows if row.kind in {"history", "stats"}
    }
    for row in rows:
        sources[row.root].add(row.source)
        # What a later commit had read may be of any machine whose logs are here.
        if f"{row.root}/{row.path}" in again or (is_back and Path(row.root).is_dir()):
            places[row.source].add(Path(row.root))
    for root in (*settings.roots, *settings.configs):
        known = sources[str(root)]
        for source in known if known and settings.source not in known else {settings.source}:
            places[source].add(root)
    for source, folders in sorted(places.items()):
        yield replace(
            settings,
            source=source,
            roots=tuple(sorted(folders - configs)),
            configs=tuple(sorted(folders & configs)),
        )
