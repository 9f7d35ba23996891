"""The billing rules by example: worked out by hand, by the oracle, and by cclake from logs."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from etl import frames
from tests.prices.examples import Example, cards, iterations, logged, rules, sizes_and_days, used
from tests.prices.oracle import CARDS
from tests.prices.responses import Bill, expected_bill, spent_bills, synced
from tests.sessions import envelope, run_sync, write_log

EXAMPLES = [
    *iterations.EXAMPLES,
    *sizes_and_days.EXAMPLES,
    *rules.EXAMPLES,
    *cards.EXAMPLES,
]
PLACES = {one.rule: place for place, one in enumerate(EXAMPLES)}
every_example = pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.rule)


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> list[Bill]:
    """What cclake bills for the examples, all in one log."""
    responses = [one.response for one in EXAMPLES]
    return spent_bills(synced(tmp_path_factory.mktemp("examples"), responses), len(responses))


@every_example
def test_the_oracle_bills(one: Example) -> None:
    assert expected_bill(one.response) == one.bill


@every_example
def test_cclake_bills(one: Example, bills: list[Bill]) -> None:
    assert bills[PLACES[one.rule]] == one.bill


def test_every_rule_stands_once_and_every_card_has_a_row() -> None:
    assert [
        rule for rule, count in Counter(one.rule for one in EXAMPLES).items() if count > 1
    ] == []
    cells = [(card["model"], card.get("speed", "standard"), str(card["from"])) for card in CARDS]
    assert sorted(cells) == sorted((model, speed, day) for model, day, _, speed, *_ in cards.ROWS)


def test_what_claude_code_estimates_is_not_the_price(tmp_path: Path) -> None:
    response = logged("claude-opus-5", "2026-10-20", used(1_000, 100))
    told = replace(response, more={"costUSD": 9.99})
    assert spent_bills(synced(tmp_path, [told]), 1) == [(Decimal("0.0075"), ("priced",))]


def test_the_sums_of_a_result_line_are_not_priced_again(logs: Path, lake: Path) -> None:
    line = envelope("result", "x1", 1, usage=used(1_000, 100), total_cost_usd=0.0075)
    write_log(logs, [line])
    run_sync(logs, lake)
    assert frames.query("select * from token_spend", warehouse=lake).is_empty()
