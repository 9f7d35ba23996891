"""A session as one object for programs: all of it, agents within the calls that started them."""

from dataclasses import asdict, fields
from typing import Any

from etl.conversation import Agent, Call, Compaction, Conversation, Item, Turn, Words
from etl.jsontext import loads

Object = dict[str, Any]


def tree_of(conversation: Conversation, *, with_agents: bool = True) -> Object:
    """Return the session with its turns, their messages, calls and agents."""
    turns = [_turn(conversation, turn, with_agents=with_agents) for turn in conversation.turns()]
    left = conversation.unlinked() if with_agents else ()
    return {
        "session": conversation.session,
        "turns": turns,
        "agents": [_agent(conversation, agent, with_agents=with_agents) for agent in left],
    }


def _turn(conversation: Conversation, turn: Turn, *, with_agents: bool) -> Object:
    return {
        **turn.numbers,
        "turn_id": turn.turn_id,
        "prompt_kind": turn.prompt_kind,
        "prompt": turn.prompt,
        "started_at": turn.started_at,
        "copied_from": turn.copied_from,
        "messages": [_item(conversation, item, with_agents=with_agents) for item in turn.items],
    }


def _item(conversation: Conversation, item: Item, *, with_agents: bool) -> Object:
    if isinstance(item, Compaction):
        return {"role": None, "kind": "compaction", **asdict(item)}
    parts = [_part(conversation, part, with_agents=with_agents) for part in item.parts]
    return {**_columns(item, "parts"), "parts": parts}


def _part(conversation: Conversation, part: Words | Call, *, with_agents: bool) -> Object:
    if isinstance(part, Words):
        return asdict(part)
    agents = [_agent(conversation, agent, with_agents=with_agents) for agent in part.agents]
    given = None if part.input is None else loads(part.input)
    return {"type": "call", **_columns(part, "agents"), "input": given, "agents": agents}


def _agent(conversation: Conversation, agent: Agent, *, with_agents: bool) -> Object:
    told = _columns(agent, "thread_no", "depth")
    if not with_agents:
        return told
    items = conversation.items_of(agent)
    return {
        **told,
        "messages": [_item(conversation, item, with_agents=with_agents) for item in items],
    }


def _columns(one: Item | Agent | Call, *but: str) -> Object:
    return {field.name: getattr(one, field.name) for field in fields(one) if field.name not in but}
