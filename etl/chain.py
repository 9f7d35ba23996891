"""The chain of commit documents: each one whole, of a format we know, and tied to the last."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from etl.errors import StateError

FORMAT = 3
OLDEST_FORMAT = 1
REPAIR = "cclake repair goes back to the last commit that is whole"


class NewerFormatError(StateError):
    """Raised when a commit is sound and of a format that only a newer version knows."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One Parquet file of a commit: which part and segment of which table it is."""

    table: str
    name: str
    rows: int
    size: int
    content_hash: str
    source: str | None = None
    month: str | None = None
    part: int | None = None
    segment: int = 0
    raw_bytes: int = 0

    def published_path(self) -> str:
        """Return the stable name under which readers find the file."""
        if self.part is None:
            return f"{self.table}/{self.table}.parquet"
        segment = f"-s{self.segment:02d}" if self.segment else ""
        place = f"source={self.source}/month={self.month}"
        return f"{self.table}/{place}/part-{self.part:04d}{segment}.parquet"


@dataclass(frozen=True, slots=True)
class State:
    """What one commit says the warehouse holds. Number 0 is a warehouse before its first."""

    number: int = 0
    files: tuple[StoredFile, ...] = ()
    sha256: str = ""
    parent_sha256: str = ""
    format: int = FORMAT
    content: str = "full"
    redact: str = "off"
    key: str = ""
    forgets: bool = False  # no earlier commit may be kept beside it


def name_of(number: int) -> str:
    """Return what a commit's document and tree are called; numbers sort as their names do."""
    return f"{number:010d}"


def numbers_in(folder: Path) -> list[int]:
    """Return the numbers of the documents in a folder, lowest first; other files are no commits."""
    stems = [path.stem for path in folder.glob("*.json") if path.stem.isdecimal()]
    return sorted(int(stem) for stem in stems if stem == name_of(int(stem)))


def written(state: State, run: object) -> tuple[State, bytes]:
    """Return a state with its own hash, and its document as it is stored."""
    document = {
        "format": FORMAT,
        "number": state.number,
        "parent_sha256": state.parent_sha256,
        "content": state.content,
        "redact": state.redact,
        "key": state.key,
        "forgets": state.forgets,
        "run": run,
        "files": [asdict(file) for file in state.files],
    }
    sha256 = _hash_of(document)
    stored = replace(state, sha256=sha256, format=FORMAT)
    return stored, orjson.dumps(document | {"sha256": sha256})


def read(folder: Path, number: int) -> State:
    """Read a commit's document: its own hash, its number and its format must be right."""
    path = folder / f"{name_of(number)}.json"
    document = _document_of(path)
    if document.get("number") != number:
        raise StateError(f"commit file '{path}' is that of another commit", hint=REPAIR)
    return State(
        number,
        tuple(StoredFile(**one) for one in document["files"]),
        str(document["sha256"]),
        str(document["parent_sha256"]),
        document["format"],
        document.get("content", "full"),
        document.get("redact", "off"),
        document.get("key", ""),
        document.get("forgets", False),
    )


def refuse_gaps(folder: Path, numbers: Sequence[int], newest: State) -> None:
    """Refuse a chain with a commit missing, or one whose newest does not follow the one before."""
    for number, following in pairwise(numbers):
        if following != number + 1:
            raise StateError(
                f"commit {number + 1} is missing in '{folder}', and later ones are there",
                hint=REPAIR,
            )
    if len(numbers) > 1 and read(folder, numbers[-2]).sha256 != newest.parent_sha256:
        raise StateError(
            f"commit {newest.number} in '{folder}' does not follow commit {numbers[-2]}",
            hint=REPAIR,
        )


def _document_of(path: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = orjson.loads(path.read_bytes())
        stated = document.pop("sha256")
        is_whole = _hash_of(document) == stated
        # In every format a document has its own hash; without it, a number may be a flipped bit.
        is_newer = is_whole and document["format"] > FORMAT
    except (ValueError, KeyError, AttributeError, TypeError):
        is_newer = is_whole = False
    if is_newer:
        raise NewerFormatError(
            f"'{path}' was written by a newer cclake (format {document['format']})",
            hint="install the newer version; nothing was changed",
        )
    if not is_whole:
        raise StateError(f"commit file '{path}' is damaged", hint=REPAIR)
    return document | {"sha256": stated}


def _hash_of(document: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(document)).hexdigest()
