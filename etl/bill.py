"""How costs come about: one response line by line, and what has no price at all."""

from dataclasses import dataclass
from decimal import Decimal

from etl import views
from etl.commit import Warehouse
from etl.counts import counted
from etl.errors import CheckError, UsageError

Row = dict[str, object]

_PIECES = """
select
    key, piece_no, piece, model, price_model, occurred_at, speed, service_tier, inference_geo,
    cost_usd, cost_status, unpriced_tokens, flags
from token_spend where message_id = $id order by key, piece_no
"""
_LINES = """
select * exclude (message_id)
from cost_lines where message_id = $id
order by
    key, piece_no,
    list_position(
        ['input', 'cache_write_5m', 'cache_write_1h', 'cache_read', 'output', 'web_search'],
        component
    )
"""
_UNPRICED = """
select model, cost_status, sum(unpriced_tokens)::bigint as tokens
from token_spend where cost_usd is null group by all order by tokens desc, model limit 5
"""


@dataclass(frozen=True, slots=True)
class Bill:
    """A response's pieces, the lines of their costs, and what they come to."""

    message_id: str
    cost_usd: Decimal | None
    pieces: list[Row]
    lines: list[Row]


def bill_of(warehouse: Warehouse, message_id: str) -> Bill:
    """Return how the cost of a response comes about, or say that the warehouse has none."""
    with views.opened(warehouse) as con:
        pieces, lines = (
            con.sql(sql, params={"id": message_id}).to_arrow_table().to_pylist()
            for sql in (_PIECES, _LINES)
        )
    if not pieces:
        raise UsageError(
            f"no response '{message_id}' is in '{warehouse.folder}'",
            hint="cclake query 'select message_id from usage' lists them",
        )
    costs = [piece["cost_usd"] for piece in pieces if piece["cost_usd"] is not None]
    return Bill(message_id, sum(costs, Decimal(0)) if costs else None, pieces, lines)


def refuse_unpriced(warehouse: Warehouse) -> None:
    """Fail if something that was logged has no price, and name what it is."""
    with views.opened(warehouse) as con:
        found = con.execute(_UNPRICED).fetchall()
    if found:
        told = "; ".join(
            f"{model}: {status}, {counted(tokens, 'token')}" for model, status, tokens in found
        )
        raise CheckError(
            f"something has no price: {told}",
            hint="cclake prices explain MODEL says why; prices.toml takes prices of your own",
        )
