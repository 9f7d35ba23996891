"""The prices in genai-prices, read from its source by syntax; none of its code is run.

Its `data.py` is one literal: a list of providers, made of constructor calls. A constructor becomes
a `Made`; only decimals, days and times become values.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

# Its names of our components, the one it prefers first: a price of any cache write is one of both.
KEYS = {
    "input": ("input_mtok",),
    "output": ("output_mtok",),
    "cache_write_5m": ("cache_write_5m_mtok", "cache_write_mtok"),
    "cache_write_1h": ("cache_write_1h_mtok", "cache_write_mtok"),
    "cache_read": ("cache_read_mtok",),
}
_VALUES: Mapping[str, Callable[..., object]] = {
    "Decimal": Decimal,
    "datetime.date": date,
    "datetime.time": time,
}
_SPELLED = {
    "ClauseEquals": ("equals", "{}"),
    "ClauseStartsWith": ("starts_with", "{}.*"),
    "ClauseEndsWith": ("ends_with", ".*{}"),
    "ClauseContains": ("contains", ".*{}.*"),
}
_MOST_OF_A_DAY = timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class Made:
    """A constructor call: its name, and what it was given."""

    kind: str
    given: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - whatever the literal says
        """Return what the constructor was given under a name."""
        return self.given[key]

    def get(self, key: str) -> Any:  # noqa: ANN401 - whatever the literal says
        """Return what was given under a name, or none."""
        return self.given.get(key)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The prices of some days; none as first day is the beginning, none as end is still so."""

    first_day: date | None
    end_day: date | None
    prices: Made

    def holds_on(self, day: date) -> bool:
        """Say whether these are the prices of that day."""
        begins = self.first_day is None or self.first_day <= day
        return begins and (self.end_day is None or day < self.end_day)


def providers_in(source: str) -> list[Made]:
    """Return the providers that a `data.py` declares."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "providers":
            assert node.value is not None
            return list(_value(node.value))
    raise ValueError("it declares no providers")


def _value(node: ast.expr) -> Any:  # noqa: ANN401 - whatever the literal says
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=elements):
            return [_value(element) for element in elements]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {_value(key): _value(value) for key, value in pairs if key is not None}
        case ast.Attribute() if ast.unparse(node) == "datetime.UTC":
            return UTC
        case ast.Call(func=called, args=args, keywords=keywords):
            return _made(ast.unparse(called), args, keywords)
    raise ValueError(f"line {node.lineno}: {ast.unparse(node)[:80]} is not understood")


def _made(kind: str, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> object:
    given = {str(keyword.arg): _value(keyword.value) for keyword in keywords}
    if kind in _VALUES:
        return _VALUES[kind](*map(_value, args), **given)
    if args:
        raise ValueError(f"line {args[0].lineno}: {kind} has values without names")
    return Made(kind, given)


def pattern_of(clause: Made) -> str:
    """Return the expression that whole names in lower case match, if the clause matches them."""
    if clause.kind in _SPELLED:
        key, form = _SPELLED[clause.kind]
        return form.format(_spelled(clause[key]))
    match clause.kind:
        case "ClauseRegex":
            return _whole(clause["regex"])
        case "ClauseOr":
            return "|".join(dict.fromkeys(map(pattern_of, clause["or_"])))
        case "ClauseAnd":
            return "".join(rf"(?=(?:{pattern_of(each)})\Z)" for each in clause["and_"]) + ".*"
        case "ClauseNot":
            return rf"(?!(?:{pattern_of(clause['not_'])})\Z).*"
    raise ValueError(f"{clause.kind} is not understood")


def _spelled(text: str) -> str:
    # Not re.escape, which also escapes every dash.
    return re.sub(r"[][.^$*+?{}\\|()]", r"\\\g<0>", text.lower())


def _whole(searched: str) -> str:
    """Return an expression for whole names from one that is searched for in them."""
    inner = searched.removeprefix("^").removesuffix("$")
    if "|" in inner or "$" in inner or "^" in inner or inner.endswith("\\"):
        return f".*?(?:{searched}).*"
    before = "" if searched.startswith("^") else ".*"
    return before + inner + ("" if searched.endswith("$") else ".*")


def stretches_of(model: Made) -> list[Stretch]:
    """Return a model's prices by day. Of those by time of day, the one of most hours counts."""
    entries = _ordinary(_entries_of(model.get("prices") or []))
    begins: list[date | None] = [None, *sorted({day for day, _ in entries if day})]
    found: list[Stretch] = []
    for begin, end in zip(begins, [*begins[1:], None], strict=True):
        prices = _held(entries, begin)
        if prices is None:
            continue
        if found and found[-1].prices == prices:
            begin = found.pop().first_day  # noqa: PLW2901 - nothing changed on that day
        found.append(Stretch(begin, end, prices))
    return found


def is_timed(model: Made) -> bool:
    """Say whether a model has prices by time of day."""
    entries = _entries_of(model.get("prices") or [])
    return any(_is_timed(constraint) for constraint, _ in entries)


def _entries_of(prices: Made | list[Made]) -> list[tuple[Made | None, Made]]:
    if isinstance(prices, Made):
        return [(None, prices)]
    return [(entry.get("constraint"), entry["prices"]) for entry in prices]


def _is_timed(constraint: Made | None) -> bool:
    return constraint is not None and constraint.kind == "TimeOfDateConstraint"


def _ordinary(entries: list[tuple[Made | None, Made]]) -> list[tuple[date | None, Made]]:
    kept: list[tuple[date | None, Made]] = []
    for constraint, prices in entries:
        if constraint is None:
            kept.append((None, prices))
        elif constraint.kind == "StartDateConstraint":
            kept.append((constraint["start_date"], prices))
        elif not _is_timed(constraint):
            raise ValueError(f"{constraint.kind} is not understood")
        elif _time_of(prices, entries) > _MOST_OF_A_DAY:
            kept.append((None, prices))
    return kept


def _time_of(prices: Made, entries: list[tuple[Made | None, Made]]) -> timedelta:
    lengths = [
        _length(constraint)
        for constraint, others in entries
        if constraint is not None and _is_timed(constraint) and others == prices
    ]
    return sum(lengths, timedelta())


def _length(constraint: Made) -> timedelta:
    begin, end = (
        datetime.combine(date.min, constraint[key].replace(tzinfo=None))
        for key in ("start_time", "end_time")
    )
    return (end - begin) % timedelta(days=1)


def _held(entries: list[tuple[date | None, Made]], day: date | None) -> Made | None:
    """Return the prices of a day: of all that have begun the last, else the first of all."""
    begun = [
        prices for begin, prices in entries if begin is None or (day is not None and begin <= day)
    ]
    return begun[-1] if begun else next((prices for _, prices in entries), None)


def tiers_of(prices: Made) -> list[int]:
    """Return the sizes of prompt beyond which another price holds; 0 is the first."""
    tiered = [_component(prices, keys) for keys in KEYS.values()]
    starts = {
        tier["start"] for price in tiered if isinstance(price, Made) for tier in price["tiers"]
    }
    return sorted({0, *starts})


def price_at(prices: Made, component: str, tier: int) -> Decimal | None:
    """Return a component's price in a tier."""
    price = _component(prices, KEYS[component])
    if not isinstance(price, Made):
        return price
    reached = [step for step in price["tiers"] if step["start"] <= tier]
    highest = max(reached, key=lambda step: step["start"], default=None)
    found: Decimal = highest["price"] if highest else price["base"]
    return found


def _component(prices: Made, keys: Sequence[str]) -> Decimal | Made | None:
    return next((prices[key] for key in keys if prices.get(key) is not None), None)
