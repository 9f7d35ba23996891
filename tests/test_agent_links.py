"""Agents: the call that started each, the turn it belongs to, and what it did itself."""

import pytest

from tests.sessions import (
    Line,
    assistant,
    text,
    tool_result,
    tool_use,
    user,
)
from tests.test_derive import DEEP, Log, derived, file

SIDECAR = (file("meta", agent_id="deep"), b'{"toolUseId":"by-meta","agentType":"Plan"}')
NOTIFICATION = (
    "<task-notification>\n<task-id>deep</task-id>\n<tool-use-id>by-notification</tool-use-id>\n"
    "<status>completed</status>\n</task-notification>"
)
PROGRESS = {
    "type": "progress",
    "uuid": "p1",
    "parentToolUseID": "by-progress",
    "data": {"agentId": "deep"},
}


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ({"meta", "result", "notification", "progress"}, ("by-meta", "meta", "u1")),
        ({"result", "notification", "progress"}, ("by-result", "result", "u2")),
        ({"notification", "progress", "prompt"}, ("by-notification", "notification", "u3")),
        ({"queued", "progress", "prompt"}, ("by-notification", "notification", "u3")),
        ({"old", "progress", "prompt"}, ("by-notification", "notification", "u3")),
        ({"progress", "prompt"}, ("by-progress", "progress", "u4")),
        ({"prompt"}, ("by-prompt", "prompt", "u5")),
        ({"prompt", "same prompt"}, (None, None, None)),
        (set(), (None, None, None)),
    ],
    ids=lambda one: "-".join(sorted(one)) if isinstance(one, set) else "",
)
def test_an_agent_is_linked_by_the_best_evidence(
    evidence: set[str], expected: tuple[str | None, ...]
) -> None:
    calls = ("by-meta", "by-result", "by-notification", "by-progress", "by-prompt")
    told = {"by-prompt"} & {f"by-{one}" for one in evidence}
    told |= {"by-meta"} if "same prompt" in evidence else set()
    main: list[Line | bytes] = [
        line
        for at, call in enumerate(calls, 1)
        for line in (
            user("Go", f"u{at}"),
            assistant(
                tool_use(call, "Agent", prompt="Look" if call in told else call),
                uuid=f"a{at}",
                message_id=f"m{at}",
            ),
        )
    ]
    old = '{"task_id":"deep","tool_use_id":"by-notification"}'
    main += [PROGRESS] if "progress" in evidence else []
    main += [tool_result("by-result", toolUseResult={"agentId": "deep"})] * ("result" in evidence)
    main += [user(NOTIFICATION, "n1")] if "notification" in evidence else []
    for name, content in (("queued", NOTIFICATION), ("old", old)):
        main += [{"type": "queue-operation", "content": content}] if name in evidence else []
    transcript: list[Line | bytes] = [user("Look", "s1", **DEEP)]
    logs = [(file("f"), main), (file("g", agent_id="deep"), transcript)]
    found = derived(logs, [SIDECAR] if "meta" in evidence else [])
    (agent,) = found["agents"]
    assert (agent["tool_use_id"], agent["link_rule"], agent["turn_id"]) == expected
    assert agent["agent_type"] == ("Plan" if "meta" in evidence else None)


def test_a_prompt_that_says_more_than_warmup_is_no_warmup() -> None:
    more = {"role": "user", "content": [text("Warmup"), text("then count the trees")]}
    logs: list[Log] = [
        (file("f", agent_id="work"), [user("", "s1") | {"message": more}]),
        (file("g", agent_id="warm"), [user(" Warmup\n", "s2")]),
    ]
    found = {row["agent_id"]: row["is_warmup"] for row in derived(logs)["agents"]}
    assert found == {"work": False, "warm": True}


def test_a_fork_did_not_make_the_call_that_started_it() -> None:
    launch = assistant(tool_use("launch", "Agent"), uuid="a1")
    logs: list[Log] = [
        (file("f"), [user("Go"), launch, tool_result("launch", toolUseResult={"agentId": "deep"})]),
        (
            file("g", agent_id="deep"),
            [launch | DEEP, assistant(tool_use("own"), uuid="s2", message_id="m2", **DEEP)],
        ),
    ]
    (agent,) = derived(logs)["agents"]
    assert (agent["tool_use_id"], agent["tool_call_count"]) == ("launch", 1)


def test_an_agent_belongs_to_the_turn_in_which_its_call_first_stands() -> None:
    launch = assistant(tool_use("launch", "Agent"), uuid="a1", second=1)
    answer = tool_result("launch", toolUseResult={"agentId": "deep"})
    main: list[Line | bytes] = [user("Go", "u9"), launch, answer, user("On", "u1", 9), launch]
    logs: list[Log] = [(file("f"), main), (file("g", agent_id="deep"), [user("x", "s1", **DEEP)])]
    found = derived(logs)
    assert [row["turn_id"] for row in found["agents"]] == ["u9"]
    assert [row["turn_id"] for row in found["tool_calls"]] == ["u9"]


def test_agents_of_one_prompt_are_tied_to_the_calls_of_it_in_their_order() -> None:
    calls: list[Line | bytes] = [
        user("Hi"),
        assistant(tool_use("t2", "Task", prompt="Dig"), uuid="a1", second=1),
        assistant(tool_use("t1", "Task", prompt="Dig"), uuid="a2", second=2),
    ]
    found = derived(
        [
            (file("f"), calls),
            (file("g", agent_id="late"), [user("Dig", "d1", 9)]),
            (file("h", agent_id="soon"), [user("Dig", "d2", 5)]),
        ]
    )
    links = {row["agent_id"]: (row["tool_use_id"], row["link_rule"]) for row in found["agents"]}
    assert links == {"soon": ("t2", "prompt"), "late": ("t1", "prompt")}


def test_an_agent_without_a_sidecar_is_described_by_its_call() -> None:
    asked = {"prompt": "Dig", "subagent_type": "Explore", "description": "find it"}
    main: list[Line | bytes] = [user("Hi"), assistant(tool_use("t1", "Agent", **asked))]
    found = derived([(file("f"), main), (file("g", agent_id="deep"), [user("Dig", "d1")])])
    assert [(row["agent_type"], row["description"]) for row in found["agents"]] == [
        ("Explore", "find it")
    ]


def test_a_notification_that_was_queued_links_its_agent() -> None:
    queued = {"type": "queued_command", "prompt": NOTIFICATION}
    main: list[Line | bytes] = [user("Hi"), {"type": "attachment", "attachment": queued}]
    found = derived([(file("f"), main), (file("g", agent_id="deep"), [user("Dig", "d1")])])
    assert [(row["tool_use_id"], row["link_rule"]) for row in found["agents"]] == [
        ("by-notification", "notification")
    ]
