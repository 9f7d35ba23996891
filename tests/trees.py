"""A small tree with everything that makes reading hard, for the properties."""

from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    assistant,
    compaction,
    encoded,
    text,
    tool_result,
    tool_use,
    user,
)

RESUMED = "22222222-2222-4222-8222-222222222222"
LONELY = "33333333-3333-4333-8333-333333333333"
HISTORY: list[Line | bytes] = [
    user("Bäume zählen, 漢字 und 🚢 — bitte", uuid="u1", second=0),
    assistant(text("Ich sehe nach …"), uuid="a1", second=1, output=4),
    assistant(
        tool_use("toolu_1", command="ls 🌲"), uuid="a2", second=2, output=40, stop="tool_use"
    ),
    assistant(tool_use("toolu_2", "Task", prompt="Zähle"), uuid="a3", second=3, output=40),
    tool_result("toolu_1", "drei 🌲", uuid="r1", second=4),
    b'{"type":"user","uuid":"torn by a crash\n',
    b"\r\n",
    tool_result(
        "toolu_2",
        "fertig",
        uuid="r2",
        second=20,
        toolUseResult={"agentId": "deep", "totalTokens": 7},
    ),
    compaction(uuid="c1", second=25),
    user("This session is being continued …", uuid="s1", second=26, isCompactSummary=True),
]
MAIN: list[Line | bytes] = [
    *HISTORY,
    user("Und jetzt?", uuid="u2", second=30),
    b"[1, 2]\n",
    assistant(
        tool_use("toolu_3", "Read", file_path="/home/ada/größe.txt"),
        uuid="a4",
        second=31,
        message_id="msg_2",
        request="req_2",
    ),
    tool_result("toolu_3", "no such file", uuid="r3", second=32, is_error=True),
    encoded([user("glued", uuid="u3", second=40)]).rstrip(b"\n"),
    encoded([user("on one line", uuid="u4", second=41)]),
    assistant(uuid="a5", second=42, message_id="msg_3", request="req_3", stop="end_turn"),
    b'{"type":"user","uuid":"half a l\xc3',
]
DEEP: list[Line | bytes] = [
    b"not json at all\n",
    user("Zähle", uuid="d1", second=5, isSidechain=True, agentId="deep"),
    assistant(
        tool_use("toolu_4", "Task", prompt="tiefer"),
        uuid="d2",
        second=6,
        message_id="msg_4",
        request="req_4",
        isSidechain=True,
        agentId="deep",
    ),
    tool_result("toolu_4", "…", uuid="d3", second=12, toolUseResult={"agentId": "nested"}),
]
NESTED: list[Line | bytes] = [
    user("tiefer", uuid="n1", second=7, isSidechain=True, agentId="nested"),
    assistant(
        uuid="n2",
        second=8,
        message_id="msg_5",
        request="req_5",
        isSidechain=True,
        agentId="nested",
        model="claude-haiku-4-5-20251001",
    ),
]
WARMUP: list[Line | bytes] = [
    user("Warmup", uuid="w1", second=0, isSidechain=True, agentId="warm"),
    b"{oops}\n",
    assistant(
        text("Bereit, größtenteils."),
        uuid="w2",
        second=1,
        message_id="msg_6",
        request="req_6",
        isSidechain=True,
        agentId="warm",
    ),
]
AFTER_RESUME: list[Line | bytes] = [
    *(line for line in HISTORY if isinstance(line, dict)),
    user("Weiter: ü", uuid="x1", second=100, sessionId=RESUMED),
    assistant(uuid="x2", second=101, message_id="msg_7", request="req_7", sessionId=RESUMED),
]
ALONE: list[Line | bytes] = [
    user("Allein", uuid="l1", second=200, sessionId=LONELY, cwd="/home/ada/öl"),
    assistant(
        uuid="l2", second=201, message_id="msg_8", request="req_8", sessionId=LONELY, usage={"x": 1}
    ),
]

MAINS = (
    f"{PROJECT}/{SESSION}.jsonl",
    f"{PROJECT}/{RESUMED}.jsonl",
    f"-home-ada-oel/{LONELY}.jsonl",
)
SIDECAR = f"{PROJECT}/{SESSION}/subagents/agent-deep.meta.json"
TREE: dict[str, bytes] = {
    MAINS[0]: encoded(MAIN),
    MAINS[1]: encoded(AFTER_RESUME),
    MAINS[2]: encoded(ALONE),
    f"-home-ada-moved/{SESSION}.jsonl": encoded(MAIN),
    f"{PROJECT}/{SESSION}/subagents/agent-deep.jsonl": encoded(DEEP),
    f"{PROJECT}/{SESSION}/subagents/agent-nested.jsonl": encoded(NESTED),
    SIDECAR: b'{"agentType":"Explore","description":"B\xc3\xa4ume","toolUseId":"toolu_2"}',
    f"{PROJECT}/agent-warm.jsonl": encoded(WARMUP),
    f"{PROJECT}/44444444-4444-4444-8444-444444444444.jsonl": b"",
}
