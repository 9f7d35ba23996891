"""A session as lines of a terminal."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from etl.conversation import Agent, Call, Compaction, Conversation, Item, Message, Turn, Words
from etl.counts import counted
from etl.pages.lines import (
    Line,
    Piece,
    arguments_of,
    cost,
    duration,
    instant,
    joined,
    line,
    one_line,
    rows_of,
    shortened,
)

# What the program puts in between is not what anybody said.
_UNSAID = frozenset({"meta", "compact_summary"})
_MARKS = {"ok": "•", "unanswered": "?"}
_INDENT = "  "
_NARROWEST = 20


@dataclass(frozen=True, slots=True)
class Look:
    """How a session is to be shown: how wide (as the text has it, if None), and what of it."""

    columns: int | None = None
    with_agents: bool = True
    with_thinking: bool = False
    with_tools: bool = False

    def inside(self, indent: str) -> int | None:
        """Return the columns that are left beside an indent."""
        return None if self.columns is None else max(self.columns - len(indent), _NARROWEST)


def page_of(conversation: Conversation, look: Look) -> Iterator[Line]:
    """Yield a session's lines, from its title to the agents that no call is known of."""
    yield from _head(conversation, look)
    for turn in conversation.turns():
        yield from _turn(conversation, turn, look)
    if look.with_agents:
        for agent in conversation.unlinked():
            yield ()
            yield from _agent(conversation, agent, look, "")


def _head(conversation: Conversation, look: Look) -> Iterator[Line]:
    session = conversation.session
    for words in rows_of(one_line(str(session.get("title") or "(no title)")), look.columns):
        yield line(words, "bold")
    for words in facts_of(session, conversation.copied_turns):
        yield from (line(row, "dim") for row in rows_of(words, look.columns))


def facts_of(session: Mapping[str, object], copied_turns: int) -> Iterator[str]:
    """Yield what is told of a session above it, a line a kind."""
    yield one_line(
        joined(
            *(str(session[name]) for name in ("project", "git_branch") if session.get(name)),
            joined_days(session),
        )
    )
    turns, agents = (int(str(session.get(name) or 0)) for name in ("turns", "agents"))
    yield joined(
        counted(turns, "turn"),
        counted(agents, "agent") if agents else None,
        f"{counted(int(str(session.get('output_tokens') or 0)), 'token')} out",
        cost(session),
    )
    yield one_line(joined(str(session["session_id"]), str(session.get("model") or "")))
    if copied_turns:
        origin = session.get("forked_from") or "another session"
        copied = counted(copied_turns, "turn")
        yield one_line(f"{copied} copied from {origin}, and counted there")


def joined_days(session: Mapping[str, object]) -> str:
    """Return from when to when a session went."""
    return " to ".join(
        filter(None, (instant(session.get(f"{name}_at")) for name in ("started", "ended")))
    )


def _turn(conversation: Conversation, turn: Turn, look: Look) -> Iterator[Line]:
    yield ()
    if turn.turn_id:
        yield from _marked("> ", turn.prompt or "[image]", look, "", "bold")
    items = (one for one in turn.items if not is_prompt_of(turn, one))
    yield from _items(conversation, items, look, "")
    if footer := footer_of(turn):
        yield ()
        yield line(shortened(footer, look.columns) if look.columns else footer, "dim")


def is_prompt_of(turn: Turn, item: Item) -> bool:
    """Say whether an item is the prompt that the turn is told to begin with."""
    return isinstance(item, Message) and item.key is not None and item.key == turn.turn_id


def footer_of(turn: Turn) -> str:
    """Return what a turn took: time, tokens and cost, agents included."""
    row = turn.numbers
    if not row:
        return ""
    sent = sum(row[f"{name}_tokens"] for name in ("input", "cache_read", "cache_write"))
    return "── " + joined(
        instant(turn.started_at),
        None if row["duration_ms"] is None else duration(row["duration_ms"]),
        counted(row["api_calls"], "response"),
        f"{counted(sent, 'token')} in, {row['output_tokens']:,} out",
        cost(row),
        "interrupted" if row["was_interrupted"] else None,
        f"copied from {one_line(turn.copied_from)}" if turn.copied_from else None,
    )


def _items(
    conversation: Conversation, items: Iterable[Item], look: Look, indent: str
) -> Iterator[Line]:
    """Yield items, with a blank line where calls, answers and the rest follow each other."""
    before = ""
    for item in items:
        for part in _parts_of(item):
            lines = _part(conversation, part, item, look, indent)
            if (first := next(lines, None)) is None:
                continue
            if (kind := _kind_of(part, item)) != before:
                yield line(indent.rstrip())
            before = kind
            yield first
            yield from lines


def _kind_of(part: Words | Call | None, item: Item) -> str:
    """Return what is told without a blank line in between."""
    if isinstance(part, Call):
        return "calls"
    return "answer" if isinstance(item, Message) and item.role == "assistant" else "other"


def _parts_of(item: Item) -> Iterable[Words | Call | None]:
    """Return the parts that are told one by one; None for an item that is told as a whole."""
    return item.parts if isinstance(item, Message) and not _is_interrupt(item) else (None,)


def _part(
    conversation: Conversation, part: Words | Call | None, item: Item, look: Look, indent: str
) -> Iterator[Line]:
    if isinstance(item, Compaction):
        yield line(f"{indent}{compaction_of(item)}", "dim")
    elif part is None:
        yield line(f"{indent}■ interrupted", "bad")
    elif isinstance(part, Call):
        yield from _call(conversation, part, look, indent)
    elif item.role != "assistant":
        yield from _of_user(part, item.kind, look, indent)
    else:
        yield from _words(part, look, indent, "bad" if item.is_api_error else "")


def _is_interrupt(item: Message) -> bool:
    return item.role != "assistant" and (item.is_interrupt or item.kind == "interrupt")


def compaction_of(item: Compaction) -> str:
    """Return a compaction as a rule across the page."""
    sizes = [f"{size:,}" for size in (item.pre_tokens, item.post_tokens) if size is not None]
    told = joined(
        "compacted", one_line(item.trigger or ""), " → ".join(sizes) + " tokens" if sizes else ""
    )
    return f"──── {told} ────"


def _of_user(part: Words, kind: str | None, look: Look, indent: str) -> Iterator[Line]:
    if kind not in _UNSAID:
        mark = "> " if kind in {None, "agent_prompt"} else f"» {one_line(str(kind))}: "
        yield from _marked(mark, said(part), look, indent, "bold")


def said(part: Words) -> str:
    """Return the words of a part, or what stands for what has none."""
    return f"[{part.type}]" if part.text is None else part.text


def _words(part: Words, look: Look, indent: str, style: str) -> Iterator[Line]:
    if part.type == "thinking":
        if look.with_thinking and part.text:
            yield from _marked("~ ", part.text, look, indent, "dim")
        return
    if text := said(part).strip("\n"):
        yield from (
            line((indent + row).rstrip(), style) for row in rows_of(text, look.inside(indent))
        )


def _marked(mark: str, text: str, look: Look, indent: str, style: str) -> Iterator[Line]:
    """Yield a text with a mark before its first line, and what follows below it."""
    below = " " * len(mark)
    for index, row in enumerate(rows_of(text.strip("\n"), look.inside(indent + mark))):
        yield line(f"{indent}{below if index else mark}{row}".rstrip(), style)


def _call(conversation: Conversation, call: Call, look: Look, indent: str) -> Iterator[Line]:
    yield _call_line(call, look, indent)
    below = indent + _INDENT
    if call.outcome in {"failed", "denied", "interrupted"} and call.error and not look.with_tools:
        yield from _marked("error: ", call.error, look, below, "bad")
    if look.with_tools:
        yield from _marked("in:  ", arguments_of(call.input), look, below, "dim")
        if call.result is not None:
            yield from _marked("out: ", call.result, look, below, "dim")
    if call.output_file:
        yield line(f"{below}all of it: {one_line(call.output_file)}", "dim")
    for agent in call.agents:
        yield from _agent(conversation, agent, look, below)


def _call_line(call: Call, look: Look, indent: str) -> Line:
    """Return a call as one line: its target gives way where there is not room for all."""
    name = one_line(call.tool_name or "(no name)")
    end = "  " + outcome_of(call)
    begin = f"{indent}{_MARKS.get(call.outcome, '✗')} {name}"
    target = one_line(call.target or "")
    if look.columns is not None:
        target = shortened(target, max(look.columns - len(begin) - len(end) - 2, 10))
    style = "" if call.outcome == "ok" else "bad"
    return Piece(begin, style), Piece(f"  {target}" if target else ""), Piece(end, "dim")


def outcome_of(call: Call) -> str:
    """Return how a call ended, how long it took and what it changed."""
    changed = None
    if call.lines_added is not None or call.lines_removed is not None:
        changed = f"+{call.lines_added or 0:,} -{call.lines_removed or 0:,} lines"
    took = None if call.duration_ms is None else duration(call.duration_ms)
    return joined(call.outcome, took, changed)


def _agent(conversation: Conversation, agent: Agent, look: Look, indent: str) -> Iterator[Line]:
    """Yield what an agent said and did; of one that only warmed the cache, that it did."""
    is_told = look.with_agents and not agent.is_warmup
    mark = "┌ " if is_told else "· "
    yield from _marked(mark, agent_of(agent, conversation), look, indent, "bold")
    if is_told:
        yield from _items(conversation, conversation.items_of(agent), look, indent + "│ ")
        yield line(f"{indent}└", "bold")


def agent_of(agent: Agent, conversation: Conversation) -> str:
    """Return what is told of an agent in one line."""
    own = agent.session_id == conversation.session["session_id"]
    tokens = None if agent.output_tokens is None else counted(agent.output_tokens, "token")
    return one_line(
        joined(
            f"agent {agent.agent_type or agent.agent_id}: {agent.description or ''}".rstrip(": "),
            "warm-up" if agent.is_warmup else agent.ending,
            None if agent.duration_ms is None else duration(agent.duration_ms),
            counted(agent.tool_call_count or 0, "call"),
            f"{tokens} out" if tokens else None,
            cost({"cost_usd": agent.cost_usd}),
            None if own else f"from session {agent.session_id}",
        )
    )
