"""A sidecar: a small file beside a transcript: who started an agent, how a session is called."""

from etl.normalise.fields import text_at
from etl.parse import objects_of, parse_line


def columns_of(content: bytes) -> dict[str, str | None]:
    """Return what a sidecar says; nulls where it says nothing readable."""
    meta = next(iter(objects_of(parse_line(content.strip()))), {})
    return {
        "agent_type": text_at(meta, "agentType"),
        "description": text_at(meta, "description"),
        "tool_use_id": text_at(meta, "toolUseId"),
        "parent_agent_id": text_at(meta, "parentAgentId"),
        "custom_title": text_at(meta, "customTitle"),
    }
