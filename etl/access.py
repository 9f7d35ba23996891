"""Who may read and write a warehouse: its owner alone.

What others can write is refused: they could put rows into it, or a file made to harm its reader.
What others can only read is told, for it is theirs to know.
"""

import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from etl.errors import StateError

if TYPE_CHECKING:
    from etl.commit import Warehouse

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_ROOT = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """A folder as it was seen: who owns it, and what it lets others do."""

    path: Path
    mode: int
    owner: int


def objection_to(seen: Seen, user: int) -> StateError | None:
    """Return why a folder cannot be trusted, if somebody else could change what is in it."""
    if seen.owner not in {user, _ROOT}:
        return StateError(
            f"'{seen.path}' belongs to another user (uid {seen.owner}), who can swap what is in it",
            hint="run as that user, or name a warehouse of your own with --warehouse DIR",
        )
    if seen.mode & _OTHERS_WRITE:
        return StateError(
            f"others can write to '{seen.path}' (mode {seen.mode:04o})",
            hint=f"if what is in it is yours alone: chmod 700 {shlex.quote(str(seen.path))}",
        )
    return None


def remark_on(seen: Seen) -> str | None:
    """Return what to tell of a folder that others can look into."""
    if not seen.mode & _OTHERS:
        return None
    keep = f"chmod 700 {shlex.quote(str(seen.path))}"
    return f"others can look into '{seen.path}' (mode {seen.mode:04o}); to keep it yours: {keep}"


def refuse_if_shared(warehouse: "Warehouse") -> None:
    """Refuse a warehouse that somebody else can change."""
    for folder in (
        warehouse.folder,
        warehouse.store,
        warehouse.commits,
        warehouse.files,
        warehouse.published,
        warehouse.staging,
    ):
        seen = _look_at(folder)
        if seen and (objection := objection_to(seen, os.geteuid())):
            raise objection


def remark_on_warehouse(warehouse: "Warehouse") -> str | None:
    """Return what to tell of a warehouse that others can look into."""
    seen = _look_at(warehouse.folder)
    return remark_on(seen) if seen else None


def loose_below(folder: Path) -> Iterator[Path]:
    """Yield every file and folder, this one too, that lets others do anything at all."""
    for top, _, names in os.walk(folder):
        yield from filter(_is_loose, (Path(top), *(Path(top, name) for name in names)))


def _is_loose(path: Path) -> bool:
    try:
        seen = path.lstat()
    except FileNotFoundError:
        return False  # A sync beside is done with it.
    return not stat.S_ISLNK(seen.st_mode) and bool(seen.st_mode & _OTHERS)


@contextmanager
def only_for_the_owner() -> Iterator[None]:
    """Let nobody else read or write what is made meanwhile, whatever the umask."""
    mask = os.umask(_OTHERS)
    try:
        yield
    finally:
        os.umask(mask)


def _look_at(folder: Path) -> Seen | None:
    try:
        seen = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        raise StateError(
            f"'{folder}' is not yours to read",
            hint="run as its owner, or name a warehouse of your own with --warehouse DIR",
        ) from error
    if not stat.S_ISDIR(seen.st_mode):
        return None
    return Seen(folder, stat.S_IMODE(seen.st_mode), seen.st_uid)
