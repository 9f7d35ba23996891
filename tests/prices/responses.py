"""Responses to price: as the lines of a log, as the oracle bills them, and as cclake does."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from etl import frames
from tests.prices.oracle import Charge, charges
from tests.sessions import Line, assistant, run_sync, text, tool_result, tool_use, user, write_log

# What is compared of a response: the sum of its priced pieces, and how each piece fared.
Bill = tuple[Decimal, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Response:
    """All of a logged response that decides what it costs."""

    model: str | None
    at: datetime
    usage: Mapping[str, Any]
    stop_reason: str | None = "end_turn"
    searches: tuple[int, ...] = ()  # the searchCount of each WebSearch that it called
    more: Mapping[str, Any] = field(default_factory=dict)  # what else its lines say


def charged(response: Response) -> list[Charge]:
    """Ask the oracle."""
    return charges(
        response.model,
        response.at,
        response.usage,
        stop_reason=response.stop_reason,
        searches=sum(response.searches),
    )


def bill_of(pieces: Iterable[tuple[Decimal | None, str]]) -> Bill:
    """Sum up pieces, each a cost and a status."""
    told = list(pieces)
    costs = (cost_usd for cost_usd, _ in told if cost_usd is not None)
    return sum(costs, Decimal(0)), tuple(sorted(status for _, status in told))


def expected_bill(response: Response) -> Bill:
    """Return what the oracle bills."""
    return bill_of((charge.cost_usd, charge.status) for charge in charged(response))


def synced(folder: Path, responses: Sequence[Response]) -> Path:
    """Log the responses, sync the log, and return the warehouse."""
    logs, lake = folder / "logs", folder / "lake"
    lines = (line for number, one in enumerate(responses) for line in lines_of(number, one))
    write_log(logs, [user("What does it cost?"), *lines])
    run_sync(logs, lake)
    return lake


def spent_bills(lake: Path, count: int, time_zone: str = "UTC") -> list[Bill]:
    """Return what cclake bills for each of the responses that were logged."""
    pieces: dict[str, list[tuple[Decimal | None, str]]] = {}
    sql = "select message_id, cost_usd, cost_status from token_spend"
    for message_id, cost_usd, status in frames.query(
        sql, warehouse=lake, time_zone=time_zone
    ).rows():
        pieces.setdefault(message_id, []).append((cost_usd, status))
    return [bill_of(pieces.get(message_id_of(number), ())) for number in range(count)]


def message_id_of(number: int) -> str:
    return f"msg_{number:04d}"


def lines_of(number: int, response: Response) -> Iterator[Line]:
    """Yield a line for each block of a response, as Claude Code does, then the tools' answers."""
    calls = [f"toolu_{number:04d}_{place}" for place in range(len(response.searches))]
    blocks = [text("Let me see."), *(tool_use(call, "WebSearch", query="clay") for call in calls)]
    instant = response.at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{response.at:%f}"[:3] + "Z"
    for place, block in enumerate(blocks):
        line = assistant(
            block,
            uuid=f"a-{number:04d}-{place}",
            message_id=message_id_of(number),
            request=f"req_{number:04d}",
            model=response.model,
            stop=response.stop_reason,
            timestamp=instant,
            **response.more,
        )
        line["message"]["usage"] = response.usage
        yield line
    for call, count in zip(calls, response.searches, strict=True):
        told = {"query": "clay", "results": [], "durationSeconds": 1.5, "searchCount": count}
        yield tool_result(call, uuid=f"r-{call}", timestamp=instant, toolUseResult=told)
