"""The blocks of a message, a row each. Long text lives here, once."""

import re
from typing import NamedTuple

from etl.jsontext import dumps
from etl.normalise.fields import EMPTY, JsonObject, text_at

PREVIEW_CHARS = 200
_AGENT_TOOLS = ("Task", "Agent")
_SKELETON = "~content"
_SAVED = re.compile(r"\bsaved to: (.+)")
_SEPARATOR = re.compile(r"[/\\]")
_LONGEST_STUB = 5000  # its path stands in the first lines, and a path is no longer than 4096
_TARGETS = (
    "file_path",
    "notebook_path",
    "command",
    "pattern",
    "url",
    "query",
    "path",
    "skill",
    "prompt",
)


class BlockRow(NamedTuple):
    """The columns of one block that come from the block itself."""

    block_type: str | None = None
    form: str = "block"
    text: str | None = None
    text_chars: int | None = None
    preview: str | None = None
    tool_use_id: str | None = None
    tool_name: str | None = None
    target: str | None = None
    input: bytes | None = None
    is_error: bool | None = None
    agent_type: str | None = None
    description: str | None = None
    output_file: str | None = None
    payload: bytes | None = None


def rows_of(content: object) -> list[BlockRow]:
    """Return the rows of a message's content; none if it is neither text nor a list of blocks."""
    if content.__class__ is str:
        return [_words(content, "string")]
    if content.__class__ is not list:
        return []
    return [_row_of(block) for block in content]


def _row_of(block: object) -> BlockRow:
    if isinstance(block, dict):
        kind = block.get("type")
        if kind.__class__ is not str:
            return BlockRow(payload=dumps(block))
        return _ROWS.get(kind, _of_tool)(block)
    if isinstance(block, str):
        return _words(block, "item")
    return BlockRow(form="value", payload=dumps(block))


def _words(text: str, form: str) -> BlockRow:
    return BlockRow("text", form, text, len(text), text[:PREVIEW_CHARS])


def _text(block: JsonObject) -> BlockRow:
    text = block.get("text")
    if text.__class__ is not str:
        return _other(block)
    rest = None if len(block) == 2 else _rest(block, "type", "text")  # noqa: PLR2004 - type, text
    return BlockRow("text", "block", text, len(text), text[:PREVIEW_CHARS], payload=rest)


def _thinking(block: JsonObject) -> BlockRow:
    text = block.get("thinking")
    if not isinstance(text, str):
        return _other(block)
    rest = _rest(block, "type", "thinking")
    return BlockRow("thinking", "block", text, len(text), payload=rest)


def _tool_use(block: JsonObject) -> BlockRow:
    lifted = ["type"]
    call, name, arguments = block.get("id"), block.get("name"), block.get("input")
    if isinstance(call, str):
        lifted.append("id")
    if isinstance(name, str):
        lifted.append("name")
    text = None
    agent = EMPTY
    if isinstance(arguments, dict):
        lifted.append("input")
        text = dumps(arguments)
        agent = arguments if name in _AGENT_TOOLS else EMPTY
    return BlockRow(
        block_type=str(block["type"]),
        preview=text[: PREVIEW_CHARS * 4].decode(errors="ignore")[:PREVIEW_CHARS] if text else None,
        tool_use_id=call if isinstance(call, str) else None,
        tool_name=name if isinstance(name, str) else None,
        target=_target_of(arguments) if isinstance(arguments, dict) else None,
        input=text,
        agent_type=text_at(agent, "subagent_type"),
        description=text_at(agent, "description"),
        payload=_rest(block, *lifted) if len(block) > len(lifted) else None,
    )


def _target_of(arguments: JsonObject) -> str | None:
    for key in _TARGETS:
        value = arguments.get(key)
        if value.__class__ is str:
            return value[:PREVIEW_CHARS]
    return None


def _tool_result(block: JsonObject) -> BlockRow:
    call, failed, content = block.get("tool_use_id"), block.get("is_error"), block.get("content")
    lifted = ["type"]
    text, skeleton = _text_of_result(content) if _SKELETON not in block else (None, None)
    if text is not None:
        lifted.append("content")
    if isinstance(call, str):
        lifted.append("tool_use_id")
    if isinstance(failed, bool):
        lifted.append("is_error")
    rest: JsonObject = {}
    if len(block) > len(lifted):
        rest = {key: value for key, value in block.items() if key not in lifted}
    if skeleton is not None:
        rest[_SKELETON] = skeleton
    return BlockRow(
        block_type=str(block["type"]),
        text=text,
        text_chars=None if text is None else len(text),
        preview=text[:PREVIEW_CHARS] if text and failed is True else None,
        tool_use_id=call if isinstance(call, str) else None,
        is_error=failed if isinstance(failed, bool) else None,
        output_file=_output_file(text) if text and text.startswith("<persisted-output") else None,
        payload=dumps(rest) if rest else None,
    )


def _output_file(stub: str) -> str | None:
    """Return the name of the file that a long output was saved to; its folder is a machine's."""
    match = _SAVED.search(stub, 0, _LONGEST_STUB)
    return _SEPARATOR.split(match.group(1).strip())[-1] if match else None


def _text_of_result(content: object) -> tuple[str | None, list[object] | None]:
    """Return the text of a result and, for a list, the list with each text's length in its place.

    So the text stands in one column whichever form the tool chose, and the list can be rebuilt.
    """
    if isinstance(content, str):
        return content, None
    if not isinstance(content, list) or not any(_is_plain_text(item) for item in content):
        return None, None
    if any(isinstance(item, dict) and isinstance(item.get("text"), int) for item in content):
        return None, None
    texts = [item["text"] for item in content if _is_plain_text(item)]
    skeleton = [
        {**item, "text": len(item["text"])} if _is_plain_text(item) else item for item in content
    ]
    return "\n".join(texts), skeleton


def _is_plain_text(item: object) -> bool:
    return (
        isinstance(item, dict) and item.get("type") == "text" and isinstance(item.get("text"), str)
    )


def _of_tool(block: JsonObject) -> BlockRow:
    """Servers call tools, too, and every one of them has a name for its own results."""
    kind = str(block["type"])
    if kind.endswith("tool_use"):
        return _tool_use(block)
    return _tool_result(block) if kind.endswith("tool_result") else _other(block)


def _other(block: JsonObject) -> BlockRow:
    """Keep the block whole, with its type as a column."""
    return BlockRow(block_type=str(block["type"]), payload=_rest(block, "type"))


def _rest(block: JsonObject, *lifted: str) -> bytes | None:
    rest = {key: value for key, value in block.items() if key not in lifted}
    return dumps(rest) if rest else None


_ROWS = {
    "text": _text,
    "thinking": _thinking,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}
