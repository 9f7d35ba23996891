"""Random responses that come near every edge of the price book: its days, sizes and rules."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any

from tests.prices.oracle import BOOK, CARDS, EXTRA, INPUT, OUTPUT, READ, WRITE_1H, WRITE_5M
from tests.prices.responses import Response

Json = dict[str, Any]
Tokens = dict[str, int]
LAST_INSTANT = time(23, 59, 59, 999_000)
NO_SUCH_MODELS = ("claude-opus-4-9", "claude-sonnet-6-20270101", "claude-haiku-5", "claude-fable")
# What a response may say, and how often; missing stands for a member that is not logged at all.
MISSING = "missing"
TIERS = {"standard": 10, None: 2, "": 1, MISSING: 2, "priority": 2, "batch": 5, "flex": 1}
GEOS = {None: 6, "": 3, "not_available": 5, "global": 3, MISSING: 2, "us": 5, "eu": 1}
NAMES = {
    "{}": 8,
    "{}-20260401": 4,
    "{}[1m]": 1,
    "us.anthropic.{}-v1:0": 2,
    "eu.anthropic.{}-20260401-v1:0": 1,
    "anthropic.{}-v1": 1,
    "global.anthropic.{}-v1:0": 2,
}
SHAPES = {
    "none": 8,
    "null": 1,
    "empty": 1,
    "one message": 3,
    "one fallback_message": 1,
    "one compaction": 2,
    "one advisor_message": 2,
    "adds up": 8,
    "one count off": 3,
    "one item short": 3,
    "fallback": 7,
}


def drawn(count: int, seed: int) -> list[Response]:
    """Draw responses, each near a card of the book; every card has its turn."""
    rng = Random(seed)  # noqa: S311 - the same draw every time is what is wanted
    return [_response(rng, CARDS[number % len(CARDS)]) for number in range(count)]


def _response(rng: Random, card: Json) -> Response:
    is_refused = rng.random() < 0.1
    is_unanswered = is_refused and rng.random() < 0.7
    speed = card.get("speed", "standard") if rng.random() < 0.9 else "fast"
    name = _name(rng, card["model"], speed)
    usage = _counts_and_items(rng, name, card.get("prompt_over"), is_unanswered=is_unanswered)
    spoken = "fast" if speed == "fast" else rng.choice(["standard", None, MISSING])
    _say(usage, "speed", MISSING if name.endswith("-fast") and rng.random() < 0.8 else spoken)
    _say(usage, "service_tier", _weighted(rng, TIERS))
    _say(usage, "inference_geo", _weighted(rng, GEOS))
    searches = () if is_unanswered else _searches(rng, usage)
    stop_reason = "refusal" if is_refused else rng.choice(["end_turn", "tool_use", None])
    return Response(name, _instant(rng, card), usage, stop_reason, searches)


def _weighted(rng: Random, choices: dict[Any, int]) -> Any:  # noqa: ANN401 - what the table holds
    return rng.choices([*choices], [*choices.values()])[0]


def _say(usage: Json, key: str, value: object) -> None:
    if value != MISSING:
        usage[key] = value


def _name(rng: Random, model: str, speed: str = "standard") -> str:
    if rng.random() < 0.03:
        return rng.choice(NO_SUCH_MODELS)
    if speed == "fast" and rng.random() < 0.4:
        return f"{model}-fast"
    return str(_weighted(rng, NAMES)).format(model)


def _instant(rng: Random, card: Json) -> datetime:
    """Draw an instant of a card's days, mostly the first or the last, or one just outside."""
    first, end = card["from"], card.get("to", BOOK["as_of"])
    day, clock = rng.choice(
        [
            (first, time(0)),
            (end - timedelta(days=1), LAST_INSTANT),
            (end, time(0)),
            (first - timedelta(days=1), LAST_INSTANT),
            (first - timedelta(days=rng.randint(2, 400)), time(rng.randrange(24))),
            (_day_between(rng, first, end), time(rng.randrange(24), rng.randrange(60))),
            (_day_between(rng, first, end), time(rng.randrange(24), rng.randrange(60))),
        ]
    )
    return datetime.combine(day, clock, UTC)


def _day_between(rng: Random, first: date, end: date) -> date:
    return first + timedelta(days=rng.randrange((end - first).days))


def _searches(rng: Random, usage: Json) -> tuple[int, ...]:
    """Let the API tell searches, or the tools, or both."""
    if rng.random() < 0.3:
        told = rng.choice([None, 0, 1, 2, 9])
        usage["server_tool_use"] = {"web_search_requests": told, "web_fetch_requests": 4}
    return tuple(rng.randint(0, 6) for _ in range(_weighted(rng, {0: 8, 1: 1, 2: 1})))


# ---- Tokens, and how they are told.


def _tokens(rng: Random, edge: int | None = None) -> Tokens:
    """Draw a prompt, its size near the edge of a tier if one is given, cut into its components."""
    often = (1, 4, 4, 4, 8) if edge else (1, 12, 2, 2, 4)
    edge = edge or rng.choice([100_000, 200_000])
    sizes = (0, rng.randint(1, 5_000), edge, edge + 1, rng.randint(edge + 2, 1_000_000))
    prompt = _weighted(rng, dict(zip(sizes, often, strict=True)))
    cuts = [0, *sorted(rng.randint(0, prompt) for _ in range(3)), prompt]
    parts = [cuts[place + 1] - cuts[place] for place in range(4)]
    if rng.random() < 0.6:  # writes of one kind alone
        kept = rng.choice([0, 1])
        parts[kept], parts[1 - kept] = parts[0] + parts[1], 0
    counts = dict(zip((WRITE_5M, WRITE_1H, INPUT, READ), parts, strict=True))
    return counts | {OUTPUT: rng.choice([0, 1, rng.randint(2, 60_000)])}


def _logged(rng: Random, tokens: Tokens, how: str | None = None) -> Json:
    """Tell tokens as usage does; the kinds of cache writes in one of the ways that were seen."""
    for_5m, for_1h = tokens[WRITE_5M], tokens[WRITE_1H]
    how = how or rng.choice(["split", "split", "split alone", "partly", "flat"])
    least = min(for_5m, 1) if how == "partly" else for_5m
    counts: Json = {
        "input_tokens": tokens[INPUT],
        "output_tokens": tokens[OUTPUT],
        "cache_read_input_tokens": tokens[READ] or rng.choice([0, None]),
        "cache_creation_input_tokens": 0 if how == "split alone" else for_5m + for_1h,
    }
    if how != "flat":
        counts["cache_creation"] = {
            "ephemeral_5m_input_tokens": rng.randint(least, for_5m),
            "ephemeral_1h_input_tokens": for_1h,
        }
    return counts


def _sum(each: Sequence[Tokens]) -> Tokens:
    return {key: sum(tokens[key] for tokens in each) for key in each[0]}


# ---- Iterations.


def _counts_and_items(rng: Random, name: str, edge: int | None, *, is_unanswered: bool) -> Json:
    shape = str(_weighted(rng, SHAPES))
    count = rng.randint(2, 4) if shape in ("adds up", "one count off", "one item short") else 1
    each = [_tokens(rng, edge) for _ in range(rng.randint(2, 3) if shape == "fallback" else count)]
    each[-1][OUTPUT] = 0 if is_unanswered else each[-1][OUTPUT]
    top = each[-1] if shape == "fallback" else _sum(each)
    if shape == "one count off":
        top = top | {(off := rng.choice([*top])): top[off] + 1}
    # Items told without the kind of their writes add up only with a top level of one kind.
    how = rng.choice(["split", "flat"])
    usage = _logged(rng, top, None if shape in ("none", "null", "empty") else "split")
    items = _items(rng, shape, name, [_logged(rng, tokens, how) for tokens in each])
    _say(usage, "iterations", {"none": MISSING, "null": None, "empty": []}.get(shape, items))
    return usage


def _items(rng: Random, shape: str, name: str, each: list[Json]) -> list[Json]:
    if shape.startswith("one ") and shape.removeprefix("one ") in EXTRA:
        return [_extra(rng, shape.removeprefix("one "))]
    if shape in ("one message", "one fallback_message"):
        return [{"type": shape.removeprefix("one ")} | each[0]]
    if shape == "one item short":
        return [*_executors(rng, each[1:], name), _extra(rng, rng.choice(EXTRA))]
    items = _attempts(rng, each, name) if shape == "fallback" else _executors(rng, each, name)
    for _ in range(_weighted(rng, {0: 3, 1: 2, 2: 1})):
        items.insert(rng.randint(0, len(items)), _extra(rng, rng.choice(EXTRA)))
    return items


def _executors(rng: Random, each: list[Json], name: str) -> list[Json]:
    """Tell the executor's requests: messages mostly, some of a kind that nobody knows yet."""
    kinds = [rng.choice(["message"] * 9 + ["later_kind"]) for _ in each]
    told: list[Json] = [rng.choice([{}, {"model": None}, {"model": name}]) for _ in each]
    return [
        {"type": kind} | model | counts
        for kind, model, counts in zip(kinds, told, each, strict=True)
    ]


def _attempts(rng: Random, each: list[Json], name: str) -> list[Json]:
    """Tell a request that other models tried first; half of them gave up before a word."""
    tried = [
        {"type": rng.choice(["message", "fallback_message"]), "model": _any_name(rng)}
        | counts
        | ({"output_tokens": 0} if rng.random() < 0.5 else {})
        for counts in each[:-1]
    ]
    own = rng.choice([{}, {"model": name}])
    return [*tried, {"type": "fallback_message"} | own | each[-1]]


def _extra(rng: Random, kind: str) -> Json:
    names = {"compaction": [None, _any_name(rng)], "advisor_message": [_any_name(rng)] * 9 + [None]}
    own = rng.choice(names[kind])
    return {"type": kind, "model": own} | _logged(
        rng, _tokens(rng), rng.choice(["split", "flat", "partly"])
    )


def _any_name(rng: Random) -> str:
    return _name(rng, rng.choice(CARDS)["model"])
