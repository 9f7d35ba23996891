"""Where in a TOML file something is written, for whoever has to mend it.

tomllib reads values and forgets their lines. Every statement of TOML can be read by itself, though,
so a file is read a second time, statement by statement, once something in it is wrong.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Any

from etl.errors import UsageError

Path = tuple[str | int, ...]
_SHOWN_CHARS = 40
_HINT = 'README.md, section "Prices", shows how they are written'
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of a file, such as the second [[price]]: its values, and where they are written."""

    file: str
    text: str
    entry: Mapping[str, Any]
    path: Path = ()

    def below(self, *path: str | int) -> "Place":
        """Return the place of an entry of this one; the first of a list is number 1."""
        value: Any = self.entry
        for step in path:
            value = value[step - 1] if isinstance(step, int) else value[step]
        return replace(self, entry=value, path=self.path + path)

    def each(self, kind: str) -> "Iterator[Place]":
        """Return the entries that are written below [[kind]], or say that they are not."""
        entries = self.entry.get(kind, [])
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            raise self.wrong(f"it is written [[{kind}]], in double brackets", kind)
        return (self.below(kind, number) for number in range(1, len(entries) + 1))

    def line_of(self, key: str = "") -> int:
        """Return the line of a key, or else of the header above it."""
        lines, path = _lines_of(self.text), (*self.path, key)
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, 1)

    def wrong(self, what: str, key: str = "") -> UsageError:
        """Return the error that says where a file is wrong, and how."""
        where = f"{self.file}, line {self.line_of(key)}"
        return UsageError(f"{where}: {key}: {what}" if key else f"{where}: {what}", hint=_HINT)

    def refuse_unknown(self, allowed: frozenset[str]) -> None:
        """Refuse keys that nobody reads: a misspelt price must not be taken for none."""
        for key in self.entry:
            if key not in allowed:
                raise self.wrong(f"nobody reads this; known are {', '.join(sorted(allowed))}", key)

    def words_at(self, key: str) -> str:
        """Return a text of the entry, without spaces around it."""
        if key not in self.entry:
            raise self.wrong(f"it has no {key}")
        value = self.entry[key]
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(f"it is some text in quotes, not {shown(value)}", key)
        return value.strip()

    def day_at(self, key: str) -> date:
        """Return a day of the entry."""
        value = self.entry.get(key)
        if type(value) is not date:
            raise self.wrong(f"a day is written as 2026-11-18, not {shown(value)}", key)
        return value


def read(text: str, file: str) -> Place:
    """Read a file of prices, or say in which line it is no TOML."""
    text = text.replace("\r\n", "\n")
    try:
        return Place(file, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(_syntax(str(error), text, file), hint=_HINT) from error
    except (ValueError, RecursionError) as error:  # a number too long, or lists in lists in lists
        raise UsageError(f"{file}: it cannot be read: {error}", hint=_HINT) from error


def shown(value: object) -> str:
    """Return a value as the file has it, shortened."""
    text = f'"{value}"' if isinstance(value, str) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"


def _syntax(told: str, text: str, file: str) -> str:
    at = _AT.search(told)
    what = told[: at.start()] if at else told
    if at and at.group(1):
        return f"{file}, line {at.group(1)}: {what} (column {at.group(2)})"
    return f"{file}, line {text.rstrip().count(chr(10)) + 1}: {what} (at the end)"


@lru_cache(maxsize=4)
def _lines_of(text: str) -> dict[Path, int]:
    """Return the first line of every header and key of a file that can be read."""
    lines: dict[Path, int] = {}
    counts: dict[Path, int] = defaultdict(int)
    path: Path = ()
    for line, statement, parsed in _statements(text):
        if statement.lstrip().startswith("["):
            path = _header(parsed, counts)
            for end in range(1, len(path) + 1):
                lines.setdefault(path[:end], line)
        else:
            lines.update({(*path, key): line for key in parsed})
    return lines


def _header(parsed: Mapping[str, Any], counts: dict[Path, int]) -> Path:
    """Return what a header names; [[price]] counts on, and [price.x] is of the last one."""
    path: Path = ()
    while parsed:
        (key, value), *_ = parsed.items()
        path = (*path, key)
        is_list = isinstance(value, list)
        if is_list:
            counts[path] += 1
        if path in counts:
            path = (*path, counts[path])
        parsed = value[0] if is_list else value
    return path


def _statements(text: str) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """Yield each statement with its first line; a text or a list may go on for several."""
    first, waiting = 1, ""
    for number, line in enumerate(text.split("\n"), start=1):
        waiting = f"{waiting}\n{line}" if waiting else line
        parsed = _parsed(waiting)
        if parsed is not None:
            yield first, waiting, parsed
            first, waiting = number + 1, ""


def _parsed(statement: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return None  # It goes on in the next line.
