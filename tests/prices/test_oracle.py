"""Two independent implementations of what a response costs agree to the last digit."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time
from pathlib import Path

import pytest

from tests.prices import oracle
from tests.prices.draws import LAST_INSTANT, drawn
from tests.prices.oracle import CARDS, EXTRA, MODELS, Charge
from tests.prices.responses import Response, charged, expected_bill, spent_bills, synced

RESPONSES = drawn(1_000, seed=20_261_118)
# What the draw must come upon, ten times each at the least, or it proves less than it says.
FEATURES = {
    *(f"a {status} piece" for status in ("priced", "not_billable")),
    *(f"an {status} piece" for status in ("unpriced_model", "unpriced_variant")),
    *(f"a priced {kind}" for kind in ("message", "fallback_message", "later_kind", *EXTRA)),
    *(f"{count} item{'s' * (count != 1)}" for count in range(7)),
    "priced fast",
    "priced fast, by the name alone",
    "priced standard",
    "priced at a batch's half",
    "priced at 1.1 for the US",
    "priced at 1.1 for a region",
    "priced at 1.1 twice",
    "priced by the priority tier",
    "no price for a batch in fast mode",
    "on the edge of a tier",
    "a token over the edge of a tier",
    "before the first card",
    "on the first instant of a card",
    "on the last instant before a card",
    "items that add up",
    "items that do not add up",
    "a declined attempt",
    "a billed attempt",
    "an advisor of another model",
    "an advisor without a model",
    "writes of an item that are of the top level's kind",
    "a refusal before the first word",
    "a refusal after words",
    "searches told by the API alone",
    "searches told by tools alone",
    "searches told by both",
}


def features_of(response: Response) -> set[str]:
    charges = charged(response)
    found = {f"a {charge.status} piece" for charge in charges if charge.cost_usd is not None}
    found |= {f"an {charge.status} piece" for charge in charges if charge.cost_usd is None}
    found |= {f"a priced {one.piece.kind}" for one in charges if one.status == "priced"}
    for charge in charges:
        found.update(_of_price(response, charge))
        found.update(_of_day(response.at, charge))
    found.update(_of_items(response, charges))
    found.update(_of_stop(response, charges))
    found.update(_of_searches(response))
    return found


def _of_price(response: Response, charge: Charge) -> Iterator[str]:
    tier, speed = response.usage.get("service_tier"), response.usage.get("speed")
    if charge.card is None:
        if charge.status == "unpriced_variant" and (tier, speed) == ("batch", "fast"):
            yield "no price for a batch in fast mode"
        return
    card = CARDS[charge.card]
    yield f"priced {card.get('speed', 'standard')}"
    if card.get("speed") == "fast" and speed is None:
        yield "priced fast, by the name alone"
    if tier in ("batch", "priority"):
        yield "priced at a batch's half" if tier == "batch" else "priced by the priority tier"
    yield from _of_place(response, charge, card["model"])
    yield from _of_size(charge.piece.prompt, card["model"])


def _of_place(response: Response, charge: Charge, model: str) -> Iterator[str]:
    us, regional = (
        oracle.BOOK["multipliers"][key] for key in ("us_inference", "regional_endpoint")
    )
    named = oracle.named(charge.piece.name)
    is_us = response.usage.get("inference_geo") == "us" and model in us["models"]
    is_regional = bool(named and named[1]) and model in regional["models"]
    if is_us or is_regional:
        kinds = {(True, True): "twice", (True, False): "for the US", (False, True): "for a region"}
        yield f"priced at 1.1 {kinds[is_us, is_regional]}"


def _of_size(prompt: int, model: str) -> Iterator[str]:
    edges = {
        card["prompt_over"] for card in CARDS if "prompt_over" in card and card["model"] == model
    }
    if prompt in edges:
        yield "on the edge of a tier"
    if prompt - 1 in edges:
        yield "a token over the edge of a tier"


def _of_day(at: datetime, charge: Charge) -> Iterator[str]:
    if charge.card is None:
        return
    card, clock = CARDS[charge.card], at.astimezone(UTC).time()
    if at.date() < card["from"]:
        yield "before the first card"
    if (at.date(), clock) == (card["from"], time(0)):
        yield "on the first instant of a card"
    days = {day for other in CARDS for day in (other["from"], other.get("to"))}
    if clock == LAST_INSTANT and any(day and (day - at.date()).days == 1 for day in days):
        yield "on the last instant before a card"


def _of_items(response: Response, charges: Sequence[Charge]) -> Iterator[str]:
    items = response.usage.get("iterations") or []
    yield f"{len(items)} item{'s' * (len(items) != 1)}"
    top = oracle.tokens_of(response.usage)
    executors = [place for place, item in enumerate(items) if item["type"] not in EXTRA]
    if len(items) > 1 and any(item["type"] == "fallback_message" for item in items):
        attempts = [charge.piece for charge in charges if charge.piece.kind not in EXTRA][:-1]
        yield from (f"a {'declined' if one.is_declined else 'billed'} attempt" for one in attempts)
    elif len(items) > 1:
        does = "add" if oracle.adds_up(items, executors, top) else "do not add"
        yield f"items that {does} up"
    for item in items:
        if item["type"] == "advisor_message":
            yield "an advisor of another model" if item["model"] else "an advisor without a model"
        if oracle.tokens_of(item) != oracle.tokens_of(item, top):
            yield "writes of an item that are of the top level's kind"


def _of_stop(response: Response, charges: Sequence[Charge]) -> Iterator[str]:
    if response.stop_reason == "refusal":
        (serving,) = (charge for charge in charges if charge.piece.is_serving)
        is_unbilled = serving.status == "not_billable"
        yield "a refusal before the first word" if is_unbilled else "a refusal after words"


def _of_searches(response: Response) -> Iterator[str]:
    counted = (response.usage.get("server_tool_use") or {}).get("web_search_requests")
    told = {(True, False): "the API alone", (False, True): "tools alone", (True, True): "both"}
    if counted or any(response.searches):
        yield f"searches told by {told[bool(counted), any(response.searches)]}"


def test_the_oracle_shares_no_code_with_what_it_checks() -> None:
    tree = ast.parse(Path(oracle.__file__).read_text("utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [getattr(node, "module", None) or node.names[0].name for node in imports]
    assert not [name for name in names if name.split(".")[0] in ("duckdb", "etl", "tests")]


def test_the_draw_comes_upon_every_model_and_every_card() -> None:
    cards = Counter(one.card for response in RESPONSES for one in charged(response))
    assert {CARDS[card]["model"] for card in cards if card is not None} == set(MODELS)
    assert len(MODELS) == 28
    assert not [card for card in range(len(CARDS)) if cards[card] < 5]


def test_the_draw_comes_upon_every_rule() -> None:
    found = Counter(feature for response in RESPONSES for feature in features_of(response))
    assert {feature: found[feature] for feature in FEATURES if found[feature] < 10} == {}
    assert found.keys() - FEATURES == set()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synced(tmp_path_factory.mktemp("drawn"), RESPONSES)


def test_a_thousand_random_responses_cost_what_the_oracle_says(lake: Path) -> None:
    bills = spent_bills(lake, len(RESPONSES))
    told = zip(RESPONSES, map(expected_bill, RESPONSES), bills, strict=True)
    assert [(response, ours, theirs) for response, ours, theirs in told if ours != theirs] == []


def test_what_a_response_costs_does_not_depend_on_the_readers_time_zone(lake: Path) -> None:
    zones = ("Pacific/Kiritimati", "Pacific/Pago_Pago")
    one, other = (spent_bills(lake, len(RESPONSES), zone) for zone in zones)
    assert one == other
