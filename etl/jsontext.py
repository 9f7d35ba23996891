"""JSON values as compact text and back, also where orjson gives up."""

import json
from decimal import Decimal
from typing import Any

import orjson


def dumps(value: object) -> bytes:
    """Return compact JSON text for any value that JSON or Python's reader can produce."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        # Integers beyond 64 bit and nesting beyond 254 are more than orjson writes.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def ascii_text(value: object) -> bytes:
    """Return JSON text in which every letter beyond ASCII is escaped, as some writers have it."""
    return json.dumps(value, separators=(",", ":")).encode()


def exact(number: Decimal | int) -> orjson.Fragment:
    """Return a number that `dumps` writes with all its digits, never as a float."""
    return orjson.Fragment(f"{Decimal(number):f}")


def indented(value: object) -> str:
    """Return JSON text for people; decimals keep their digits, and what JSON has not is text."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_PASSTHROUGH_DATETIME
    return orjson.dumps(value, default=_known, option=option).decode()


def _known(value: object) -> object:
    return exact(value) if isinstance(value, Decimal) else str(value)


def loads(text: str | bytes) -> Any:  # noqa: ANN401 - JSON is of any type
    """Return the value of JSON text that `dumps` wrote."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def visible(text: str) -> str:
    """Escape in JSON text what could steer a terminal or reorder its words; the values stay."""
    hidden = (character for character in set(text) - {"\n"} if not character.isprintable())
    return text.translate({ord(character): _escaped(character) for character in hidden})


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex(" ", 2).split()
    return "".join(f"\\u{unit}" for unit in units)
