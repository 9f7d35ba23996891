"""Lines for a terminal: styled pieces, wrapped to its width, and numbers as people say them."""

import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from etl.counts import counted
from etl.jsontext import dumps, loads
from etl.output import printable

_TAB = 4
_WIDE = frozenset("WF")
_SECOND, _MINUTE, _HOUR = 1000, 60_000, 3_600_000


class Piece(NamedTuple):
    """Words of a line, and how they are to look: bold, dim, bad, good, hit or plain."""

    words: str
    style: str = ""


Line = tuple[Piece, ...]


def line(words: str, style: str = "") -> Line:
    """Return a line of one piece."""
    return (Piece(words, style),)


def one_line(text: str) -> str:
    """Return a text as one line that steers nothing."""
    return printable(" ".join(text.split()))


def columns_of(text: str) -> int:
    """Return how many columns a text takes in a terminal."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def shortened(text: str, columns: int) -> str:
    """Return as much of the beginning of a text as fits, with a mark if that is not all."""
    if columns_of(text) <= columns:
        return text
    return text[: _fitting(text, 0, columns - 1)] + "…" if columns > 0 else ""


def ending(text: str, columns: int) -> str:
    """Return as much of the end of a text as fits, with a mark if that is not all."""
    return shortened(text[::-1], columns)[::-1]


def rows_of(text: str, columns: int | None) -> Iterator[str]:
    """Yield a text's lines as they are shown, broken at spaces where they are too long."""
    for raw in text.split("\n"):
        shown = printable(raw.rstrip("\r").expandtabs(_TAB))
        if columns is None or columns_of(shown) <= columns:
            yield shown
        else:
            yield from _broken(shown, columns)


def _broken(text: str, columns: int) -> Iterator[str]:
    """Break one long line; what goes on stands below where the line began."""
    hang = min(len(text) - len(text.lstrip(" ")), columns // 2)
    at, indent = 0, 0
    while True:
        end = _end_of_row(text, at, columns - indent)
        if end >= len(text):
            yield " " * indent + text[at:]
            return
        space = text.rfind(" ", at + hang - indent + 1, end + 1)
        cut = space if space > at else end
        yield " " * indent + text[at:cut]
        at, indent = (cut + 1 if space > at else cut), hang


def _end_of_row(text: str, at: int, columns: int) -> int:
    """Return where a row that begins here has to end; at least one letter is on it."""
    return max(_fitting(text, at, columns), at + 1)


def _fitting(text: str, at: int, columns: int) -> int:
    """Return the end of what fits into so many columns from here on."""
    if text.isascii():
        return at + columns
    taken, end = 0, at
    while end < len(text) and (taken := taken + _columns(text[end])) <= columns:
        end += 1
    return end


def _columns(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in _WIDE else 1


def instant(value: object) -> str:
    """Return an instant to the minute."""
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else ""


def duration(ms: int) -> str:
    """Return a duration as people say it."""
    if ms < _MINUTE:
        return f"{ms / _SECOND:.1f} s"
    if ms < _HOUR:
        return f"{ms // _MINUTE} min {ms % _MINUTE // _SECOND:02d} s"
    return f"{ms // _HOUR} h {ms % _HOUR // _MINUTE:02d} min"


def cost(row: Mapping[str, object]) -> str:
    """Return what something cost at list price; what has no price is said to have none."""
    usd, unpriced = row.get("cost_usd"), int(str(row.get("unpriced_tokens") or 0))
    if usd is None:
        return f"no price for {counted(unpriced, 'token')}" if unpriced else ""
    amount = float(str(usd))
    words = f"{amount:,.2f} USD" if amount >= 1 else f"{amount:.4f} USD"
    return f"{words}, and {counted(unpriced, 'token')} without a price" if unpriced else words


def joined(*parts: str | None) -> str:
    """Join what there is."""
    return " · ".join(part for part in parts if part)


def arguments_of(text: str | None) -> str:
    """Return what a tool was given, a line an argument; texts as they are."""
    if text is None:
        return ""
    given = loads(text)
    if not isinstance(given, dict):
        return text
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else dumps(value).decode()}"
        for name, value in given.items()
    )
