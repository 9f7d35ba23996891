"""The shipped SQL: one bare select a file, its header comment the documentation."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from etl.errors import StateError

# In a wheel the SQL lies inside the package; in a checkout it is the folder beside it.
_FOLDERS = (Path(__file__).parent / "_sql", Path(__file__).parent.parent / "sql")


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One query: its name, what it is, its grain, its columns' meanings, its text.

    Of a check the severity: an error breaks the promise, a warning is something to look at.
    """

    name: str
    summary: str
    grain: str
    columns: dict[str, str]
    query: str
    severity: str = "error"


def folder() -> Path:
    """Return where the shipped SQL lies."""
    for candidate in _FOLDERS:
        if (candidate / "views").is_dir():
            return candidate
    raise StateError("the SQL files of cclake are missing", hint="install the package again")


@cache
def load(layer: str) -> tuple[SqlFile, ...]:
    """Return the queries of one folder, by name."""
    return tuple(
        parse(path.stem, path.read_text()) for path in sorted((folder() / layer).glob("*.sql"))
    )


def text_of(layer: str, name: str) -> str:
    """Return the text of one query."""
    return next(file.query for file in load(layer) if file.name == name)


def parse(name: str, text: str) -> SqlFile:
    """Read the header: summary lines, `severity:` of a check, `grain:`, then a line a column."""
    summary: list[str] = []
    grain, severity = "", "error"
    columns: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        words = line.removeprefix("--").strip()
        if words.startswith("grain:"):
            grain = words.removeprefix("grain:").strip()
        elif words.startswith("severity:"):
            severity = words.removeprefix("severity:").strip()
        elif not grain:
            summary.append(words)
        elif line.startswith("--   "):
            last = next(reversed(columns))
            columns[last] = f"{columns[last]} {words}"
        else:
            column, _, meaning = words.partition(" ")
            columns[column] = meaning.strip()
    return SqlFile(name, " ".join(summary), grain, columns, text.strip().rstrip(";"), severity)
