"""Decide what a file needs: nothing, or a look. Pure: stat and ledger in, plan out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from etl.discover import FoundFile
    from etl.ledger import LedgerRow


@dataclass(frozen=True, slots=True)
class Look:
    """A file that must be opened: new to us, changed, or waiting for its session's part."""

    found: FoundFile
    known: LedgerRow | None
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run has to look at, what is as it was, and what is no longer there."""

    looks: tuple[Look, ...]
    unchanged: tuple[LedgerRow, ...]
    gone: tuple[LedgerRow, ...]


def plan(
    files: Iterable[FoundFile],
    ledger: Iterable[LedgerRow],
    *,
    walked_roots: frozenset[str],
    is_moved: Callable[[FoundFile, LedgerRow], bool],
) -> Plan:
    """Match what was found with what is known: by path, else by inode or name and content."""
    by_path = {(row.root, row.path): row for row in ledger}
    looks: list[Look] = []
    unchanged: list[LedgerRow] = []
    strangers: list[FoundFile] = []
    for file in files:
        row = by_path.pop((file.root, file.path), None)
        if row is None:
            strangers.append(file)
        elif needs_look(file, row):
            looks.append(Look(file, row, "changed"))
        else:
            unchanged.append(row)
    missing = list(by_path.values())
    for file in strangers:
        row = _moved_from(file, missing, is_moved)
        if row is not None:
            missing.remove(row)
        looks.append(Look(file, row, "moved" if row else "new"))
    gone = [row for row in missing if row.root in walked_roots]
    unchanged += [row for row in missing if row.root not in walked_roots]
    return Plan(tuple(looks), tuple(unchanged), tuple(gone))


def needs_look(file: FoundFile, row: LedgerRow) -> bool:
    """Say whether a known file may have changed. Any difference counts; order never does."""
    seen = (file.device, file.inode, file.size, file.mtime_ns, file.ctime_ns)
    known = (row.device, row.inode, row.size, row.mtime_ns, row.ctime_ns)
    return seen != known or row.gone_at is not None or row.is_waiting()


def _moved_from(
    file: FoundFile,
    missing: list[LedgerRow],
    is_moved: Callable[[FoundFile, LedgerRow], bool],
) -> LedgerRow | None:
    """Find the vanished file that this one is. Name and inode are hints; content decides."""
    hinted = [row for row in missing if (row.offset or row.pending) and _may_be(file, row)]
    # Of copies that moved at once, each is known by its inode.
    hinted.sort(key=lambda row: not _has_inode(file, row))
    return next((row for row in hinted if is_moved(file, row)), None)


def _has_inode(file: FoundFile, row: LedgerRow) -> bool:
    return (row.device, row.inode) == (file.device, file.inode)


def _may_be(file: FoundFile, row: LedgerRow) -> bool:
    known = (row.session_id, row.agent_id)
    if row.kind == "sidecar" and known != (file.place.session_id, file.place.agent_id):
        return False  # All sessions have sidecars of the same few names, which may say the same.
    return _has_inode(file, row) or row.path.rpartition("/")[2] == file.path.rpartition("/")[2]
