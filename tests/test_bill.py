"""How a cost comes about: the lines of a response, and what has no price."""

from decimal import Decimal
from pathlib import Path

import pytest

from etl import bill
from etl.commit import Warehouse
from etl.errors import CheckError, UsageError
from tests.sessions import assistant, run_sync, user, write_log

OPUS = "claude-opus-5-5"
ITEMS = [
    {"type": "message", "model": OPUS, "input_tokens": 1_000, "output_tokens": 100},
    {"type": "advisor_message", "model": "glow-1", "input_tokens": 7, "output_tokens": 1},
]
USAGE = {
    "input_tokens": 1_000,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "inference_geo": "us",
    "server_tool_use": {"web_search_requests": 2},
    "iterations": ITEMS,
}


@pytest.fixture
def lake(tmp_path: Path) -> Warehouse:
    when = "2026-10-01T08:00:00.000Z"
    line = assistant(
        message_id="msg_1", model=OPUS, output=100, usage=USAGE, stop="end_turn", timestamp=when
    )
    write_log(tmp_path, [user("Hi"), line])
    run_sync(tmp_path, tmp_path / "lake")
    return Warehouse(tmp_path / "lake")


def test_a_bill_shows_every_component_with_its_price_and_share(lake: Warehouse) -> None:
    found = bill.bill_of(lake, "msg_1")
    assert [
        (line["component"], line["units"], line["unit_usd"], line["price_share"])
        for line in found.lines
    ] == [
        ("input", 1_000, Decimal("0.000004"), Decimal("1.1")),
        ("output", 100, Decimal("0.00002"), Decimal("1.1")),
        ("web_search", 2, Decimal("0.01"), Decimal(1)),
    ]
    # (1000 * 4 + 100 * 20) * 1.1 millionths, and two searches of a cent
    assert found.cost_usd == Decimal("0.0266")
    assert sum(Decimal(str(line["amount_usd"])) for line in found.lines) == found.cost_usd


def test_a_piece_without_a_price_is_named_and_has_no_line(lake: Warehouse) -> None:
    found = bill.bill_of(lake, "msg_1")
    assert [(piece["piece"], piece["cost_status"]) for piece in found.pieces] == [
        ("message", "priced"),
        ("advisor", "unpriced_model"),
    ]


def test_a_response_that_is_not_there_is_a_usage_error(lake: Warehouse) -> None:
    with pytest.raises(UsageError, match="no response 'msg_2'"):
        bill.bill_of(lake, "msg_2")


def test_what_has_no_price_is_refused_by_its_name(lake: Warehouse) -> None:
    with pytest.raises(CheckError, match="glow-1: unpriced_model, 8 tokens") as raised:
        bill.refuse_unpriced(lake)
    assert raised.value.exit_code == 4


def test_nothing_is_refused_where_everything_has_a_price(tmp_path: Path) -> None:
    write_log(tmp_path, [user("Hi"), assistant()])
    run_sync(tmp_path, tmp_path / "lake")
    bill.refuse_unpriced(Warehouse(tmp_path / "lake"))
