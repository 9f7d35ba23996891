"""Worked examples of the billing rules, calculated by hand.

Beside each stands how its dollars come about, in millionths: tokens times dollars a million.
Sources: the pages named in etl/prices/claude.toml; the first advisor example has the counts of the
page on the advisor tool.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from tests.prices.responses import Bill, Response

Json = dict[str, Any]
PRICED, FREE = ("priced",), ("not_billable",)
NO_MODEL, NO_VARIANT = ("unpriced_model",), ("unpriced_variant",)


@dataclass(frozen=True, slots=True)
class Example:
    """A rule in a sentence, a response it decides about, and the bill."""

    rule: str
    response: Response
    bill: Bill


def example(rule: str, response: Response, usd: str, statuses: tuple[str, ...] = PRICED) -> Example:
    return Example(rule, response, (Decimal(usd), tuple(sorted(statuses))))


def logged(model: str, at: str, usage: Json, stop: str = "end_turn", *searches: int) -> Response:
    instant = f"{at}T12:00:00.000" if len(at) == len("2026-10-01") else at
    return Response(model, datetime.fromisoformat(f"{instant}+00:00"), usage, stop, searches)


def used(
    prompt: int = 0, output: int = 0, *, w5: int = 0, w1: int = 0, read: int = 0, **more: object
) -> Json:
    """Usage, or one item of it: `w5`, `w1` and `read` are the tokens of the cache."""
    return {
        "input_tokens": prompt,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": w5 + w1,
        "cache_creation": {"ephemeral_5m_input_tokens": w5, "ephemeral_1h_input_tokens": w1},
        **more,
    }


def item(
    kind: str,
    prompt: int,
    output: int,
    **more: Any,  # noqa: ANN401 - the members of an item are of any type
) -> Json:
    return {"type": kind, **used(prompt, output, **more)}
