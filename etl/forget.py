"""Make a warehouse forget: sessions as a whole, or every line that has some words.

What is forgotten goes at once, from every commit that is kept, and is not read again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from uuid import uuid4

import duckdb

from etl import ledger, omit, rewrite, sessions, step, terms, traces, views, write
from etl.chain import State, StoredFile
from etl.commit import Warehouse
from etl.counts import counted
from etl.errors import BusyError, CheckError, UnfinishedError, UsageError
from etl.hashing import line_hash
from etl.omit import Loss, Wish
from etl.rewrite import LineKey, RewriteTask
from etl.tables import BOOKS, ENTRIES, FACTS, PROMPT_HISTORY, REJECTS, SIDECARS, SOURCE_FILES

_LINE_KEY = ["file_id", "generation", "line_no"]
_FACT_NAMES = frozenset(table.name for table in FACTS)
_SESSIONS = """
select ids.session_id
from (select distinct session_id from source_files where session_id is not null) as ids
left join sessions using (session_id)
where ($session is null or ids.session_id = $session)
    and ($project is null or sessions.project = $project or list_contains(sessions.cwds, $project))
    and ($before is null or sessions.ended_at < $before::date)
order by all
"""
_COPIES = """
select others.session_id, count(*) as lines
from raw.entries as gone
join raw.entries as others using (uuid)
where list_contains($gone::varchar[], gone.session_id)
    and not list_contains($gone::varchar[], others.session_id)
group by all
order by all
"""


@dataclass(slots=True)
class Scope:
    """What a wish comes to: what goes, where copies of it stand, and where its name is left."""

    sessions: list[str] = field(default_factory=list)
    files: int = 0
    lines: int = 0
    prompts: int = 0
    copies: dict[str, int] = field(default_factory=dict)
    commit: int = 0
    traces: list[str] = field(default_factory=list)

    def is_empty(self) -> bool:
        """Say whether there is nothing to forget."""
        return not (self.files or self.lines or self.prompts)


@dataclass(frozen=True, slots=True)
class Found:
    """What a wish comes to in one commit, for a person to agree to before it goes."""

    state: State
    loss: Loss
    scope: Scope


def find(warehouse: Warehouse, wish: Wish, *, time_zone: str | None = None) -> Found:
    """Find what would go; nothing goes yet."""
    if not (wish.names_sessions() or wish.match):
        raise UsageError(
            "nothing is named that could be forgotten",
            hint="name --session, --project, --before or --match",
        )
    warehouse.refuse_if_missing()
    with warehouse.lock():
        state = warehouse.load()
        warehouse.recover(state)
        scope, loss = _scope_of(warehouse, state, wish, time_zone)
    return Found(state, loss, scope)


def forget(warehouse: Warehouse, found: Found, *, source: str) -> None:
    """Forget what was found, prove that it is gone, and add to its scope what became of it."""
    if found.scope.is_empty():
        return
    with warehouse.lock():
        if warehouse.load().sha256 != found.state.sha256:
            raise BusyError(
                f"a sync has changed '{warehouse.folder}' since it was looked at",
                hint="look again what would go; nothing was changed",
            )
        committed = _without(warehouse, found.state, found.loss, source)
        found.scope.commit = committed.number
        found.scope.traces = _proven(warehouse, found.loss)


def _scope_of(
    warehouse: Warehouse, state: State, wish: Wish, time_zone: str | None
) -> tuple[Scope, Loss]:
    loss, scope = Loss(wish), Scope()
    with views.opened(warehouse, time_zone=time_zone) as con:
        chosen = _sessions(con, wish) if wish.names_sessions() else None
        if wish.match is None and chosen:
            loss.sessions = chosen
            found = con.execute(_COPIES, {"gone": sorted(chosen)}).fetchall()
            scope.copies = {str(session): int(lines) for session, lines in found}
    stored = step.stored_books(warehouse, state, (SOURCE_FILES, PROMPT_HISTORY))
    if wish.match is None:
        rows = ledger.from_arrow(stored[SOURCE_FILES.name]) if stored else []
        gone = [row for row in rows if row.session_id in loss.sessions]
        loss.files = frozenset(row.file_id for row in gone)
        loss.parts = {row.part for row in gone if row.part is not None}
        scope.lines = sum(row.line_count for row in gone)
    else:
        _find_lines(warehouse, state, chosen, loss)
        scope.lines = len(loss.lines)
    scope.sessions = sorted(loss.sessions)
    scope.files = len(loss.files | loss.sidecars)
    if (prompts := stored.get(PROMPT_HISTORY.name)) is not None:
        scope.prompts = len(omit.prompts_that_go(prompts, loss))
    return scope, loss


def _sessions(con: duckdb.DuckDBPyConnection, wish: Wish) -> frozenset[str]:
    asked = {
        "session": sessions.only(con, wish.session) if wish.session is not None else None,
        "project": wish.project,
        "before": str(wish.before) if wish.before else None,
    }
    return frozenset(str(row[0]) for row in con.execute(_SESSIONS, asked).fetchall())


def _find_lines(
    warehouse: Warehouse, state: State, chosen: frozenset[str] | None, loss: Loss
) -> None:
    """Find the lines that have the words in any of their texts, and sidecars that do."""
    files: set[str] = set()
    for stored in state.files:
        if stored.part is None or stored.table not in _FACT_NAMES:
            continue
        rows = write.read_table(warehouse.files / stored.name, content_hash=stored.content_hash)
        for row in rows.filter(traces.has_any(rows, loss.wish.spellings())).to_pylist():
            if chosen is not None and row["session_id"] not in chosen:
                continue
            loss.parts.add(stored.part)
            if stored.table == SIDECARS.name:
                files.add(row["file_id"])
            else:
                loss.lines.setdefault(_key_of(row), 0)
    loss.sidecars = frozenset(files)


def _without(warehouse: Warehouse, state: State, loss: Loss, source: str) -> State:
    """Commit the warehouse without what goes, and with marks not to read it again."""
    run = step.RunSummary(uuid4().hex, source, step.now(), kind="forget")
    keeping = terms.keeping_of(warehouse, state)
    work = [
        replace(task, gone_files=loss.files | loss.sidecars, gone_lines=frozenset(loss.lines))
        for task in terms.rewrite_tasks(warehouse, state, keeping, keeping)
        if task.slot.part in loss.parts
    ]
    loss.lines.update(_hashes_of(work, loss))
    results = [rewrite.rewrite_part(task) for task in work]
    stored = step.stored_books(warehouse, state, BOOKS)
    books = omit.books_without(stored, loss, keeping, run.started_at)
    committed = step.commit(warehouse, state, results, books, run, forgets=True)
    step.show(warehouse, committed, run)
    if run.problems:
        (_, problem), *_ = run.problems
        raise UnfinishedError(
            f"earlier commits may still have what was forgotten: {problem}",
            hint="free space or fix the folder, and run it again",
        )
    return committed


def _hashes_of(work: Iterable[RewriteTask], loss: Loss) -> Iterator[tuple[LineKey, int]]:
    """Yield the hash of each line that goes, by which it is known if it is read again."""
    for segment in (segment for task in work for segment in task.segments):
        for row in segment.read(ENTRIES, [*_LINE_KEY, "line_hash"]).to_pylist():
            if _key_of(row) in loss.lines:
                yield _key_of(row), row["line_hash"]
        for row in segment.read(REJECTS, [*_LINE_KEY, "raw"]).to_pylist():
            if _key_of(row) in loss.lines and row["raw"] is not None:
                yield _key_of(row), line_hash(row["raw"])
        for row in segment.read(SIDECARS, ["file_id", "generation", "content"]).to_pylist():
            if row["file_id"] in loss.sidecars:
                yield (row["file_id"], row["generation"], 0), line_hash(row["content"] or b"")


def _key_of(row: dict[str, object]) -> LineKey:
    file_id, generation, line_no = (row[name] for name in _LINE_KEY)
    return str(file_id), int(str(generation)), int(str(line_no))


def _proven(warehouse: Warehouse, loss: Loss) -> list[str]:
    """Look for what went in every byte that is left, and fail if rows or words still stand.

    Return where other sessions still name those that are gone.
    """
    needles = {*loss.wish.spellings(), *(file.encode() for file in loss.files)}
    # Of words that cclake itself uses, as in names of columns, no stored value may be left.
    own = {words for words in needles if words in _own_words()}
    left = traces.traces_of(warehouse.folder, needles - own) if needles - own else []
    left += traces.traces_in_values(warehouse.folder, own) if own else []
    if left:
        names = "names of files are no lines: move the log, sync, and try again"
        others = "other sessions have the words; without naming sessions they go everywhere"
        raise CheckError(
            f"forgotten, but still found in {counted(len(left), 'place')}: {', '.join(left[:5])}",
            hint=others if loss.wish.names_sessions() else names,
        )
    named = [session.encode() for session in sorted(loss.sessions)]
    return traces.traces_of(warehouse.folder, named) if named else []


def _own_words() -> bytes:
    """Return what any warehouse says, whatever its logs do."""
    documents = (State(), StoredFile("", "", 0, 0, ""), step.RunSummary("", "", 0))
    names = [one.name for document in documents for one in fields(document)]
    return "\n".join([*views.statements(None), *names]).encode()
