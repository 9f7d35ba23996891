"""How the cost of one response comes about: its pieces, line by line."""

from contextlib import closing
from dataclasses import dataclass

from etl import views
from etl.commit import Warehouse

Row = dict[str, object]

_PIECES = """
select
    key, piece_no, piece, is_response, model, price_model, occurred_at, session_id, agent_id,
    speed, service_tier, inference_geo, cost_usd, cost_status, unpriced_tokens, flags
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
_TOTAL = """
select sum(cost_usd) as cost_usd, sum(unpriced_tokens)::bigint as unpriced_tokens
from token_spend where message_id = $id
"""


@dataclass(frozen=True, slots=True)
class Bill:
    """A response's pieces, the lines of their costs, and what they come to."""

    message_id: str
    cost_usd: object
    unpriced_tokens: object
    pieces: list[Row]
    lines: list[Row]


def bill_of(warehouse: Warehouse, message_id: str) -> Bill | None:
    """Return the bill of a response, or nothing if the warehouse does not have it."""
    with closing(views.connect(warehouse)) as con:

        def rows(sql: str) -> list[Row]:
            found: list[Row] = con.sql(sql, params={"id": message_id}).to_arrow_table().to_pylist()
            return found

        pieces = rows(_PIECES)
        if not pieces:
            return None
        (total,) = rows(_TOTAL)
        return Bill(message_id, total["cost_usd"], total["unpriced_tokens"], pieces, rows(_LINES))
