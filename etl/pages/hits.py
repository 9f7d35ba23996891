"""What a search found, two lines a hit: where it stands, and the words with what is around them."""

import re
from collections.abc import Iterator

from etl.output import printable
from etl.pages.lines import Line, Piece, columns_of, ending, instant, joined, one_line, shortened
from etl.search import Hit

_UNIT = {"prompts": "prompt", "answers": "answer", "thinking": "thinking"}
_INDENT = "  "
_ESCAPES = re.compile(r'\\(?:u([0-9a-fA-F]{4})|["\\/bfnrt])')
_MEANT = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "\\b": "\b", "\\f": "\f"}


def lines_of(hit: Hit, columns: int) -> Iterator[Line]:
    """Yield the two lines of a hit, neither wider than the terminal."""
    when = f"{instant(hit.occurred_at) or 'no date':<16}"
    project = re.split(r"[/\\]", hit.project or "")[-1]
    place = joined(*map(one_line, (project, hit.session_id[:8], _where(hit))))
    yield Piece(f"{when}  ", "dim"), Piece(shortened(place, max(columns - len(when) - 2, 10)))
    yield _snippet(hit, columns - len(_INDENT))


def _where(hit: Hit) -> str:
    named = _UNIT.get(hit.area) or f"{hit.tool_name or 'tool'} {hit.area.removesuffix('s')}"
    return f"{named} of agent {hit.agent_id}" if hit.agent_id else named


def _snippet(hit: Hit, columns: int) -> Line:
    """Return the words in the middle of what fits around them."""
    before, words, after = (_shown(text, hit.area) for text in (hit.before, hit.hit, hit.after))
    words = shortened(words.strip(), columns)
    room = columns - columns_of(words)
    left = ending(before, max(room // 2, room - columns_of(after)))
    right = shortened(after, room - columns_of(left))
    return Piece(_INDENT + left), Piece(words, "hit"), Piece(right)


def _shown(text: str, area: str) -> str:
    """Return a piece on one line; what went into a tool is JSON, and read as what it means."""
    if area == "inputs":
        text = _ESCAPES.sub(_meant, text)
    return printable(re.sub(r"\s+", " ", text))


def _meant(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _MEANT.get(escape[0], escape[0][1])
