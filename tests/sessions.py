"""Builders of made-up log lines, and of the trees they lie in."""

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from etl import frames, sqlfiles, views
from etl.commit import Warehouse
from etl.config import Settings
from etl.pipeline import sync
from etl.step import RunSummary
from etl.tables import ALL_TABLES

SESSION = "11111111-1111-4111-8111-111111111111"
PROJECT = "-home-ada-kiln"
Line = dict[str, Any]
_TABLES = [table.name for table in ALL_TABLES]


def at(second: int) -> str:
    """Return an instant as Claude Code writes it."""
    return f"2026-03-01T{second // 3600 + 8:02d}:{second // 60 % 60:02d}:{second % 60:02d}.000Z"


def envelope(kind: str, uuid: str, second: int, **more: object) -> Line:
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ada/kiln",
        "sessionId": SESSION,
        "version": "2.1.29",
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid,
        "timestamp": at(second),
        **more,
    }


def user(text: str, uuid: str = "u1", second: int = 0, **more: object) -> Line:
    return envelope("user", uuid, second, message={"role": "user", "content": text}, **more)


def assistant(
    *blocks: Line,
    uuid: str = "a1",
    second: int = 1,
    message_id: str = "msg_1",
    **more: Any,  # noqa: ANN401 - the members of a log line are of any type
) -> Line:
    """One line of a response. `output`, `stop`, `model`, `usage` and `request` set the obvious."""
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 1000,
        "output_tokens": more.pop("output", 10),
        "service_tier": "standard",
    } | more.pop("usage", {})
    message = {
        "model": more.pop("model", "claude-sonnet-4-5-20250929"),
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "content": list(blocks) or [text("Done.")],
        "stop_reason": more.pop("stop", None),
        "stop_sequence": None,
        "usage": usage,
    }
    request = more.pop("request", "req_1")
    return envelope("assistant", uuid, second, message=message, requestId=request, **more)


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def tool_use(call: str = "toolu_1", name: str = "Bash", **arguments: object) -> Line:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments or {"command": "ls"}}


def tool_result(
    call: str = "toolu_1",
    content: object = "ok",
    *,
    uuid: str = "r1",
    second: int = 2,
    is_error: bool = False,
    **more: object,
) -> Line:
    block = {"tool_use_id": call, "type": "tool_result", "content": content}
    if is_error:
        block["is_error"] = True
    more.setdefault("toolUseResult", {"stdout": str(content), "interrupted": False})
    return envelope("user", uuid, second, message={"role": "user", "content": [block]}, **more)


def compaction(uuid: str = "c1", second: int = 5, trigger: str = "auto") -> Line:
    return envelope(
        "system",
        uuid,
        second,
        subtype="compact_boundary",
        content="Conversation compacted",
        compactMetadata={"trigger": trigger, "preTokens": 150000},
    )


def encoded(lines: Iterable[Line | bytes]) -> bytes:
    """Return lines as the bytes of a log; bytes are taken as they are, without a newline added."""
    return b"".join(
        line
        if isinstance(line, bytes)
        else json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        for line in lines
    )


def write_log(root: Path, lines: Iterable[Line | bytes], path: str | None = None) -> Path:
    """Write a log below a config directory; by default the main file of SESSION."""
    target = root / "projects" / (path or f"{PROJECT}/{SESSION}.jsonl")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(encoded(lines))
    return target


def run_sync(
    logs: Path,
    warehouse: Path,
    *,
    jobs: int = 1,
    source: str = "laptop",
    **more: Any,  # noqa: ANN401 - the other settings, each of its own type
) -> RunSummary:
    """Sync a config directory in this process, with the shipped prices unless told."""
    roots = (logs / "projects",)
    return sync(Settings(roots, warehouse, source, jobs, (logs,), **more))


def append(log: Path, *lines: Line | bytes) -> None:
    """Add lines to a log; bytes as they are, whole or torn."""
    with log.open("ab") as sink:
        sink.write(encoded(lines))


def rows(warehouse: Path, sql: str) -> list[tuple[Any, ...]]:
    """Ask a warehouse."""
    return frames.query(sql, warehouse=warehouse).rows()


def value(warehouse: Path, sql: str) -> Any:  # noqa: ANN401 - whatever the query gives
    """Ask a warehouse for one value."""
    return frames.query(sql, warehouse=warehouse).item()


def ask_everything(warehouse: Path) -> list[str]:
    """Read every table and view to its last row, and return the checks that found something."""
    with closing(views.connect(Warehouse(warehouse), time_zone="UTC")) as con:
        shipped = [f"main.{view.name}" for view in views.in_order(sqlfiles.load("views"))]
        for name in [*map(views.physical, _TABLES), *shipped]:
            views.settle(con, name)  # Each is asked once, of those before it: seven times as quick.
            con.sql(f"from {name}").to_arrow_table().to_pylist()
        checks = sqlfiles.load("checks")
        return [check.name for check in checks if con.execute(check.query).fetchall()]
