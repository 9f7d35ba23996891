"""A sidecar: the small file beside an agent's transcript that says who started it."""

from etl.normalise.fields import text_at
from etl.parse import objects_of, parse_line


def columns_of(content: bytes) -> dict[str, str | None]:
    """Return what an `agent-<id>.meta.json` says; nulls where it says nothing readable."""
    meta = next(iter(objects_of(parse_line(content.strip()))), {})
    return {
        "agent_type": text_at(meta, "agentType"),
        "description": text_at(meta, "description"),
        "tool_use_id": text_at(meta, "toolUseId"),
        "parent_agent_id": text_at(meta, "parentAgentId"),
    }
