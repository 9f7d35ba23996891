"""One made-up session that has one of everything, as logs; its pages lie beside this file."""

from pathlib import Path
from typing import Any

from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    assistant,
    compaction,
    envelope,
    text,
    tool_result,
    tool_use,
    user,
    write_log,
)

FORK = "22222222-2222-4222-8222-222222222222"


def _answer(
    *blocks: Line,
    second: int,
    number: int,
    **more: Any,  # noqa: ANN401 - the members of a log line are of any type
) -> Line:
    name = f"{number:02d}"
    ids = {"uuid": f"a{name}", "message_id": f"msg_{name}", "request": f"req_{name}"}
    return assistant(*blocks, second=second, **ids, **more)


def _thinking(words: str) -> Line:
    return {"type": "thinking", "thinking": words, "signature": "sig"}


def _side(agent: str) -> dict[str, Any]:
    return {"isSidechain": True, "agentId": agent}


FIRST: list[Line | bytes] = [
    user("The door of the kiln sticks.\nMend it, please — `door.py` has it.", "u1", 0),
    _answer(_thinking("Where is the hinge?"), second=1, number=1, output=5),
    _answer(text("I look at the **door** first."), second=2, number=1, output=20),
    _answer(
        tool_use("toolu_ls", command="ls\n  -la"), second=3, number=1, output=60, stop="tool_use"
    ),
    tool_result("toolu_ls", "door.py\nhinge.py", uuid="r1", second=4),
    _answer(
        tool_use(
            "toolu_edit",
            "Edit",
            file_path="/home/ada/kiln/door.py",
            old_string="stuck",
            new_string="free\nand oiled",
        ),
        tool_use("toolu_test", command="make test"),
        second=5,
        number=2,
        stop="tool_use",
    ),
    tool_result(
        "toolu_edit",
        "The file was updated.",
        uuid="r2",
        second=6,
        toolUseResult={
            "filePath": "/home/ada/kiln/door.py",
            "structuredPatch": [{"oldStart": 1, "lines": [" a", "-stuck", "+free", "+and oiled"]}],
        },
    ),
    tool_result("toolu_test", "FAILED\nhinge is rusty", uuid="r3", second=9, is_error=True),
    _answer(
        tool_use(
            "toolu_task",
            "Task",
            subagent_type="Explore",
            description="Find the rust",
            prompt="Where is rust?",
        ),
        second=10,
        number=3,
        stop="tool_use",
    ),
    tool_result(
        "toolu_task",
        "On the hinge.",
        uuid="r4",
        second=40,
        toolUseResult={"agentId": "rusty", "totalTokens": 7},
    ),
    _answer(text("The hinge was rusty; it is free now."), second=41, number=4, stop="end_turn"),
]
REST: list[Line | bytes] = [
    compaction("c1", second=60),
    user("This session is being continued …", "s1", 61, isCompactSummary=True),
    user("<command-name>/cost</command-name><command-args>all</command-args>", "u2", 70),
    user("Caveat: the messages below …", "m1", 71, isMeta=True),
    user("And the chimney?", "u3", 80),
    envelope(
        "attachment",
        "q1",
        85,
        attachment={"type": "queued_command", "prompt": "Leave the bricks alone"},
    ),
    _answer(
        tool_use("toolu_brick", "Write", file_path="/home/ada/kiln/bricks.txt", content="new"),
        second=90,
        number=5,
        stop="tool_use",
    ),
    tool_result(
        "toolu_brick",
        "The user doesn't want to proceed with this tool use.",
        uuid="r5",
        second=95,
        is_error=True,
        toolUseResult="User rejected tool use",
    ),
    user("[Request interrupted by user for tool use]", "i1", 96),
    user("Just look then", "u4", 100),
    _answer(
        tool_use("toolu_look", "Read", file_path="/home/ada/kiln/smoke.png"),
        tool_use("toolu_never", "Grep", pattern="brick"),
        second=101,
        number=6,
        stop="tool_use",
    ),
    tool_result(
        "toolu_look",
        [{"type": "image", "source": {"type": "base64", "data": "aGk="}}],
        uuid="r6",
        second=102,
    ),
    _answer(
        text("API Error: 529 overloaded"),
        second=110,
        number=7,
        model="<synthetic>",
        isApiErrorMessage=True,
        stop="stop_sequence",
    ),
    {"type": "custom-title", "customTitle": "The door of the kiln", "sessionId": SESSION},
]
RUSTY: list[Line | bytes] = [
    user("Where is rust?", "d1", 11, **_side("rusty")),
    _answer(
        tool_use(
            "toolu_deep",
            "Task",
            subagent_type="general-purpose",
            description="Look closely",
            prompt="Scratch it",
        ),
        second=12,
        number=8,
        stop="tool_use",
        **_side("rusty"),
    ),
    tool_result(
        "toolu_deep",
        "Scratched.",
        uuid="d3",
        second=20,
        toolUseResult={"agentId": "scratch"},
        **_side("rusty"),
    ),
    _answer(text("On the hinge."), second=30, number=9, stop="end_turn", **_side("rusty")),
]
SCRATCH: list[Line | bytes] = [
    user("Scratch it", "n1", 13, **_side("scratch")),
    _answer(text("Scratched."), second=19, number=10, stop="end_turn", **_side("scratch")),
]
LOST: list[Line | bytes] = [
    user("Nobody called me", "l1", 50, **_side("lost")),
    _answer(text("Still I came."), second=51, number=11, stop="end_turn", **_side("lost")),
]
WARM: list[Line | bytes] = [
    user("Warmup", "w1", 0, **_side("warm")),
    _answer(text("Ready."), second=1, number=12, stop="end_turn", **_side("warm")),
]


def copied(line: Line | bytes) -> Line | bytes:
    """Return a line as a fork has it."""
    if isinstance(line, bytes):
        return line
    return line | {
        "sessionId": FORK,
        "uuid": f"f-{line['uuid']}",
        "forkedFrom": {"sessionId": SESSION, "messageUuid": line["uuid"]},
    }


def write_kiln(logs: Path) -> None:
    """Write the session with its agents, and a fork that goes on from its first turn."""
    write_log(logs, [*FIRST, *REST])
    for name, lines in (("rusty", RUSTY), ("scratch", SCRATCH), ("lost", LOST), ("warm", WARM)):
        write_log(logs, lines, f"{PROJECT}/{SESSION}/subagents/agent-{name}.jsonl")
    own = [
        user("And now the roof", "x1", 200, sessionId=FORK),
        _answer(text("It is tight."), second=201, number=13, stop="end_turn", sessionId=FORK),
    ]
    write_log(logs, [*map(copied, FIRST), *own], f"{PROJECT}/{FORK}.jsonl")
