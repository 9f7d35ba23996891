"""What was said and done in a session, in order, put together from rows: pure.

A turn goes from one prompt to the next; a response's lines make one message; a call has its answer
with it, and the agents that it started. Each is built when it is read and then let go.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

Row = dict[str, Any]
Signature = tuple[object, ...]

# An agent that is nested deeper than people nest is read after the others.
_DEEPEST = 8
_PROMPT_CHARS = 10_000  # as the column `prompt` has it


class Lines(Protocol):
    """Where the lines of threads come from."""

    def of_thread(self, thread: int) -> Iterator[list[Row]]:
        """Yield the lines of a thread in order, each as the rows of its blocks."""

    def result_of(self, thread: int, call: str) -> Row | None:
        """Return the row that answers a call."""

    def is_result(self, thread: int, row: Row) -> bool:
        """Say whether a row is what `result_of` returns for a call of its thread."""


@dataclass(slots=True)
class Words:
    """A piece of a message: text, thinking, a result without its call, or what has no words."""

    type: str
    text: str | None = None


@dataclass(slots=True)
class Agent:
    """An agent as it is told of; `Conversation.items_of` has what it said and did."""

    agent_id: str
    session_id: str
    thread_no: int
    depth: int
    agent_type: str | None
    description: str | None
    model: str | None
    ending: str | None
    is_warmup: bool
    started_at: datetime | None
    duration_ms: int | None
    tool_call_count: int | None
    output_tokens: int | None
    cost_usd: Decimal | None


@dataclass(slots=True)
class Call:
    """One use of a tool, with its answer and the agents that it started."""

    tool_use_id: str | None
    tool_name: str | None
    target: str | None
    input: str | None
    outcome: str = "unanswered"
    called_at: datetime | None = None
    answered_at: datetime | None = None
    duration_ms: int | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    error: str | None = None
    result: str | None = None
    output_file: str | None = None
    agents: list[Agent] = field(default_factory=list)


@dataclass(slots=True)
class Message:
    """A response with all its lines, or one line of a user."""

    key: str | None
    role: str | None
    message_id: str | None
    model: str | None
    occurred_at: datetime | None
    kind: str | None
    is_interrupt: bool
    is_api_error: bool
    parts: list[Words | Call] = field(default_factory=list)


@dataclass(slots=True)
class Compaction:
    """Where the context was compacted."""

    occurred_at: datetime | None
    trigger: str | None
    pre_tokens: int | None
    post_tokens: int | None


Item = Message | Compaction


@dataclass(slots=True)
class Turn:
    """A prompt and all that came of it; without a prompt, what stands before the first."""

    turn_id: str | None
    prompt_kind: str | None = None
    prompt: str | None = None
    started_at: datetime | None = None
    copied_from: str | None = None
    numbers: Row = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)


class Conversation:
    """A session to be read from its beginning to its end."""

    def __init__(
        self,
        *,
        session: Row,
        turn_rows: dict[str, Row],
        calls: dict[str, Row],
        agents: list[Row],
        lines: Lines,
    ) -> None:
        """Take the rows; nothing is put together yet."""
        self.session = session
        self.copied_turns = sum(
            row["session_id"] != session["session_id"] for row in turn_rows.values()
        )
        self._turn_rows = turn_rows
        self._calls = calls
        self._lines = lines
        self._agents = agents
        self._waiting: dict[str | None, list[Row]] = {}

    def turns(self) -> Iterator[Turn]:
        """Yield the turns of the main thread in the order of its files."""
        self._waiting = {}
        for agent in self._agents:
            self._waiting.setdefault(agent["tool_use_id"], []).append(agent)
        turn = Turn(None)
        built = _Builder(self, thread=0, depth=0)
        for line in built.fresh_lines():
            if line[0]["begins_turn"]:
                if turn.turn_id or turn.items:
                    yield turn
                turn = self._begun(line)
                built.begin()
            built.add(line, turn.items)
        if turn.turn_id or turn.items:
            yield turn

    def items_of(self, agent: Agent) -> list[Item]:
        """Return what an agent was told, said and did."""
        items: list[Item] = []
        built = _Builder(self, thread=agent.thread_no, depth=agent.depth)
        for line in built.fresh_lines():
            built.add(line, items)
        return items

    def unlinked(self) -> Iterator[Agent]:
        """Yield, after all turns, the agents that no call that was read has started."""
        while self._waiting:
            for row in self._waiting.pop(next(iter(self._waiting))):
                yield _agent(row, depth=1)

    def call_of(self, row: Row, thread: int, depth: int) -> Call:
        """Return a call with its answer; each agent goes to the first call that it belongs to."""
        name = row["tool_use_id"]
        call = Call(name, row["tool_name"], row["target"], row["input"])
        told = self._calls.get(name, {})
        for column, value in told.items():
            if column not in {"tool_use_id", "error_preview"}:
                setattr(call, column, value)
        call.error = told.get("error_preview")
        if answer := self._lines.result_of(thread, name) if name is not None else None:
            call.result, call.output_file = answer["text"], answer["output_file"]
        if name is not None and depth < _DEEPEST:
            call.agents = [_agent(one, depth + 1) for one in self._waiting.pop(name, ())]
        return call

    def lines_of(self, thread: int) -> Iterator[list[Row]]:
        """Yield the lines of a thread."""
        return self._lines.of_thread(thread)

    def is_folded_in(self, row: Row, thread: int) -> bool:
        """Say whether a row is told with the call that it answers."""
        return self._lines.is_result(thread, row)

    def _begun(self, line: list[Row]) -> Turn:
        row = line[0]
        numbers = self._turn_rows.get(row["turn_id"], {})
        owner = numbers.get("session_id")
        return Turn(
            row["turn_id"],
            row["prompt_kind"],
            _prompt_of(line),
            row["occurred_at"],
            copied_from=owner if owner != self.session["session_id"] else None,
            numbers=numbers,
        )


class _Builder:
    """Puts the lines of one thread together to messages, each line once."""

    def __init__(self, conversation: Conversation, *, thread: int, depth: int) -> None:
        self._all = conversation
        self._thread = thread
        self._depth = depth
        self._seen: set[Signature] = set()
        self._open: dict[str, Message] = {}

    def begin(self) -> None:
        """Let a response that goes on after the next prompt be told of there once more."""
        self._open = {}

    def fresh_lines(self) -> Iterator[list[Row]]:
        """Yield lines that do not repeat one of the same thread, in this file or in another."""
        for line in self._all.lines_of(self._thread):
            signature = _signature_of(line)
            if signature not in self._seen:
                self._seen.add(signature)
                yield line

    def add(self, line: list[Row], items: list[Item]) -> None:
        """Add a line to the message it belongs to, or to the end."""
        row = line[0]
        if row["is_compaction"]:
            items.append(
                Compaction(
                    row["occurred_at"], row["trigger"], row["pre_tokens"], row["post_tokens"]
                )
            )
            return
        parts = [
            self._part_of(block)
            for block in line
            if not (block["block_type"] is None or self._all.is_folded_in(block, self._thread))
        ]
        if not parts and row["prompt"] is not None:
            parts = [Words("text", row["prompt"])]
        if not parts and not row["is_interrupt"]:
            return
        message = self._open.get(row["key"])
        if message is None:
            message = _message(row)
            items.append(message)
            if row["key"] is not None and row["role"] == "assistant":
                self._open[row["key"]] = message
        message.parts += parts

    def _part_of(self, row: Row) -> Words | Call:
        kind = str(row["block_type"])
        if kind.endswith("tool_use"):
            return self._all.call_of(row, self._thread, self._depth)
        if kind.endswith("tool_result"):
            return Words("result", row["text"])
        return Words("thinking" if kind.endswith("thinking") else kind, row["text"])


def _message(row: Row) -> Message:
    return Message(
        row["key"],
        row["role"],
        row["message_id"],
        row["model"],
        row["occurred_at"],
        row["prompt_kind"],
        row["is_interrupt"],
        row["is_api_error"],
    )


def _agent(row: Row, depth: int) -> Agent:
    names = Agent.__dataclass_fields__.keys() - {"depth"}
    return Agent(**{name: row[name] for name in names}, depth=depth)


def _prompt_of(line: list[Row]) -> str | None:
    """Return what was typed; a very long prompt stands in the blocks alone."""
    prompt: str | None = line[0]["prompt"]
    if prompt is None or len(prompt) < _PROMPT_CHARS:
        return prompt
    return "\n".join(row["text"] for row in line if row["text"]) or prompt


def _signature_of(line: list[Row]) -> Signature:
    """Return what makes a line the same as another: a response has many, told by their blocks."""
    row = line[0]
    if row["key"] is None:
        return row["file_no"], row["line_no"], row["object_index"]
    if row["role"] != "assistant":
        return row["role"], row["key"]
    blocks = ((one["block_type"], one["tool_use_id"], hash(one["text"])) for one in line)
    return (row["key"], row["occurred_at"], *blocks)
