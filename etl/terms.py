"""On which terms a warehouse keeps content: settled with its first commit, changed by rewriting.

A warehouse of an older format is written anew in the same way, in one commit of its own.
"""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from uuid import uuid4

from etl import chain, rewrite, step, tasks
from etl.build import PartResult
from etl.chain import State
from etl.commit import Warehouse
from etl.config import Settings
from etl.content import FULL, KNOWN, METRICS, OFF, Keeping
from etl.errors import UsageError
from etl.rewrite import RewriteTask
from etl.step import RunSummary
from etl.tables import BOOKS, FORGOTTEN

_REDACTS = {
    KNOWN: "hides known secrets from now on, and in what was there",
    OFF: "hides no secrets from now on; what was hidden stays so",
}
Work = Callable[[Callable[[RewriteTask], PartResult], Sequence[RewriteTask]], Iterable[PartResult]]


def keeping_of(warehouse: Warehouse, state: State) -> Keeping:
    """Return what a warehouse keeps of content, and what it was asked to forget."""
    stored = step.stored_books(warehouse, state, (FORGOTTEN,)).get(FORGOTTEN.name)
    kinds = [] if stored is None else stored.select(["kind", "fingerprint"]).to_pylist()
    return Keeping(
        state.content,
        state.redact,
        state.key,
        frozenset(int(row["fingerprint"]) for row in kinds if row["kind"] == "line"),
        frozenset(row["fingerprint"] for row in kinds if row["kind"] == "session"),
    )


def settled(
    warehouse: Warehouse, state: State, settings: Settings, run: RunSummary, work: Work
) -> State:
    """Return the state on the terms that are asked for and in the present format.

    A run is told of what had to be written anew for that.
    """
    wanted = replace(
        state,
        content=settings.content or state.content,
        redact=settings.redact or state.redact,
        key=state.key or secrets.token_hex(32),
    )
    if not state.number:
        return wanted
    if (state.content, wanted.content) == (METRICS, FULL):
        raise UsageError(
            f"the warehouse at '{warehouse.folder}' keeps metrics only",
            hint="what it left out is not there to come back; sync into another: --warehouse DIR",
        )
    if (state.content, state.redact, state.format) == (wanted.content, wanted.redact, chain.FORMAT):
        return wanted
    return _rewritten(warehouse, state, wanted, run, work)


def rewrite_tasks(
    warehouse: Warehouse, state: State, before: Keeping, after: Keeping
) -> list[RewriteTask]:
    """Return a task for every part there is."""
    slots = tasks.slots_of(state)
    return [
        RewriteTask(
            slot,
            slots[slot],
            tasks.segments_of(state, slot, warehouse),
            str(warehouse.staging),
            before,
            after,
        )
        for slot in sorted(slots, key=lambda one: one.part)
    ]


def _rewritten(
    warehouse: Warehouse, state: State, wanted: State, run: RunSummary, work: Work
) -> State:
    kind = "upgrade" if state.format < chain.FORMAT else "content"
    own = RunSummary(uuid4().hex, run.source, step.now(), kind=kind)
    own.events.append((str(warehouse.folder), _told_of(state, wanted)))
    before, after = keeping_of(warehouse, state), keeping_of(warehouse, wanted)
    results = list(work(rewrite.rewrite_part, rewrite_tasks(warehouse, state, before, after)))
    stored = step.stored_books(warehouse, state, BOOKS)
    books = {
        table.name: after.of_stored(table, rewrite.as_declared(table, stored[table.name]), before)
        for table in BOOKS
        if table.name in stored
    }
    hides = after.hides_more_than(before)
    committed = step.commit(warehouse, wanted, results, books, own, forgets=hides)
    step.show(warehouse, committed, own)
    run.events += own.events
    run.problems += own.problems
    return committed


def _told_of(before: State, after: State) -> str:
    """Say in words what became of a warehouse that was written anew."""
    told = []
    if before.format < chain.FORMAT:
        told.append("upgraded from an older format")
    if before.content != after.content:
        told.append("keeps metrics only from now on, and no words of what was there")
    if before.redact != after.redact:
        told.append(_REDACTS[after.redact])
    return f"written anew in commit {before.number + 1}: {'; '.join(told)}"
