"""Tell what a user line is: typed by a person, or made by the program. Says by which rule."""

import re

from etl.normalise.fields import JsonObject, text_at

Verdict = tuple[str | None, str | None]
NO_PROMPT: Verdict = (None, None)
TYPES = frozenset({"user", "attachment", "system"})
# What begins a turn.
TYPED = frozenset({"human", "command", "bash", "queued", "sdk"})
_MOST_TYPED = 10_000

_TURN_ORIGINS = {
    "human": "human",
    "sdk": "sdk",
    "peer": "peer",
    "task_notification": "task_notification",
    "scheduled": "scheduled",
}
_ORIGIN_KINDS = {
    "human": "human",
    "task-notification": "task_notification",
    "peer": "peer",
    "coordinator": "peer",
    "cron": "scheduled",
    "loop": "scheduled",
    "auto-continuation": "scheduled",
}
_PROMPT_SOURCES = {
    "typed": "human",
    "clipboard": "human",
    "suggestion_accepted": "human",
    "queued": "queued",
    "sdk": "sdk",
    "system": "meta",
}
_ANSWER_MARKS = ("toolUseResult", "sourceToolAssistantUUID", "sourceToolUseID")
_WRAPPERS = re.compile(
    r"\s*<(system-reminder|ide_opened_file|ide_selection)(?:\s[^>]*)?>.*?</\1>\s*", re.DOTALL
)
# A tag ends at its first end, for good: with many tags, other ways to cut would take for ever.
_COMMAND = re.compile(
    r"\s*+(?:(?><(command-name|command-message|command-args|command-contents)>.*?</\1>)\s*+)++",
    re.DOTALL,
)
_MACHINERY: tuple[tuple[str, str], ...] = (
    ("[Request interrupted", "interrupt"),
    ("This session is being continued", "compact_summary"),
    ("Another Claude session sent a message:", "peer"),
    ("<<autonomous-loop", "scheduled"),
    ("Caveat:", "meta"),
    ("Stop hook feedback:", "meta"),
    ("[Image: source:", "meta"),
    ("Base directory for this skill:", "meta"),
    ("API Error:", "meta"),
    ("[SYSTEM NOTIFICATION", "meta"),
    ("[Subagent hand-back]", "meta"),
)
_TAGS = {
    "task-notification": "task_notification",
    "teammate-message": "peer",
    "channel": "peer",
    "scheduled-task": "scheduled",
    "local-command-stdout": "meta",
    "local-command-stderr": "meta",
    "local-command-caveat": "meta",
    "bash-stdout": "meta",
    "bash-stderr": "meta",
    "fork-boilerplate": "meta",
    "bash-input": "bash",
}
# A tag may have attributes; a longer name that begins the same is another tag.
_TAG = re.compile(rf"<({'|'.join(_TAGS)})[\s>]")


def verdict_on(entry: JsonObject, message: JsonObject, *, is_agent: bool) -> Verdict:
    """Return prompt_kind and prompt_rule of one entry; both None if it is no prompt at all."""
    kind = entry.get("type")
    if kind == "user":
        return _verdict_on_user(entry, message, is_agent=is_agent)
    if kind == "attachment":
        return _verdict_on_attachment(entry, is_agent=is_agent)
    if kind == "system" and entry.get("subtype") == "local_command":
        return _verdict_on_command(entry)
    return NO_PROMPT


def typed_in(entry: JsonObject, message: JsonObject, kind: str | None) -> str | None:
    """Return what was typed to begin a turn, without what an editor put in front of it.

    Commands and shell lines, logged in tags, stand as they were typed. Null for an image.
    """
    if kind not in TYPED:
        return None
    attachment = entry.get("attachment")
    if isinstance(attachment, dict):
        content = attachment.get("prompt")
    else:
        content = entry.get("content") if entry.get("type") == "system" else message.get("content")
    words = _without_wrappers(words_of(content))
    if _COMMAND.fullmatch(words):
        words = " ".join(
            filter(None, (_inside("command-name", words), _inside("command-args", words)))
        )
    elif words.startswith("<bash-input>"):
        words = f"! {_inside('bash-input', words)}"
    return words[:_MOST_TYPED] or None


def _inside(tag: str, text: str) -> str:
    _, _, after = text.partition(f"<{tag}>")
    return after.partition(f"</{tag}>")[0].strip()


def _verdict_on_user(entry: JsonObject, message: JsonObject, *, is_agent: bool) -> Verdict:
    content = message.get("content")
    if _answers_a_tool(entry, content):
        return NO_PROMPT
    if entry.get("isCompactSummary") is True:
        return "compact_summary", "flag"
    if entry.get("isMeta") is True:
        return "meta", "flag"
    if is_agent or entry.get("isSidechain") is True:
        return "agent_prompt", "sidechain"
    return _told_by_fields(entry, content) or _told_by_text(content)


def _answers_a_tool(entry: JsonObject, content: object) -> bool:
    if any(mark in entry for mark in _ANSWER_MARKS):
        return True
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in content
    )


def _told_by_fields(entry: JsonObject, content: object) -> Verdict | None:
    origin = entry.get("origin")
    for rule, table, value in (
        ("turn_origin", _TURN_ORIGINS, entry.get("turnOrigin")),
        ("origin", _ORIGIN_KINDS, origin.get("kind") if isinstance(origin, dict) else None),
        ("prompt_source", _PROMPT_SOURCES, entry.get("promptSource")),
    ):
        if isinstance(value, str):
            kind = table.get(value, "unknown")
            return (_kind_of_typed(content) if kind == "human" else kind), rule
    return None


def _kind_of_typed(content: object) -> str:
    """A person's line may still be a command or a shell line, or say that work was stopped."""
    kind, _ = _told_by_text(content)
    return kind if kind in ("command", "bash", "interrupt") else "human"


def _told_by_text(content: object) -> Verdict:
    text = _without_wrappers(words_of(content))
    if not text:
        return ("human", "image") if _has_image(content) else ("unknown", "no_text")
    return _kind_of_text(text), "text"


def _kind_of_text(text: str) -> str:
    for beginning, kind in _MACHINERY:
        if text.startswith(beginning):
            return kind
    if text.startswith("<command-") and _COMMAND.fullmatch(text):
        return "command"
    if tag := _TAG.match(text):
        return _TAGS[tag.group(1)]
    return "meta" if text == "Warmup" else "human"


def _verdict_on_attachment(entry: JsonObject, *, is_agent: bool) -> Verdict:
    attachment = entry.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return NO_PROMPT
    if is_agent or entry.get("isSidechain") is True:
        return "agent_prompt", "sidechain"
    kind, _ = _told_by_text(attachment.get("prompt"))
    return ("queued" if kind in ("human", "command", "bash") else kind), "queued_command"


def _verdict_on_command(entry: JsonObject) -> Verdict:
    """Newer versions log here what was a user line: the command, and what it printed."""
    if entry.get("isSidechain") is True:
        return NO_PROMPT
    kind, _ = _told_by_text(entry.get("content"))
    return (kind, "local_command") if kind == "command" else NO_PROMPT


def words_of(content: object) -> str:
    """Return the text of a message's content: a string, or its text blocks one after the other."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [_words_of_block(block) for block in content]
    return "\n".join(text for text in texts if text)


def _words_of_block(block: object) -> str | None:
    if isinstance(block, str):
        return block
    if isinstance(block, dict) and block.get("type") == "text":
        return text_at(block, "text")
    return None


def _without_wrappers(text: str) -> str:
    text = text.strip()
    at = 0
    while text.startswith("<", at) and (match := _WRAPPERS.match(text, at)):
        at = match.end()
    return text[at:]


def _has_image(content: object) -> bool:
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") in ("image", "document") for block in content
    )
