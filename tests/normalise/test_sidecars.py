"""Sidecars: what the small file beside an agent's transcript says."""

import json

import pytest

from etl.normalise import sidecars

NOTHING = {
    "agent_type": None,
    "description": None,
    "tool_use_id": None,
    "parent_agent_id": None,
    "custom_title": None,
}
META = {
    "agentType": "Explore",
    "description": "Über den Brennofen",
    "toolUseId": "toolu_1",
    "parentAgentId": "a1",
    "spawnDepth": 2,
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_sidecar_is_read_however_it_is_written(indent: int | None, ending: str) -> None:
    content = (json.dumps(META, indent=indent) + ending).encode()
    assert sidecars.columns_of(content) == {
        "agent_type": "Explore",
        "description": "Über den Brennofen",
        "tool_use_id": "toolu_1",
        "parent_agent_id": "a1",
        "custom_title": None,
    }


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"{", b"[]", b"null", b'"words"', b"\xff\xfe", b"{}"]
)
def test_what_says_nothing_readable_gives_nulls(content: bytes) -> None:
    assert sidecars.columns_of(content) == NOTHING


def test_a_value_of_another_type_is_null() -> None:
    content = b'{"agentType":7,"description":null,"toolUseId":["t"],"parentAgentId":"a1"}'
    assert sidecars.columns_of(content) == NOTHING | {"parent_agent_id": "a1"}
