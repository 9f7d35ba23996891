"""What is kept of what people and models said: all of it, all but known secrets, or counts alone.

Metrics keep every count, time and cost. Where equal words must still find each other, as a prompt
and the call that sent it, a keyed fingerprint stands in for the words.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from etl.hashing import fingerprint_of
from etl.jsontext import dumps, loads
from etl.redact import Redactor
from etl.tables import Column, Table

FULL, METRICS = "full", "metrics"
OFF, KNOWN = "off", "known"
# State records that say what was done and not what was said.
_STATES_KEPT = frozenset({"cost-state", "pr-link", "relocated", "continued-in", "worktree-state"})
# The whole prompt of an agent that only warms the cache: nobody's words, and what tells it.
_WARMUP = "Warmup"
_BLANKS = " \t\r\n"
_STATUS = "status"

Mask = Callable[[str], str | None]


@dataclass(frozen=True)
class Keeping:
    """What a warehouse keeps of the content, and what it was asked to forget."""

    content: str = FULL
    redact: str = OFF
    key: str = ""
    forgotten_lines: frozenset[int] = field(default_factory=frozenset)
    forgotten_sessions: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def redactor(self) -> Redactor | None:
        """Return what hides secrets in lines, if that was asked for."""
        return Redactor(bytes.fromhex(self.key)) if self.redact == KNOWN else None

    @property
    def is_metrics(self) -> bool:
        """Say whether counts alone are kept."""
        return self.content == METRICS

    def redacted(self, text: bytes) -> bytes:
        """Return whole lines without known secrets; the very same bytes if there are none."""
        return self.redactor.redact(text) if self.redactor else text

    def tail(self, tail: bytes) -> bytes:
        """Return what may be kept of a last line that is not whole."""
        if self.is_metrics:
            return b""
        return self.redactor.redact_tail(tail) if self.redactor else tail

    def kept(self, table: Table, rows: pa.Table) -> pa.Table:
        """Return rows as they are to be stored: where only metrics are kept, without content."""
        return stripped(table, rows, bytes.fromhex(self.key)) if self.is_metrics else rows

    def of_stored(self, table: Table, rows: pa.Table, before: "Keeping") -> pa.Table:
        """Return rows that were stored on other terms as they would be on these."""
        if self.redactor and before.redact != self.redact:
            rows = _redacted(table, rows, self.redactor)
        return rows if before.is_metrics else self.kept(table, rows)

    def hides(self) -> bool:
        """Say whether anything is left out at all."""
        return self.is_metrics or self.redact == KNOWN

    def hides_more_than(self, before: "Keeping") -> bool:
        """Say whether something is hidden on these terms that was not on those before."""
        return (self.is_metrics and not before.is_metrics) or (
            self.redact == KNOWN and before.redact != KNOWN
        )

    def forgets(self, session_id: object) -> bool:
        """Say whether a session is one that is not to be read any more."""
        if not self.forgotten_sessions or not isinstance(session_id, str):
            return False
        return self.mark_of(session_id) in self.forgotten_sessions

    def mark_of(self, session_id: str) -> str:
        """Return what stands for a forgotten session, which only the key can tell."""
        return fingerprint_of(bytes.fromhex(self.key), session_id.encode())


def stripped(table: Table, rows: pa.Table, key: bytes) -> pa.Table:
    """Return rows without what their columns hold of content."""
    for index, column in enumerate(table.columns):
        if column.holds:
            left = _left_of(column, rows, key)
            rows = rows.set_column(index, rows.schema.field(index), left)
    return rows


def _redacted(table: Table, rows: pa.Table, redactor: Redactor) -> pa.Table:
    for index, column in enumerate(table.columns):
        if column.holds:
            values = [_clean(value, redactor) for value in rows.column(index).to_pylist()]
            array = pa.chunked_array([pa.array(values, type=column.type)])
            rows = rows.set_column(index, rows.schema.field(index), array)
    return rows


def _clean(value: str | bytes | None, redactor: Redactor) -> str | bytes | None:
    if isinstance(value, str):
        return redactor.redact(value.encode()).decode()
    return value if value is None else redactor.redact(value)


def _left_of(column: Column, rows: pa.Table, key: bytes) -> pa.ChunkedArray:
    values = rows.column(column.name)
    if column.name == "state":
        kinds = rows.column("type").to_pylist()
        told = zip(kinds, values.to_pylist(), strict=True)
        return _array([state if kind in _STATES_KEPT else None for kind, state in told], column)
    if column.name == "agent_name" and "type" in rows.column_names:
        values = _named_by_program(rows, values)
    if column.holds == "words":
        mask = _mask_of_json(key) if column.name == "result_meta" else _mask_of_words(key)
        return _masked(values, column, mask)
    return pa.chunked_array([pa.nulls(rows.num_rows, column.type)])


def _named_by_program(rows: pa.Table, names: pa.ChunkedArray) -> pa.ChunkedArray:
    """Leave out the names that sessions were given: they are made of what was said in them."""
    pairs = zip(rows.column("type").to_pylist(), names.to_pylist(), strict=True)
    return pa.chunked_array([[None if kind == "agent-name" else name for kind, name in pairs]])


def _masked(values: pa.ChunkedArray, column: Column, mask: Mask) -> pa.ChunkedArray:
    known: dict[str, str | None] = {
        value: mask(value) for value in values.unique().to_pylist() if value is not None
    }
    return _array([known.get(value) for value in values.to_pylist()], column)


def _array(values: list[str | None], column: Column) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, type=column.type)])


def _mask_of_words(key: bytes) -> Mask:
    def mask(words: str) -> str:
        if words.strip(_BLANKS) in {"", _WARMUP}:
            return words
        return f"[words:{fingerprint_of(key, words.encode())}]"

    return mask


def _mask_of_json(key: bytes) -> Mask:
    """Keep numbers and flags of a result, and how it ended; other texts become fingerprints."""
    words = _mask_of_words(key)

    def mask(text: str) -> str:
        members = {
            name: words(value) if isinstance(value, str) and name != _STATUS else value
            for name, value in loads(text).items()
        }
        return dumps(members).decode()

    return mask
