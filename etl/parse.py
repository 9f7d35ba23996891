"""A line becomes the JSON objects in it, or the reason why not. Never raises.

orjson reads nearly every line. What it refuses, or what does not come back byte for byte when it
is written again, goes through a slow and strict reader that says what JSON could not carry.
"""

import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice

import orjson

DEEPEST_NESTING = 512
# As Python objects, three bytes of a line can take ninety: what is no log is not worth gigabytes.
MOST_VALUES = 1 << 22
_LONGEST_INTEGER_DIGITS = 400
_INT64 = range(-(1 << 63), 1 << 63)
# What may stand around objects. NULs and byte order marks are no JSON: a crash or a copy left them.
_PADDING = re.compile(r"[ \t\r\n\0\ufeff]*+")
_LOST_PADDING = {"\0": "nul_bytes", "\ufeff": "byte_order_mark"}
# Possessive, and content with a string that never ends: linear however broken the line is.
_STRING = rb'"(?:[^"\\]++|\\.)*+"?'
_BRACKETS = re.compile(_STRING + rb"|[\[{\]}]", re.DOTALL)
_BEGINNINGS = re.compile(_STRING + rb"|[\[{,]", re.DOTALL)
_HALF_LETTER = re.compile("[\ud800-\udfff]")

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class Parsed:
    """The objects of one line, and what of it JSON text cannot give back."""

    objects: tuple[JsonObject, ...]
    flaws: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A line that holds no JSON object, and why."""

    reason: str


def parse_line(line: bytes) -> JsonObject | Parsed | Rejected:
    """Read one line without its newline: nearly always the object itself, exact to the byte."""
    if len(line) > MOST_VALUES and _has_too_many_values(line):
        return Rejected("too_many_values")
    try:
        value: JsonObject = orjson.loads(line)
        is_exact = value.__class__ is dict and orjson.dumps(value) == line
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        is_exact = False
    return value if is_exact else _read_strictly(line)


def objects_of(parsed: JsonObject | Parsed | Rejected) -> tuple[JsonObject, ...]:
    """Return the objects of a line, whichever way it was read; none if it was rejected."""
    if isinstance(parsed, Parsed):
        return parsed.objects
    return (parsed,) if isinstance(parsed, dict) else ()


def _read_strictly(line: bytes) -> Parsed | Rejected:
    if _nesting_of(line) > DEEPEST_NESTING:
        return Rejected("too_deep")
    reader = _StrictReader()
    values = reader.read(line)
    if values is None:
        return Rejected("invalid_json")
    objects = tuple(value for value in values if isinstance(value, dict))
    if not objects or len(objects) != len(values):
        return Rejected("not_an_object")
    return Parsed(objects, tuple(sorted(reader.losses)))


def _has_too_many_values(line: bytes) -> bool:
    """Say whether a long line is less a text than a heap of tiny values."""
    if sum(map(line.count, (b",", b"[", b"{"))) <= MOST_VALUES:
        return False
    values = (True for match in _BEGINNINGS.finditer(line) if line[match.start()] in b"[{,")
    return next(islice(values, MOST_VALUES, None), False)


def _nesting_of(line: bytes) -> int:
    """Count how deep brackets nest outside strings, without recursion."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(line):
        first = line[match.start()]
        if first in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in b"]}":
            depth -= 1
    return deepest


class _StrictReader:
    """Python's own JSON reader, told to report whatever it cannot keep."""

    def __init__(self) -> None:
        self.losses: set[str] = set()
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._number,
            parse_constant=self._constant,
        )

    def read(self, line: bytes) -> list[object] | None:
        """Return the values that stand one after the other on the line, or None."""
        text = self._text(line)
        values: list[object] = []
        at = self._after_padding(text, 0)
        while at < len(text):
            try:
                value, at = self._decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                return None
            values.append(self._clean(value))
            at = self._after_padding(text, at)
        return values

    def _after_padding(self, text: str, at: int) -> int:
        match = _PADDING.match(text, at)
        padding = match.group() if match else ""
        self.losses.update(name for mark, name in _LOST_PADDING.items() if mark in padding)
        return at + len(padding)

    def _text(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            self.losses.add("invalid_utf8")
            return line.decode(errors="replace")

    def _object(self, pairs: list[tuple[str, object]]) -> JsonObject:
        members = dict(pairs)
        if len(members) != len(pairs):
            self.losses.add("duplicate_keys")
        return members

    def _integer(self, digits: str) -> object:
        if len(digits) > _LONGEST_INTEGER_DIGITS:
            self.losses.add("huge_integer")
            return digits
        number = int(digits)
        if number not in _INT64:
            self.losses.add("big_integer")
        return number

    def _number(self, digits: str) -> float | None:
        number = float(digits)
        if math.isinf(number):
            self.losses.add("infinite_number")
            return None
        if not _is_kept(digits, number):
            self.losses.add("long_number")
        return number

    def _constant(self, name: str) -> None:
        self.losses.add(name)

    def _clean(self, value: object) -> object:
        """Replace half surrogates, which no UTF-8 column can hold. Without recursion."""
        holder = [value]
        unseen: list[list[object] | JsonObject] = [holder]
        while unseen:
            container = unseen.pop()
            if isinstance(container, dict):
                self._clean_keys(container)
            pairs = container.items() if isinstance(container, dict) else enumerate(container)
            for key, item in list(pairs):
                if isinstance(item, str):
                    container[key] = self._clean_text(item)  # type: ignore[index, call-overload]
                elif isinstance(item, list | dict):
                    unseen.append(item)
        return holder[0]

    def _clean_keys(self, members: JsonObject) -> None:
        if all(key.isascii() for key in members):
            return
        cleaned = {self._clean_text(key): item for key, item in members.items()}
        members.clear()
        members.update(cleaned)

    def _clean_text(self, text: str) -> str:
        if text.isascii() or not _HALF_LETTER.search(text):
            return text
        self.losses.add("lone_surrogate")
        return _HALF_LETTER.sub("\ufffd", text)


def _is_kept(digits: str, number: float) -> bool:
    """Say whether a float is the very number that was written."""
    try:
        return Decimal(digits) == Decimal(repr(number))
    except InvalidOperation:
        return False
