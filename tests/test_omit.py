"""The books without what is forgotten."""

import json
from datetime import date

import pyarrow as pa
import pytest

from etl.content import Keeping
from etl.ledger import LedgerRow, from_arrow, to_arrow
from etl.omit import Loss, Wish, books_without, prompts_that_go
from etl.tables import DAILY_STATS, FORGOTTEN, PROMPT_HISTORY, SOURCE_FILES, SYNC_RUNS

KEEPING = Keeping(key="22" * 32)


def ledger_row(file_id: str, session: str, pending: bytes = b"") -> LedgerRow:
    places = ("laptop", "/r", f"p/{session}.jsonl", "main", "main", session, None)
    return LedgerRow(
        file_id, *places, 9, 0, 0, 0, 0, 9, 1, 0, pending, "", 0, 1, "2026-03", 0, None
    )


def stored(*rows: LedgerRow, events: str = "[[],[]]") -> dict[str, pa.Table]:
    runs = [{"run_id": "r", "events": events}]
    return {
        SOURCE_FILES.name: to_arrow(rows),
        SYNC_RUNS.name: pa.Table.from_pylist(runs, schema=SYNC_RUNS.schema()),
    }


def test_the_ledger_lets_go_of_files_and_the_marks_tell_of_sessions() -> None:
    books = stored(ledger_row("f1", "s1"), ledger_row("f2", "s2"))
    loss = Loss(Wish(session="s1"), frozenset({"s1"}), frozenset({"f1"}))
    left = books_without(books, loss, KEEPING, 7)
    assert [row.file_id for row in from_arrow(left[SOURCE_FILES.name])] == ["f2"]
    marks = left[FORGOTTEN.name]
    assert marks.column("fingerprint").to_pylist() == [KEEPING.mark_of("s1")]
    again = books_without({**books, FORGOTTEN.name: marks}, loss, KEEPING, 8)[FORGOTTEN.name]
    assert again.num_rows == 2


def test_events_about_what_is_gone_go_and_others_stay() -> None:
    told = [[["p/s1.jsonl", "rewritten"], ["p/s2.jsonl", "moved"]], [["/r/p/s1", "skipped"]]]
    books = stored(ledger_row("f1", "s1"), events=json.dumps(told))
    loss = Loss(Wish(session="s1"), frozenset({"s1"}), frozenset({"f1"}))
    (events,) = books_without(books, loss, KEEPING, 7)[SYNC_RUNS.name].column("events").to_pylist()
    assert json.loads(events) == [[["p/s2.jsonl", "moved"]], []]


def test_a_tail_with_the_words_goes() -> None:
    books = stored(ledger_row("f1", "s1", b'{"the kiln'), ledger_row("f2", "s2", b'{"else'))
    left = books_without(books, Loss(Wish(match="kiln")), KEEPING, 7)
    assert [row.pending for row in from_arrow(left[SOURCE_FILES.name])] == [b"", b'{"else']


def test_days_before_the_day_go_from_the_statistics() -> None:
    days = [{"file_id": "f", "day": date(2026, 3, day)} for day in (1, 2)] + [{"file_id": "f"}]
    books = {
        **stored(ledger_row("f1", "s1")),
        DAILY_STATS.name: pa.Table.from_pylist(days, schema=DAILY_STATS.schema()),
    }
    loss = Loss(Wish(before=date(2026, 3, 2)))
    left = books_without(books, loss, KEEPING, 7)[DAILY_STATS.name]
    assert left.column("day").to_pylist() == [date(2026, 3, 2), None]


@pytest.mark.parametrize(
    ("wish", "goes"),
    [
        (Wish(session="s1"), [0]),
        (Wish(project="/p"), [0, 1]),
        (Wish(match="two"), [1]),
    ],
)
def test_prompts_go_with_their_session_project_or_words(wish: Wish, goes: list[int]) -> None:
    rows = [
        {"display": "one", "session_id": "s1", "project": "/q"},
        {"display": "two", "project": "/p"},
        {"display": "three", "session_id": "s2", "project": "/p"},
    ]
    prompts = pa.Table.from_pylist(rows, schema=PROMPT_HISTORY.schema())
    assert prompts_that_go(prompts, Loss(wish, frozenset({"s1"}))) == goes
