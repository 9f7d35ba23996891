"""Find words: where they stand in prompts, answers, and what went into tools and came out of them.

The text of every block is looked through, a column of a few hundred megabytes a gigabyte of logs;
what a project, a day or a session leaves out is not read. Copies are settled among the hits alone.
"""

from dataclasses import dataclass
from datetime import date, datetime

import duckdb

from etl import reading, sessions, sqlfiles
from etl.commit import Warehouse
from etl.errors import UsageError
from etl.jsontext import dumps

AREAS = ("prompts", "answers", "inputs", "results", "thinking")
_USUAL = AREAS[:-1]
_OF_TOOLS = ("inputs", "results")
# The blocks that an area is looked for in.
_KINDS = {
    "prompts": ("typed", "words"),
    "answers": ("words",),
    "inputs": ("inputs",),
    "results": ("results",),
    "thinking": ("thinking",),
}
_BLOCKS = "create temp view searched_blocks as from raw.content_blocks"
_ENTRIES = "create temp view searched_entries as from raw.entries"
_USES = """
create temp table tool_uses as
select distinct tool_use_id from raw.tool_calls where tool_name = $tool
"""
_ASKED = """
create temp table asked as
select session_id
from session_marks
where ($session is null or session_id = $session)
    and (
        $project is null
        or project = $project
        or starts_with(project, rtrim($project, '/') || '/')
        or list_contains(from_json(cwds, '["VARCHAR"]'), $project)
    )
    and ($since::date is null or ended_at >= $since::date)
    and ($until::date is null or started_at < $until::date + 1)
"""
_FOLDED = "create temp macro folded(body) as {body}"
_SNIPPET = """
create temp macro snippet_of(body, words) as {
    before: substr(
        body,
        greatest(position(words in folded(body)) - 200, 1),
        least(position(words in folded(body)) - 1, 200)
    ),
    hit: substr(body, position(words in folded(body)), length(words)),
    after: substr(body, position(words in folded(body)) + length(words), 200)
}
"""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is looked for, and where; nothing named is anywhere."""

    words: str
    areas: tuple[str, ...] = ()
    project: str | None = None
    since: date | None = None
    until: date | None = None
    tool: str | None = None
    session: str | None = None
    is_exact: bool = False

    def places(self) -> tuple[str, ...]:
        """Return the areas to look in: a tool has inputs and results only."""
        asked = self.areas or _USUAL
        return asked if self.tool is None else tuple(one for one in asked if one in _OF_TOOLS)


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where the words stand."""

    occurred_at: datetime | None
    project: str | None
    session_id: str
    agent_id: str | None
    area: str
    tool_name: str | None
    tool_use_id: str | None
    uuid: str | None
    before: str
    hit: str
    after: str


@dataclass(frozen=True, slots=True)
class Found:
    """The newest hits, and how many there are in all."""

    hits: list[Hit]
    total: int


def search(warehouse: Warehouse, wish: Wish, *, limit: int, time_zone: str | None = None) -> Found:
    """Return where the words stand, the newest first."""
    _refuse(wish)
    with reading.opened(warehouse, time_zone=time_zone) as con:
        _prepare(con, wish)
        rows = con.sql(sqlfiles.text_of("reading", "search"), params=_values(wish, limit))
        found = rows.to_arrow_table().to_pylist()
    total = found[0]["hits"] if found else 0
    return Found([Hit(**{name: row[name] for name in Hit.__slots__}) for row in found], total)


def _refuse(wish: Wish) -> None:
    if not wish.words.strip():
        raise UsageError("there is nothing to look for", hint="name some words: cclake search TEXT")
    if not wish.places():
        raise UsageError(
            f"{' and '.join(wish.areas)} are of no tool",
            hint="with --tool, look in inputs or results",
        )
    try:
        for text in (wish.words, wish.project, wish.tool):
            (text or "").encode()
    except UnicodeEncodeError as error:
        raise UsageError("what is looked for is no text", hint="type it in UTF-8") from error


def _prepare(con: duckdb.DuckDBPyConnection, wish: Wish) -> None:
    """Make what the query is written on: which lines, and what counts as the same letter."""
    con.execute(_FOLDED.format(body="body" if wish.is_exact else "lower(body)"))
    con.execute(_SNIPPET)
    # What a join leaves out is left out before a text is unpacked.
    about = {
        "session": None if wish.session is None else sessions.only(con, wish.session),
        "project": wish.project,
        "since": _day(wish.since),
        "until": _day(wish.until),
    }
    narrower = ""
    if any(value is not None for value in about.values()):
        con.execute(_ASKED, about)
        narrower = " semi join asked using (session_id)"
    con.execute(f"{_ENTRIES}{narrower}")
    if wish.tool is not None:
        con.execute(_USES, {"tool": wish.tool})
        narrower += " semi join tool_uses using (tool_use_id)"
    con.execute(f"{_BLOCKS}{narrower}")


def _values(wish: Wish, limit: int) -> dict[str, object]:
    return {
        "words": wish.words,
        # In JSON some letters are spelled out.
        "words_in_json": dumps(wish.words).decode()[1:-1],
        "areas": list(wish.places()),
        "kinds": sorted({kind for area in wish.places() for kind in _KINDS[area]}),
        "since": _day(wish.since),
        "until": _day(wish.until),
        "limit": limit,
    }


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
