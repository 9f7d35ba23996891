"""A session as its reader expects it, asked of the warehouse: its threads, turns, calls, agents."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any

import duckdb
import pyarrow as pa

from etl import sessions, sqlfiles, views
from etl.commit import Warehouse
from etl.content import METRICS
from etl.conversation import Conversation, Row
from etl.errors import UsageError

_ROWS_AT_ONCE = 1000
_SESSION = "select * from sessions where session_id = $session"
_AGENTS = """
select threads.*, spend.responses, spend.output_tokens, spend.cost_usd, spend.unpriced_tokens
from threads
left join agent_spend as spend using (session_id, agent_id)
where threads.thread_no > 0
order by threads.thread_no
"""
_CALLS = """
select
    tool_use_id, called_at, answered_at, duration_ms, outcome, error_preview, lines_added,
    lines_removed
from raw.tool_calls
semi join threads using (session_id, file_id, generation)
qualify row_number() over (
    partition by tool_use_id order by answered_at is null, line_no, file_id
) = 1
"""
# What a turn took and cost is counted once: a fork shows of what it copied what the original has.
_TURNS = """
select * from turns
semi join (
    select turn_id from raw.turn_times semi join threads using (session_id, file_id, generation)
) using (turn_id)
"""


class Lines:
    """The lines of a session's threads: read in order, results found by the call they answer."""

    def __init__(self, table: pa.Table) -> None:
        """Note where each thread begins, and which rows are calls and which the answers to them."""
        self._table = table
        self._begins: dict[int, list[int]] = {}
        self._calls: set[tuple[int, str]] = set()
        self._results: dict[tuple[int, str], int] = {}
        columns = (table[name].to_pylist() for name in ("thread_no", "block_type", "tool_use_id"))
        for index, (thread, kind, call) in enumerate(zip(*columns, strict=True)):
            self._begins.setdefault(thread, [index, index])[1] = index + 1
            if call is not None and kind is not None:
                self._note(index, (thread, call), kind)

    def _note(self, index: int, call: tuple[int, str], kind: str) -> None:
        if kind.endswith("tool_use"):
            self._calls.add(call)
        elif kind.endswith("tool_result"):
            self._results.setdefault(call, index)

    def of_thread(self, thread: int) -> Iterator[list[Row]]:
        """Yield the lines of a thread in order, each as the rows of its blocks."""
        rows = self._rows(*self._begins.get(thread, (0, 0)))
        for _, blocks in groupby(rows, itemgetter("file_no", "line_no", "object_index")):
            yield list(blocks)

    def result_of(self, thread: int, call: str) -> Row | None:
        """Return the row that answers a call, if there is one."""
        index = self._results.get((thread, call))
        return None if index is None else self._table.slice(index, 1).to_pylist()[0]

    def is_result(self, thread: int, row: Row) -> bool:
        """Say whether a row is what `result_of` returns for a call of its thread."""
        return (thread, row["tool_use_id"]) in self._calls and row["row_no"] == self._results.get(
            (thread, row["tool_use_id"])
        )

    def _rows(self, begin: int, end: int) -> Iterator[Row]:
        for at in range(begin, end, _ROWS_AT_ONCE):
            some = self._table.slice(at, min(_ROWS_AT_ONCE, end - at)).to_pylist()
            for index, row in enumerate(some, start=at):
                yield row | {"row_no": index}


@contextmanager
def opened(warehouse: Warehouse, *, time_zone: str | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a warehouse to read words in it, or say that it keeps none."""
    if warehouse.load().content == METRICS:
        raise UsageError(
            f"the warehouse at '{warehouse.folder}' keeps metrics only",
            hint="there is not a word in it; cclake query asks for its numbers",
        )
    with views.opened(warehouse, time_zone=time_zone) as con:
        yield con


def conversation_of(
    warehouse: Warehouse, beginning: str, *, time_zone: str | None = None
) -> Conversation:
    """Return the one session whose id begins so, with all that was said and done in it."""
    with opened(warehouse, time_zone=time_zone) as con:
        session = {"session": sessions.only(con, beginning)}
        con.execute(
            f"create temp table threads as {sqlfiles.text_of('reading', 'threads')}", session
        )
        about = _rows(con, _SESSION, session)
        return Conversation(
            session=about[0] if about else {"session_id": session["session"]},
            turn_rows={row["turn_id"]: row for row in _rows(con, _TURNS)},
            calls={row["tool_use_id"]: row for row in _rows(con, _CALLS)},
            agents=_rows(con, _AGENTS),
            lines=Lines(con.sql(sqlfiles.text_of("reading", "thread_lines")).to_arrow_table()),
        )


def _rows(
    con: duckdb.DuckDBPyConnection, sql: str, values: dict[str, Any] | None = None
) -> list[Row]:
    rows: list[Row] = con.sql(sql, params=values).to_arrow_table().to_pylist()
    return rows
