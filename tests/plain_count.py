"""A recount of a made-up tree with the standard library alone, sharing no code with its writer."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

Entry = dict[str, object]

COPY_OF_A_TURN = (
    "<local-command-stdout>",
    "<bash-stdout>",
    "<task-notification>",
    "[Request interrupted by user",
)
PLAIN_COUNTS = (
    "lines",
    "blank_lines",
    "entries",
    "rejects",
    "pending_files",
    "sessions",
    "agents",
    "warmup_agents",
    "human_turns",
    "responses",
    "tool_calls",
    "tool_errors",
    "unanswered_tool_calls",
    "compactions",
    "bytes",
    "history_lines",
)


def log_paths(directory: Path) -> list[Path]:
    return sorted(directory.glob("projects/**/*.jsonl"))


def is_agent(path: Path) -> bool:
    return path.name.startswith("agent-")


def objects_in(line: bytes) -> list[Entry]:
    """Give the JSON objects of a line, or nothing if it holds anything else."""
    try:
        text, at, found = line.decode(), 0, []
        while at < len(text):
            value, at = json.JSONDecoder().raw_decode(text, at)
            found.append(value)
    except ValueError:
        return []
    return found if all(isinstance(value, dict) for value in found) else []


def entries_of(path: Path) -> Iterator[Entry]:
    for line in path.read_bytes().split(b"\n")[:-1]:
        yield from objects_in(line)


def blocks_of(entry: Entry) -> list[Entry]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def prompt_texts(entry: Entry) -> list[str]:
    message = entry["message"]
    assert isinstance(message, dict)
    content = message["content"]
    if isinstance(content, str):
        return [content]
    return [str(block.get("text", "")) for block in content]


def begins_a_turn(entry: Entry) -> bool:
    attachment = entry.get("attachment")
    if isinstance(attachment, dict) and attachment["type"] == "queued_command":
        return not str(attachment["prompt"]).startswith(COPY_OF_A_TURN)
    if entry.get("subtype") == "local_command":
        return str(entry["content"]).startswith("<command-name>")
    if entry["type"] != "user" or entry.get("isMeta") or entry.get("isCompactSummary"):
        return False
    if any(block["type"] == "tool_result" for block in blocks_of(entry)):
        return False
    return not prompt_texts(entry)[0].startswith(COPY_OF_A_TURN)


class PlainCount:
    """A recount of a tree that shares no code with what wrote it."""

    def __init__(self, directory: Path) -> None:
        self.counts: Counter[str] = Counter()
        self.turns: set[str] = set()
        self.compactions: set[str] = set()
        self.calls: set[str] = set()
        self.answers: dict[str, bool] = {}
        self.responses: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for path in log_paths(directory):
            self.count_file(path)
        history = (directory / "history.jsonl").read_bytes()
        self.counts["history_lines"] = history.count(b"\n")

    def count_file(self, path: Path) -> None:
        body = path.read_bytes()
        lines = body.split(b"\n")
        self.counts["bytes"] += len(body)
        self.counts["pending_files"] += lines.pop() != b""
        self.counts["blank_lines"] += lines.count(b"")
        self.counts["lines"] += len(lines) - lines.count(b"")
        self.counts["rejects"] += sum(1 for line in lines if line and not objects_in(line))
        entries = list(entries_of(path))
        self.counts["entries"] += len(entries)
        if entries:
            self.counts["agents" if is_agent(path) else "sessions"] += 1
            first = entries[0].get("message")
            self.counts["warmup_agents"] += (
                isinstance(first, dict) and is_agent(path) and first["content"] == "Warmup"
            )
        for entry in entries:
            self.count_entry(entry)

    def count_entry(self, entry: Entry) -> None:
        uuid = str(entry.get("uuid"))
        if entry["type"] in {"user", "attachment", "system"} and not entry["isSidechain"]:
            self.turns.update({uuid} if begins_a_turn(entry) else ())
        if entry.get("subtype") == "compact_boundary":
            self.compactions.add(uuid)
        for block in blocks_of(entry):
            if block["type"] == "tool_use":
                self.calls.add(str(block["id"]))
            if block["type"] == "tool_result":
                self.answers[str(block["tool_use_id"])] = bool(block.get("is_error"))
        message = entry.get("message")
        if isinstance(message, dict) and message.get("model", "<synthetic>") != "<synthetic>":
            self.responses[message["id"], str(entry["requestId"])].append(entry)

    def plain(self) -> dict[str, int]:
        return {
            **{name: self.counts[name] for name in PLAIN_COUNTS},
            "human_turns": len(self.turns),
            "compactions": len(self.compactions),
            "responses": len(self.responses),
            "tool_calls": len(self.calls),
            "tool_errors": sum(self.answers.values()),
            "unanswered_tool_calls": len(self.calls - set(self.answers)),
        }

    def tokens(self, key: str) -> dict[str, dict[str, int]]:
        table: dict[str, Counter[str]] = defaultdict(Counter)
        for lines in self.responses.values():
            first = min(lines, key=lambda line: str(line["timestamp"]))
            message = first["message"]
            assert isinstance(message, dict)
            name = str(first["timestamp"])[:10] if key == "day" else message["model"]
            table[name].update(charged(lines))
        return {name: dict(totals) for name, totals in table.items()}


def charged(lines: list[Entry]) -> dict[str, int]:
    usages = [line["message"]["usage"] for line in lines]  # type: ignore[index]
    usage = max(usages, key=lambda one: one["output_tokens"])
    split = usage.get("cache_creation", {})
    one_hour = split.get("ephemeral_1h_input_tokens", 0)
    both = split.get("ephemeral_5m_input_tokens", 0) + one_hour
    return {
        "responses": 1,
        "input_tokens": usage["input_tokens"],
        "output_tokens": usage["output_tokens"],
        "cache_read_tokens": usage["cache_read_input_tokens"],
        "cache_write_5m_tokens": max(usage["cache_creation_input_tokens"], both) - one_hour,
        "cache_write_1h_tokens": one_hour,
    }
