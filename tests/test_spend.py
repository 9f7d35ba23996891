"""What is spent: the same whoever sums it, wherever the reader is, and whatever was logged."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etl import sqlfiles, views
from etl.commit import Warehouse
from tests.sessions import (
    PROJECT,
    Line,
    ask_everything,
    assistant,
    encoded,
    rows,
    run_sync,
    text,
    tool_result,
    tool_use,
    user,
    value,
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
# What is below a pico-dollar is cut off of a cost, and stands in its lines.
UNEXPLAINED = """
    select key, piece_no, cost_usd, sum(amount_usd) as amount_usd
    from token_spend
    join cost_lines using (key, piece_no)
    where cost_status = 'priced'
    group by all
    having amount_usd - cost_usd not between 0 and 0.000000000001
"""
ZONES = ("UTC", "Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kolkata")

MORE = int(os.environ.get("EXAMPLES", "1"))  # `make faults` takes more of them
few = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=2 * MORE)


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
        assert con.execute(UNEXPLAINED).fetchall() == []
    assert (total is None) == (least is None)
    assert least is None or least >= 0


# ---- Counts that cannot be.

MISSING = object()
NO_COUNTS: dict[str, object] = {
    "a null": None,
    "nothing": MISSING,
    "below zero": -5,
    "a float": 7.5,
    "a whole float": 7.0,
    "a string": "7",
    "true": True,
    "2**62": 2**62,
    "10**30": 10**30,
    "a list": [7],
    "an object": {"tokens": 7},
}
COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation",
    "cache_creation.ephemeral_5m_input_tokens",
    "cache_creation.ephemeral_1h_input_tokens",
)
SEARCHES = ("server_tool_use", "server_tool_use.web_search_requests")
# Where a null, or nothing, is as good as a count: the others tell it, or there was none.
DISPENSABLE = {
    "plain": {"cache_read_input_tokens", "cache_creation_input_tokens", *SEARCHES},
    "first message": {"cache_creation_input_tokens", "cache_creation.ephemeral_5m_input_tokens"},
    "last message": {"cache_creation_input_tokens", "cache_creation.ephemeral_5m_input_tokens"},
    "advisor": {"cache_read_input_tokens", "cache_creation_input_tokens"},
    "attempt": {"cache_read_input_tokens", "cache_creation_input_tokens"},
}


def counts_of(times: int = 1) -> Line:
    """Counts of which no two are alike."""
    return {
        "input_tokens": 1000 * times,
        "output_tokens": 200 * times,
        "cache_read_input_tokens": 3000 * times,
        "cache_creation_input_tokens": 90 * times,
        "cache_creation": {
            "ephemeral_5m_input_tokens": 40 * times,
            "ephemeral_1h_input_tokens": 50 * times,
        },
    }


def item(kind: str, **more: object) -> Line:
    return {"type": kind, "model": "claude-opus-4-5-20251101", **counts_of(), **more}


def sound(shape: str) -> Line:
    """The usage of a response in which all is well."""
    items = {
        "plain": [],
        "first message": [item("message"), item("message")],
        "last message": [item("message"), item("message")],
        "advisor": [item("message"), item("advisor_message")],
        "attempt": [item("message"), item("fallback_message")],
    }[shape]
    is_sum = shape.endswith(" message")
    searches: Line = {"server_tool_use": {"web_search_requests": 2}}
    return counts_of(2 if is_sum else 1) | searches | ({"iterations": items} if items else {})


def spoiled(shape: str, path: str, no_count: object) -> Line:
    """The same, but for one count that is none."""
    usage = sound(shape)
    at: Line = usage
    if shape != "plain":
        at = usage["iterations"][0 if shape in ("first message", "attempt") else 1]
    *parents, key = path.split(".")
    for parent in parents:
        at = at[parent]
    if no_count is MISSING:
        del at[key]
    else:
        at[key] = no_count
    return usage


def usages() -> Iterator[tuple[str, Line]]:
    """Yield every shape as it should be, and with every count of it spoilt in every way."""
    for shape in DISPENSABLE:
        yield f"{shape}, sound", sound(shape)
        for path in (*COUNTS, *SEARCHES) if shape == "plain" else COUNTS:
            for name, no_count in NO_COUNTS.items():
                yield f"{shape}, {path} is {name}", spoiled(shape, path, no_count)


def response(message_id: str, usage: object) -> Line:
    line = assistant(
        uuid=f"a {message_id}",
        message_id=message_id,
        request=f"r {message_id}",
        model="claude-opus-4-5-20251101",
        stop="end_turn",
    )
    line["message"]["usage"] = usage
    return line


USAGES = dict(usages())
UNFLAGGED = {
    *(f"{shape}, sound" for shape in DISPENSABLE),
    *(
        f"{shape}, {path} is {name}"
        for shape, paths in DISPENSABLE.items()
        for path in paths
        for name in ("a null", "nothing")
    ),
    "plain, server_tool_use is an object",
}


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of one log that has every count spoilt in every way, once."""
    folder = tmp_path_factory.mktemp("spoilt")
    write_log(folder / "logs", [user("hi"), *map(response, USAGES, USAGES.values())])
    assert run_sync(folder / "logs", folder / "lake").exit_code() == 0
    return folder / "lake"


def test_counts_that_cannot_be_stop_no_view_and_no_check(spoilt: Path) -> None:
    assert ask_everything(spoilt) == []
    assert value(spoilt, "select count(*) from usage") == len(USAGES)


def test_a_count_that_cannot_be_is_flagged_wherever_it_stands(spoilt: Path) -> None:
    flags = dict(rows(spoilt, "select message_id, flags from usage"))
    assert {name for name, flag in flags.items() if flag is None} == UNFLAGGED
    counted = rows(spoilt, "select reason, things from completeness")
    told = [flag for one in flags.values() if one for flag in one.split(", ")]
    assert dict(counted) == {flag: told.count(flag) for flag in told}


def test_a_count_that_cannot_be_makes_nothing_dearer_and_nothing_negative(spoilt: Path) -> None:
    costs = dict(rows(spoilt, "select message_id, sum(cost_usd) from token_spend group by all"))
    dearer = [name for name, cost in costs.items() if cost > costs[f"{name.split(',')[0]}, sound"]]
    assert (len(costs), dearer) == (len(USAGES), [])
    spend = [view.name for view in sqlfiles.load("views") if "cost_usd" in view.columns]
    with closing(views.connect(Warehouse(spoilt))) as con:
        for view in spend:
            below = con.sql(f"from {view} where least(cost_usd, unpriced_tokens) < 0")
            assert below.pl().is_empty()


def test_a_response_without_a_single_count_is_not_lost(logs: Path, lake: Path) -> None:
    usages = ["many", 7, [], dict.fromkeys(COUNTS[:4], "7"), {"server_tool_use": True}]
    write_log(logs, [user("hi"), *(response(f"msg_{one}", one) for one in usages)])
    run_sync(logs, lake)
    assert rows(lake, "select flags, count(*) from usage group by all") == [
        ("impossible_count, missing_count", len(usages))
    ]
    ask = "select cost_usd, unpriced_tokens, count(*) from token_spend group by all"
    assert rows(lake, ask) == [(0, 0, len(usages))]
    assert ask_everything(lake) == []


def test_an_advisor_whose_model_is_no_name_stops_no_sync_and_has_no_price(
    logs: Path, lake: Path
) -> None:
    models: list[object] = [None, 7, True, ["clay"], {"name": "clay"}, ""]
    lines = [
        response(
            f"msg_{model}", counts_of() | {"iterations": [item("advisor_message", model=model)]}
        )
        for model in models
    ]
    write_log(logs, [user("hi"), *lines])
    assert run_sync(logs, lake).exit_code() == 0
    ask = "select piece, cost_status, count(*) from token_spend group by all order by all"
    assert rows(lake, ask) == [
        ("advisor", "unpriced_model", len(models)),
        ("message", "priced", len(models)),
    ]
    assert ask_everything(lake) == []
