"""What is spent: the same whoever sums it, wherever the reader is, and whatever was logged."""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etl import sqlfiles, views
from etl.commit import Warehouse
from tests.sessions import (
    PROJECT,
    Line,
    assistant,
    encoded,
    run_sync,
    text,
    tool_result,
    tool_use,
    user,
    write_log,
)

Spec = dict[str, Any]
Tree = dict[str, bytes]

# ---- Random logs.

MODELS = (
    "claude-sonnet-4-5-20250929",
    "claude-opus-4-6",
    "claude-opus-4-6-fast",
    "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "nobody-knows-1",
    None,
)
COUNT = st.sampled_from([0, 1, 7, 999, 200_001, None])
MODEL = st.sampled_from(MODELS)
ITEM = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["message", "advisor_message", "compaction", "fallback_message"]),
        "input_tokens": COUNT,
        "output_tokens": COUNT,
    },
    optional={"model": MODEL, "cache_creation_input_tokens": COUNT},
)
USAGE = st.fixed_dictionaries(
    {"input_tokens": COUNT, "output_tokens": COUNT, "cache_creation_input_tokens": COUNT},
    optional={
        "cache_read_input_tokens": COUNT,
        "cache_creation": st.fixed_dictionaries(
            {"ephemeral_5m_input_tokens": COUNT, "ephemeral_1h_input_tokens": COUNT}
        ),
        "server_tool_use": st.fixed_dictionaries({"web_search_requests": COUNT}),
        "service_tier": st.sampled_from(["standard", "batch", "priority", "flex", None]),
        "speed": st.sampled_from(["standard", "fast", "turbo", None]),
        "inference_geo": st.sampled_from(["us", "global", "mars", None]),
        "iterations": st.lists(ITEM, max_size=3),
    },
)
RESPONSE = st.fixed_dictionaries(
    {
        "usage": USAGE,
        "model": MODEL,
        "stop": st.sampled_from(["end_turn", "tool_use", "refusal", None]),
        "tools": st.lists(st.sampled_from(["Bash", "Read", "WebSearch"]), max_size=3),
        "time": st.sampled_from([{}, {}, {}, {"timestamp": "some day"}]),
    }
)
AGENT = st.fixed_dictionaries(
    {
        "prompt": st.sampled_from(["Warmup", "Look around"]),
        "responses": st.lists(RESPONSE, min_size=1, max_size=2),
    }
)
SESSION = st.fixed_dictionaries(
    {
        "responses": st.lists(RESPONSE, max_size=3),
        "agents": st.lists(AGENT, max_size=2),
        "is_resumed": st.booleans(),
        "version": st.sampled_from(["2.0.9", "2.1.10"]),
    }
)
SEARCHED = {"query": "clay", "searchCount": 2}
ZONES = ("UTC", "Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kolkata")

few = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=4)


def lines_of(response: Spec, place: str, second: int, told: Line) -> Iterator[Line]:
    """Yield a line for each block, as Claude Code does, then the answers of the tools."""
    calls = [f"toolu_{place}_{number}" for number in range(len(response["tools"]))]
    blocks = [text("So."), *map(tool_use, calls, response["tools"])]
    for number, block in enumerate(blocks):
        line = assistant(
            block,
            uuid=f"a-{place}-{number}",
            second=second,
            message_id=f"msg_{place}",
            request=f"req_{place}",
            model=response["model"],
            stop=response["stop"],
            **response["time"],
            **told,
        )
        is_last = number == len(blocks) - 1
        line["message"]["usage"] = response["usage"] | ({} if is_last else {"output_tokens": 1})
        yield line
    for call in calls:
        yield tool_result(call, uuid=f"r-{call}", second=second + 1, toolUseResult=SEARCHED, **told)


def thread_of(prompt: str, responses: list[Spec], place: str, told: Line) -> list[Line]:
    lines = [user(prompt, f"u-{place}", 0, **told)]
    for number, response in enumerate(responses):
        lines += lines_of(response, f"{place}-{number}", 7000 * number + 1, told)
    return lines


def tree_of(sessions: list[Spec]) -> Tree:
    """Lay sessions out as files; one that was resumed begins with all of the one before."""
    tree: Tree = {}
    before: list[Line] = []
    for number, spec in enumerate(sessions, 1):
        session = f"{number}" * 8 + "-1111-4111-8111-111111111111"
        told: Line = {"sessionId": session, "version": spec["version"], "cwd": f"/home/{number}"}
        main = thread_of("Fire it up", spec["responses"], f"{number}", told)
        before = [*before, *main] if spec["is_resumed"] else main
        tree[f"{PROJECT}/{session}.jsonl"] = encoded(before)
        for agent, one in enumerate(spec["agents"]):
            told |= {"isSidechain": True, "agentId": f"deep{agent}"}
            lines = thread_of(one["prompt"], one["responses"], f"{number}-{agent}-x", told)
            tree[f"{PROJECT}/{session}/subagents/agent-deep{agent}.jsonl"] = encoded(lines)
    return tree


# ---- What holds for all of them.


@contextmanager
def synced(tree: Tree, *percents: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """Sync while the files grow, up to a share of each at a time, and open the warehouse."""
    with tempfile.TemporaryDirectory() as folder:
        logs, lake = Path(folder) / "logs", Path(folder) / "lake"
        for percent in percents:
            for path, content in tree.items():
                write_log(logs, [content[: len(content) * percent // 100]], path)
            assert run_sync(logs, lake).exit_code() == 0
        with closing(views.connect(Warehouse(lake))) as con:
            yield con


def failed_checks(con: duckdb.DuckDBPyConnection) -> list[str]:
    return [one.name for one in sqlfiles.load("checks") if con.execute(one.query).fetchall()]


def totals_by_zone(con: duckdb.DuckDBPyConnection) -> set[tuple[Decimal | None, ...]]:
    """Ask for the total and the least cost in every time zone."""
    totals = set()
    for zone in ZONES:
        con.execute(f"set timezone = '{zone}'")
        totals |= {*con.execute("select sum(cost_usd), min(cost_usd) from token_spend").fetchall()}
    return totals


def pieces_of(con: duckdb.DuckDBPyConnection) -> list[str]:
    con.execute("set timezone = 'UTC'")
    return sorted(map(repr, con.sql("select * from token_spend").pl().rows()))


@few
@given(st.lists(SESSION, min_size=2, max_size=5), st.integers(0, 100), st.sampled_from(ZONES))
def test_every_log_is_spent_once_and_alike_in_every_zone_and_any_instalments(
    sessions: list[Spec], percent: int, zone: str
) -> None:
    tree = tree_of(sessions)
    with synced(tree, 100) as con:
        at_once = pieces_of(con)
        ((total, least),) = totals_by_zone(con)
    with synced(tree, percent, 100) as con:
        assert pieces_of(con) == at_once
        con.execute(f"set timezone = '{zone}'")
        assert failed_checks(con) == []
    assert (total is None) == (least is None)
    assert least is None or least >= 0
