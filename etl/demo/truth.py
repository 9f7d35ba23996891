"""Keeps the account of what the made-up logs hold."""

from collections import Counter
from dataclasses import dataclass

TOKEN_FIELDS = (
    "responses",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens one response is charged for."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """What one log file holds, counted as its lines were laid out."""

    body: bytes
    lines: int
    blank_lines: int
    entries: int
    rejects: int
    pending: bool


class Account:
    """The running totals; what a copy repeats is never booked twice."""

    __slots__ = ("_by_day", "_by_model", "_counts", "_files")

    def __init__(self) -> None:
        """Open an empty account."""
        self._counts: Counter[str] = Counter()
        self._files: Counter[str] = Counter()
        self._by_model: dict[str, Counter[str]] = {}
        self._by_day: dict[str, Counter[str]] = {}

    @property
    def size_bytes(self) -> int:
        """Give the bytes of log files booked so far."""
        return self._counts["bytes"]

    @property
    def responses(self) -> int:
        """Give the responses booked so far."""
        return self._counts["responses"]

    def book(self, what: str, count: int = 1) -> None:
        """Add to one of the plain counts."""
        self._counts[what] += count

    def book_response(self, model: str, day: str, tokens: Tokens) -> None:
        """Add one response to its model and to the UTC day of its first line."""
        self._counts["responses"] += 1
        for table, key in ((self._by_model, model), (self._by_day, day)):
            totals = table.setdefault(key, Counter())
            totals["responses"] += 1
            for field in TOKEN_FIELDS[1:]:
                totals[field] += getattr(tokens, field)

    def book_file(self, kind: str, file: WrittenFile) -> None:
        """Add one log file (kind main or agent) with its lines."""
        self._files[kind] += 1
        self._files["empty"] += not file.body
        self._counts["bytes"] += len(file.body)
        for name in ("lines", "blank_lines", "entries", "rejects"):
            self._counts[name] += getattr(file, name)
        self._counts["pending_files"] += file.pending
        if file.entries:
            self._counts["sessions" if kind == "main" else "agents"] += 1

    def book_sidecar(self) -> None:
        """Add one sidecar file."""
        self._files["sidecar"] += 1

    def statement(self, *, megabytes: float, seed: int) -> dict[str, object]:
        """Give the whole account as it is written to truth.json."""
        statement: dict[str, object] = {name: self._counts[name] for name in _COUNT_NAMES}
        statement["seed"] = seed
        statement["megabytes"] = megabytes
        statement["files"] = {
            kind: self._files[kind] for kind in ("main", "agent", "sidecar", "empty")
        }
        statement["tokens_by_model"] = _table(self._by_model)
        statement["tokens_by_day"] = _table(self._by_day)
        return statement


def _table(totals_by_key: dict[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {
        key: {field: totals[field] for field in TOKEN_FIELDS}
        for key, totals in sorted(totals_by_key.items())
    }


_COUNT_NAMES = (
    "agents",
    "blank_lines",
    "bytes",
    "compactions",
    "copied_entries",
    "entries",
    "history_lines",
    "human_turns",
    "lines",
    "pending_files",
    "rejects",
    "responses",
    "sessions",
    "tool_calls",
    "tool_errors",
    "unanswered_tool_calls",
    "warmup_agents",
)
