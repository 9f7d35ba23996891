"""A session as a Markdown document, which nothing that was logged can break out of.

What was said stands in quotes: a quote holds every block that its text opens. There, letters that
begin a tag or an image are spelled out, but for code that is code beyond doubt. What went into
tools and came out of them stands in fences longer than any inside, folded away.
"""

import html
import re
from collections.abc import Iterator

from etl.conversation import Agent, Call, Compaction, Conversation, Item, Turn
from etl.output import printable
from etl.pages.lines import arguments_of, instant, joined, one_line
from etl.pages.text import (
    agent_of,
    compaction_of,
    facts_of,
    footer_of,
    is_prompt_of,
    outcome_of,
    said,
)

_MEANINGFUL = re.compile(r"([\\`*_\[\]<>#|~&!$@])")
# What begins a list or a heading, if it stands first.
_FIRST = re.compile(r"^(\d+(?=[.)])|(?=[-+:=]))")
_NAMES = {None: "Prompt", "agent_prompt": "Prompt", "peer": "From another session"}
_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"(`{3,}|~{3,})(.*)")
_END_OF_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*")
_LIKE_A_FENCE = re.compile(r"[\s>*+\-\d.)]*(?:```|~~~)")
_SHORTEST_FENCE = 3
_TAB = 4


def document_of(
    conversation: Conversation, *, with_agents: bool = True, with_thinking: bool = False
) -> Iterator[str]:
    """Yield the lines of the document."""
    look = (with_agents, with_thinking)
    session = conversation.session
    yield f"# {escaped(str(session.get('title') or '(no title)'))}"
    yield ""
    for words in facts_of(session, conversation.copied_turns):
        yield f"- {escaped(words)}"
    for number, turn in enumerate(conversation.turns(), start=1):
        yield from _turn(conversation, turn, number, look)
    if with_agents:
        for agent in conversation.unlinked():
            yield from _agent(conversation, agent, look)


def _turn(
    conversation: Conversation, turn: Turn, number: int, look: tuple[bool, bool]
) -> Iterator[str]:
    yield ""
    yield f"## {escaped(joined(f'Turn {number}', instant(turn.started_at)))}"
    if turn.turn_id:
        yield from _quoted_as("Prompt", turn.prompt or "[image]")
    for item in turn.items:
        if not is_prompt_of(turn, item):
            yield from _item(conversation, item, look)
    if footer := footer_of(turn):
        yield ""
        yield f"*{escaped(footer.lstrip('─ '))}*"


def _item(conversation: Conversation, item: Item, look: tuple[bool, bool]) -> Iterator[str]:
    if isinstance(item, Compaction):
        yield from ("", "---", "", escaped(compaction_of(item).strip("─ ")))
        return
    if item.is_interrupt or item.kind == "interrupt":
        yield from ("", "**interrupted**")
        return
    if item.kind == "meta":
        return
    name = "Answer" if item.role == "assistant" else _NAMES.get(item.kind, "From the program")
    for part in item.parts:
        if isinstance(part, Call):
            yield from _call(conversation, part, look)
        elif part.type == "thinking":
            if look[1] and part.text:
                yield from folded("Thinking", quoted(part.text))
        elif item.kind == "compact_summary":
            yield from folded("Summary", quoted(said(part)))
        elif part.type == "result":
            yield from folded("Result of a call that is not here", fenced(said(part)))
        else:
            yield from _quoted_as(name, said(part))


def _quoted_as(name: str, text: str) -> Iterator[str]:
    yield ""
    yield f"**{escaped(name)}**"
    yield ""
    yield from quoted(text)


def _call(conversation: Conversation, call: Call, look: tuple[bool, bool]) -> Iterator[str]:
    told = joined(call.tool_name or "(no name)", call.target, outcome_of(call))
    yield from folded(told, _inside_of(call))
    for agent in call.agents:
        yield from _agent(conversation, agent, look)


def _inside_of(call: Call) -> Iterator[str]:
    yield from fenced(arguments_of(call.input))
    if call.result is not None:
        yield from ("", f"Result, {len(call.result):,} characters:", "")
        yield from fenced(call.result)
    if call.output_file:
        yield from ("", f"All of it: {coded(call.output_file)}")


def _agent(conversation: Conversation, agent: Agent, look: tuple[bool, bool]) -> Iterator[str]:
    told = agent_of(agent, conversation)
    if not look[0]:
        yield from ("", escaped(told))
        return
    lines = (
        line for item in conversation.items_of(agent) for line in _item(conversation, item, look)
    )
    yield from folded(told, lines)


def folded(title: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield lines folded away under a title."""
    yield ""
    yield f"<details><summary>{html.escape(one_line(title))}</summary>"
    first = next(lines, "")
    yield from ("", first) if first else ("",)
    yield from lines
    yield ""
    yield "</details>"


def escaped(text: str) -> str:
    """Return a text as one line that means nothing but its letters."""
    return _FIRST.sub(r"\1\\", _MEANINGFUL.sub(r"\\\1", one_line(text)))


def coded(text: str) -> str:
    """Return a text as a span of code, whatever it holds; nothing for nothing."""
    shown = one_line(text)
    ticks = "`" * (max(map(len, _TICKS.findall(shown)), default=0) + 1)
    return f"{ticks} {shown} {ticks}" if "`" in shown else shown and f"`{shown}`"


def fenced(text: str) -> Iterator[str]:
    """Yield a text in a fence longer than any in it."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, _SHORTEST_FENCE)
    yield f"{fence}text"
    yield from map(_shown, text.split("\n"))
    yield fence


def quoted(text: str) -> Iterator[str]:
    """Yield Markdown that somebody wrote as a quote, in which it can open nothing but itself."""
    fence, is_certain = "", True
    # How far a tab reaches depends on what stands before the quote; spaces are what they are.
    for line in map(_shown, text.strip("\n").expandtabs(_TAB).split("\n")):
        opened = None if fence else _FENCE.match(line)
        if fence and _closes(line, fence):
            fence = ""
            yield f"> {line}"
        elif fence and is_certain:
            yield f"> {line}"
        elif opened and is_certain and not (opened[1][0] == "`" and "`" in opened[2]):
            fence = opened[1]
            yield f"> {_without_tags(line)}"
        else:
            # A fence that may be one, or not, leaves it open what is code after it.
            is_certain = is_certain and not _LIKE_A_FENCE.match(line)
            yield f"> {_without_tags(line)}".rstrip()


def _closes(line: str, fence: str) -> bool:
    match = _END_OF_FENCE.fullmatch(line)
    return match is not None and match[1].startswith(fence)


def _without_tags(line: str) -> str:
    return line.replace("&", "&amp;").replace("<", "&lt;").replace("![", "&#33;[")


def _shown(line: str) -> str:
    return "\t".join(map(printable, line.rstrip("\r").split("\t")))
