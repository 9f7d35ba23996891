"""A made-up tree knows what is in it: every view that counts the same things agrees."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import duckdb
import pytest

from etl import sqlfiles, views
from etl.commit import Warehouse
from etl.demo import write_tree
from tests.accounts import TOKENS
from tests.sessions import run_sync

Tree = tuple[dict[str, Any], duckdb.DuckDBPyConnection]
Totals = dict[str, dict[str, int]]
# Each divides the same whole in its own way: what of it tells all that was spent.
WHOLES = {
    view.name: "is_logged" if "is_logged" in view.columns else "true"
    for view in sqlfiles.load("views")
    if {"responses", "input_tokens", "cost_usd"} <= view.columns.keys()
    and view.name != "warmup_spend"
}
COUNTED = {
    "human_turns": [
        "select count(*) from turns",
        "select sum(turns) from hourly_activity",
        "select sum(turns) from sessions",
    ],
    "tool_calls": [
        "select sum(calls) from tool_stats",
        "select sum(calls) from tool_version_stats",
        "select sum(ok + failed + denied + interrupted + unanswered) from tool_stats",
        "select count(distinct tool_use_id) from content_blocks where block_type = 'tool_use'",
    ],
    "tool_errors": ["select sum(failed + denied + interrupted) from tool_stats"],
    "unanswered_tool_calls": ["select sum(unanswered) from tool_stats"],
    "agents": [
        "select sum(agents) + (select count(*) from warmup_agents) from agent_stats",
        "select sum(agents) + (select count(*) from warmup_agents) from sessions",
        "select count(*) from work_agents full join warmup_agents using (session_id, agent_id)",
    ],
    "compactions": [
        "select count(*) from compaction_stats",
        "select count(*) from context_growth where compaction is not null",
    ],
    "responses": [
        "select count(*) from context_growth",
        "select sum(responses) from sessions",
        "select count(*) from token_spend where is_response",
        "select count(distinct key) from cost_lines",
    ],
    "sessions": ["select count(*) from sessions", "select sum(sessions) from projects"],
    "rejects": ["select sum(things) from completeness where reason = 'rejected_line'"],
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    folder = tmp_path_factory.mktemp("truth")
    truth = write_tree(folder / "logs", megabytes=2, seed=11)
    run_sync(folder / "logs", folder / "lake")
    with closing(views.connect(Warehouse(folder / "lake"), time_zone="UTC")) as con:
        views.settle(con, "token_spend")
        yield truth, con


def found(con: duckdb.DuckDBPyConnection, view: str, key: str) -> Totals:
    """Sum a view by a key, in the words of the truth."""
    sums = ", ".join(f"sum({name.strip()})::bigint as {name}" for name in TOKENS.split(","))
    sql = f"select {key} as key, {sums} from {view} where {WHOLES[view]} group by all"  # noqa: S608 - our own names
    return {str(row.pop("key")): row for row in con.sql(sql).to_arrow_table().to_pylist()}


def told(totals: Totals, letters: int = 100) -> Totals:
    """Return the truth's totals, summed by the first letters of their keys."""
    sums: dict[str, Counter[str]] = {}
    for key, counts in totals.items():
        sums.setdefault(key[:letters], Counter()).update(counts)
    return {key: dict(counts) for key, counts in sums.items()}


@pytest.mark.parametrize("view", sorted(WHOLES))
def test_a_view_of_spend_agrees_with_the_truth(tree: Tree, view: str) -> None:
    truth, con = tree
    columns = con.sql(f"from {view}").columns
    assert found(con, view, "''") == told(truth["tokens_by_day"], 0)
    if "day" in columns:
        assert found(con, view, "day::varchar") == truth["tokens_by_day"]
    if "month" in columns:
        assert found(con, view, "left(month::varchar, 7)") == told(truth["tokens_by_day"], 7)
    if "model" in columns:
        assert found(con, view, "model") == truth["tokens_by_model"]


@pytest.mark.parametrize(
    ("what", "sql"), [(what, sql) for what, queries in COUNTED.items() for sql in queries]
)
def test_a_count_agrees_with_the_truth(tree: Tree, what: str, sql: str) -> None:
    truth, con = tree
    assert con.sql(sql).fetchall() == [(truth[what],)]
