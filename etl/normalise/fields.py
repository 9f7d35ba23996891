"""Move values out of JSON objects into typed columns, if and only if the type is right.

A value of another type, and a null, stay where they were, so that nothing is lost.
"""

from collections.abc import Mapping, Sequence

from etl.tables import Table
from etl.tables.shape import BOOLEAN, INTEGER, STRING

Values = list[object]
JsonObject = dict[str, object]
Kinds = Mapping[str, type]

EMPTY: JsonObject = {}
_LARGEST = (1 << 63) - 1
_SMALLEST = -(1 << 63)
_NOTHING = type(None)
_PYTHON_TYPES: dict[object, type] = {STRING: str, INTEGER: int, BOOLEAN: bool}


def names_below(table: Table, *parents: str) -> dict[str, str]:
    """Return the keys right below a path that have a column, with the column's name."""
    return {
        column.path[-1]: column.name
        for column in table.columns
        if column.path[:-1] == parents and column.path and column.type in _PYTHON_TYPES
    }


def kinds_below(table: Table, *parents: str) -> dict[str, type]:
    """Return the keys right below a path that have a column, with the type a value must have."""
    return {
        column.path[-1]: _PYTHON_TYPES[column.type]
        for column in table.columns
        if column.path[:-1] == parents and column.path and column.type in _PYTHON_TYPES
    }


def lift(objects: Sequence[JsonObject], key: str, kind: type) -> Values:
    """Return one value an object: the member if it has the right type, else None."""
    values: Values = [object_.get(key) for object_ in objects]
    # Nearly always all are right, which one look at their types tells.
    is_right = {kind, _NOTHING}.issuperset(map(type, values))
    if kind is int:
        return values if is_right and _all_fit(values) else [*map(_fitting, values)]
    return values if is_right else [v if v.__class__ is kind else None for v in values]


def _all_fit(values: Values) -> bool:
    numbers = [*filter(None, values)]
    return not numbers or (fits(max(numbers)) and fits(min(numbers)))  # type: ignore[type-var]


def _fitting(value: object) -> object:
    return value if fits(value) else None


def fits(value: object) -> bool:
    """Say whether a value is an integer that 64 bits can hold. True and false are not."""
    return value.__class__ is int and _SMALLEST <= value <= _LARGEST


def rest_of(object_: JsonObject, kinds: Kinds) -> JsonObject:
    """Return the members that no column took. For objects without integer columns."""
    kind_of = kinds.get
    return {key: value for key, value in object_.items() if kind_of(key) is not value.__class__}


def rest_of_counts(object_: JsonObject, kinds: Kinds) -> JsonObject:
    """Return the members that no column took, where a column may be an integer."""
    return {
        key: value
        for key, value in object_.items()
        if kinds.get(key) is not value.__class__ or (value.__class__ is int and not fits(value))
    }


def members(objects: Sequence[JsonObject], key: str) -> list[JsonObject]:
    """Return the object below a key, or an empty one where there is none."""
    return [
        value if (value := object_.get(key)).__class__ is dict else EMPTY for object_ in objects
    ]


def text_at(object_: JsonObject, key: str) -> str | None:
    """Return a string member, or None."""
    value = object_.get(key)
    return value if isinstance(value, str) else None


def count_at(object_: JsonObject, key: str) -> int | None:
    """Return an integer member that 64 bits can hold, or None."""
    value = object_.get(key)
    return value if isinstance(value, int) and fits(value) else None
