"""What is forgotten, and the books without it: the ledger, the runs, the files around the logs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime

import pyarrow as pa
import pyarrow.compute as pc

from etl import ledger, traces
from etl.content import Keeping
from etl.jsontext import dumps, loads
from etl.ledger import LedgerRow
from etl.rewrite import LineKey
from etl.tables import (
    DAILY_STATS,
    FORGOTTEN,
    PAST_GENERATIONS,
    PROMPT_HISTORY,
    SESSION_INDEX,
    SOURCE_FILES,
    SYNC_RUNS,
)

_PLACE = frozenset({"file_id", "generation", "line_no", "byte_start", "byte_end", "object_index"})


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be forgotten. Of several conditions on sessions all must hold."""

    session: str | None = None
    project: str | None = None
    before: date | None = None
    match: str | None = None

    def names_sessions(self) -> bool:
        """Say whether sessions are chosen by more than the words in them."""
        return not (self.session is None and self.project is None and self.before is None)

    def spellings(self) -> tuple[bytes, ...]:
        """Return the words that are to go, as they may be written."""
        return traces.spellings_of(self.match) if self.match else ()


@dataclass(slots=True)
class Loss:
    """What goes: whole sessions with their files, or lines, each with its hash once it is known."""

    wish: Wish
    sessions: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    sidecars: frozenset[str] = frozenset()  # their rows go; as files they stay known
    lines: dict[LineKey, int] = field(default_factory=dict)
    parts: set[int] = field(default_factory=set)


def books_without(
    stored: Mapping[str, pa.Table], loss: Loss, keeping: Keeping, forgotten_at: int
) -> dict[str, pa.Table]:
    """Return the books that change, without what goes, and with marks not to read it again."""
    wish = loss.wish
    rows = ledger.from_arrow(stored[SOURCE_FILES.name])
    gone = [row for row in rows if row.file_id in loss.files]
    kept = [_without_tail(row, wish) for row in rows if row.file_id not in loss.files]
    books = {SOURCE_FILES.name: ledger.to_arrow(kept)}
    marks = _marks(loss, keeping, forgotten_at)
    earlier = stored.get(FORGOTTEN.name)
    books[FORGOTTEN.name] = marks if earlier is None else pa.concat_tables([earlier, marks])
    books[SYNC_RUNS.name] = _without_events(stored[SYNC_RUNS.name], loss, gone)
    if past := stored.get(PAST_GENERATIONS.name):
        books[PAST_GENERATIONS.name] = _left(past, "file_id", loss.files)
    if prompts := stored.get(PROMPT_HISTORY.name):
        books[PROMPT_HISTORY.name] = _emptied(prompts, set(prompts_that_go(prompts, loss)))
    if index := stored.get(SESSION_INDEX.name):
        index = _left(index, "session_id", loss.sessions)
        books[SESSION_INDEX.name] = _left_by_words(index, wish)
    if (days := stored.get(DAILY_STATS.name)) and wish.before and not wish.project:
        is_old = pc.fill_null(pc.less(days.column("day"), pa.scalar(wish.before)), fill_value=False)
        books[DAILY_STATS.name] = days.filter(pc.invert(is_old))
    return books


def _left(rows: pa.Table, column: str, gone: Collection[str]) -> pa.Table:
    values = pa.array(sorted(gone), pa.string())
    return rows.filter(pc.invert(pc.is_in(rows.column(column), values)))


def _left_by_words(rows: pa.Table, wish: Wish) -> pa.Table:
    if wish.match is None:
        return rows
    return rows.filter(pc.invert(traces.has_any(rows, wish.spellings())))


def _without_tail(row: LedgerRow, wish: Wish) -> LedgerRow:
    has_words = any(spelling in row.pending for spelling in wish.spellings())
    return replace(row, pending=b"") if has_words else row


def _marks(loss: Loss, keeping: Keeping, forgotten_at: int) -> pa.Table:
    marks = [("session", keeping.mark_of(session)) for session in sorted(loss.sessions)]
    marks += [("line", str(digest)) for digest in sorted(set(loss.lines.values()))]
    kinds, fingerprints = [kind for kind, _ in marks], [mark for _, mark in marks]
    columns = [kinds, fingerprints, [forgotten_at] * len(marks)]
    schema = FORGOTTEN.schema()
    arrays = [pa.array(one, type=kind) for one, kind in zip(columns, schema.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _without_events(runs: pa.Table, loss: Loss, gone: list[LedgerRow]) -> pa.Table:
    """Leave out what runs told of files that are forgotten: their paths name the session."""
    names = [*loss.sessions, *(row.path for row in gone)]
    texts = [_without_names(loads(text), names) for text in runs.column("events").to_pylist()]
    at = runs.column_names.index("events")
    return runs.set_column(at, runs.schema.field(at), pa.array(texts, pa.string()))


def _without_names(told: list[list[list[str]]], names: Collection[str]) -> str:
    left = [
        [one for one in some if not any(name in words for words in one for name in names)]
        for some in told
    ]
    return dumps(left).decode()


def prompts_that_go(prompts: pa.Table, loss: Loss) -> list[int]:
    """Return the rows of typed prompts that go; of those their place in the file stays."""
    if loss.wish.match is not None:
        hits = traces.has_any(prompts, loss.wish.spellings())
        return [at for at, hit in enumerate(hits.to_pylist()) if hit]
    rows = prompts.select(["session_id", "project", "occurred_at"]).to_pylist()
    return [at for at, row in enumerate(rows) if _is_wished(row, loss)]


def _is_wished(prompt: Mapping[str, object], loss: Loss) -> bool:
    """A prompt goes with its session; where it names none, by its own project and day."""
    wish, at = loss.wish, prompt["occurred_at"]
    if prompt["session_id"] is not None:
        return prompt["session_id"] in loss.sessions
    return (
        wish.session is None
        and (wish.project is None or prompt["project"] == wish.project)
        and (wish.before is None or (isinstance(at, datetime) and at.date() < wish.before))
    )


def _emptied(prompts: pa.Table, goes: set[int]) -> pa.Table:
    stays = pa.array([at not in goes for at in range(prompts.num_rows)], pa.bool_())
    for at, column in enumerate(prompts.schema):
        if column.name not in _PLACE:
            left = pc.if_else(stays, prompts.column(at), pa.scalar(None, column.type))
            prompts = prompts.set_column(at, column, left)
    return prompts
