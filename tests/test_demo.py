"""Checks the made-up log tree against a plain count with the standard library."""

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from etl.demo import write_tree
from tests.plain_count import (
    PLAIN_COUNTS,
    Entry,
    PlainCount,
    blocks_of,
    entries_of,
    is_agent,
    log_paths,
    objects_in,
    prompt_texts,
)

Truth = dict[str, object]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write one small tree for all tests that only read."""
    directory = tmp_path_factory.mktemp("demo") / "tree"
    write_tree(directory, megabytes=1, seed=11)
    return directory


def truth_of(directory: Path) -> Truth:
    truth = json.loads((directory / "truth.json").read_text())
    assert isinstance(truth, dict)
    return truth


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_truth_agrees_with_a_plain_count(tmp_path: Path, seed: int) -> None:
    truth = write_tree(tmp_path / "tree", megabytes=2 - 0.5 * seed, seed=seed)
    count = PlainCount(tmp_path / "tree")
    assert {name: truth[name] for name in PLAIN_COUNTS} == count.plain()
    assert truth["tokens_by_model"] == count.tokens("model")
    assert truth["tokens_by_day"] == count.tokens("day")


def test_truth_file_holds_what_the_call_gives(tmp_path: Path) -> None:
    truth = write_tree(tmp_path / "tree", megabytes=0.2, seed=5)
    assert truth_of(tmp_path / "tree") == truth
    assert (truth["seed"], truth["megabytes"]) == (5, 0.2)


def test_truth_counts_files_by_kind(tree: Path) -> None:
    paths = log_paths(tree)
    assert truth_of(tree)["files"] == {
        "main": sum(not is_agent(path) for path in paths),
        "agent": sum(is_agent(path) for path in paths),
        "sidecar": len(list(tree.glob("projects/**/*.meta.json"))),
        "empty": sum(path.stat().st_size == 0 for path in paths),
    }


def test_same_seed_writes_the_same_bytes(tmp_path: Path, tree: Path) -> None:
    write_tree(tmp_path / "again", megabytes=1, seed=11)
    assert files_under(tmp_path / "again") == files_under(tree)


def test_other_seed_writes_other_bytes(tmp_path: Path, tree: Path) -> None:
    write_tree(tmp_path / "other", megabytes=1, seed=12)
    assert files_under(tmp_path / "other") != files_under(tree)


def files_under(directory: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(directory)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_directory_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    with pytest.raises(ValueError, match="not an empty directory"):
        write_tree(tmp_path, megabytes=1, seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_size_of_zero_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="above 0"):
        write_tree(tmp_path / "tree", megabytes=0, seed=1)


@pytest.mark.parametrize(("megabytes", "seed"), [(2, 1), (2, 2), (3.5, 3), (8, 4)])
def test_size_is_close_to_what_was_asked(tmp_path: Path, megabytes: float, seed: int) -> None:
    write_tree(tmp_path / "tree", megabytes=megabytes, seed=seed)
    size_bytes = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert size_bytes == pytest.approx(megabytes * 1e6, rel=0.05)


def features_of(entry: Entry) -> set[str]:
    """Name what an entry shows, for the test that everything occurs."""
    found = {str(entry["type"]), f"version {entry.get('version')}"}
    found.add(f"system {entry.get('subtype')}")
    for name in ("data", "attachment"):
        part = entry.get(name)
        found.add(f"{name} {part['type']}" if isinstance(part, dict) else name)
    content = entry.get("content")
    found.add(f"{entry.get('operation')} {type(content).__name__}")
    for flag in ("isMeta", "isCompactSummary", "isApiErrorMessage", "sourceToolAssistantUUID"):
        found.update({flag} if entry.get(flag) else ())
    if "toolUseResult" in entry:
        found.add(f"result {type(entry['toolUseResult']).__name__}")
    return found | message_features_of(entry)


def message_features_of(entry: Entry) -> set[str]:
    message = entry.get("message")
    if not isinstance(message, dict):
        return set()
    found = {f"{entry['type']} {block['type']}" for block in blocks_of(entry)}
    found.add("crowded" if len(found) > 1 else "single")
    found.update({"parallel"} if len(blocks_of(entry)) > 1 else ())
    found.add(f"{entry['type']} {type(message['content']).__name__}")
    if entry["type"] == "user":
        found.add(prompt_texts(entry)[0].split(">")[0].split(" ")[0])
    if "usage" in message:
        found.add(f"model {message['model'][:6]}, stop {message['stop_reason']}")
        found |= usage_features_of(message["usage"])
    return found


def usage_features_of(usage: dict[str, object]) -> set[str]:
    split = usage.get("cache_creation")
    if not isinstance(split, dict):
        return {"no split"}
    flat, both = usage["cache_creation_input_tokens"], sum(split.values())
    assert isinstance(flat, int)
    names = {"details": "output_tokens_details", "iterated": "iterations"}
    found = {name for name, key in names.items() if key in usage}
    return found | {"split larger" if both > flat else "split smaller" if both < flat else "even"}


EVERY_FEATURE = {
    *("user", "assistant", "system", "summary", "file-history-snapshot", "queue-operation"),
    *("progress", "pr-link", "ai-title", "last-prompt", "mode", "permission-mode", "attachment"),
    *("system compact_boundary", "system turn_duration", "system local_command"),
    *("system stop_hook_summary", "system api_error"),
    *("data agent_progress", "data bash_progress", "data hook_progress"),
    *("attachment queued_command", "attachment skill_listing", "attachment hook_success"),
    *("enqueue str", "enqueue list", "dequeue NoneType", "remove NoneType", "popAll str"),
    *("isMeta", "isCompactSummary", "isApiErrorMessage", "sourceToolAssistantUUID"),
    *("result dict", "result str", "result list", "user str", "user list", "crowded", "parallel"),
    *("user text", "user image", "user tool_result"),
    *("assistant text", "assistant thinking", "assistant tool_use"),
    *("<command-name", "<command-message", "<local-command-stdout", "<bash-input"),
    *("<ide_opened_file", "<task-notification", "[Request", "Warmup"),
    *("model <synth, stop stop_sequence", "model claude, stop None", "model claude, stop end_turn"),
    *("no split", "split larger", "split smaller", "details", "iterated"),
    *(f"version 2.0.{patch}" for patch in (36, 42, 50, 76)),
    *(f"version 2.1.{patch}" for patch in (2, 9, 29, 101, 119, 170)),
}


@pytest.mark.parametrize("seed", range(6))
def test_every_kind_of_entry_occurs_in_a_small_tree(tmp_path: Path, seed: int) -> None:
    write_tree(tmp_path / "tree", megabytes=0.2, seed=seed)
    found: set[str] = set()
    for path in log_paths(tmp_path / "tree"):
        for entry in entries_of(path):
            found |= features_of(entry)
    assert EVERY_FEATURE - found == set()


@pytest.mark.parametrize("seed", range(6))
def test_every_kind_of_trouble_occurs_in_a_small_tree(tmp_path: Path, seed: int) -> None:
    truth = write_tree(tmp_path / "tree", megabytes=0.2, seed=seed)
    counted = ("pending_files", "rejects", "blank_lines", "tool_errors", "unanswered_tool_calls")
    assert all(truth[name] for name in (*counted, "warmup_agents", "copied_entries"))
    lines = [line for path in log_paths(tmp_path / "tree") for line in whole_lines(path)]
    assert any(len(objects_in(line)) > 1 for line in lines)
    assert any(b"\\ud83d" in line and objects_in(line) for line in lines)
    assert any(line.startswith(b"{") and not objects_in(line) for line in lines)
    assert any(line and line[:1] != b"{" for line in lines)
    assert any(not line.isascii() for line in lines)
    assert_disorder(tmp_path / "tree")


def whole_lines(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1]


def assert_disorder(directory: Path) -> None:
    steps_back = dangling = empty = several_versions = 0
    for path in log_paths(directory):
        entries = [entry for entry in entries_of(path) if "uuid" in entry]
        stamps = [str(entry["timestamp"]) for entry in entries]
        steps_back += sum(later < earlier for earlier, later in pairwise(stamps))
        uuids = {entry["uuid"] for entry in entries}
        parents = {entry["parentUuid"] for entry in entries} - {None}
        dangling += len(parents - uuids)
        empty += path.stat().st_size == 0
        several_versions += len({entry["version"] for entry in entries}) > 1
    assert steps_back
    assert dangling
    assert empty
    assert several_versions


def test_agents_stand_where_their_version_puts_them(tree: Path) -> None:
    for path in log_paths(tree):
        if is_agent(path) and path.stat().st_size:
            entry = next(entries_of(path))
            number = tuple(int(part) for part in str(entry["version"]).split("."))
            assert (path.parent.name == "subagents") == (number >= (2, 1, 2))
            assert path.stem == f"agent-{entry['agentId']}"
            assert entry["isSidechain"] is True


def test_every_agent_but_warm_ups_is_named_by_its_parent(tree: Path) -> None:
    named, written = set(), set()
    for path in log_paths(tree):
        for entry in entries_of(path):
            result = entry.get("toolUseResult")
            if isinstance(result, dict) and "agentId" in result:
                named.add(result["agentId"])
            if is_agent(path):
                written.add(entry["agentId"])
    warm = truth_of(tree)["warmup_agents"]
    assert named < written
    assert len(written - named) == warm


def test_copies_repeat_uuids_under_a_new_session(tree: Path) -> None:
    sessions = defaultdict(set)
    for path in log_paths(tree):
        for entry in entries_of(path):
            if "uuid" in entry:
                assert entry["sessionId"] == (entry["sessionId"] if is_agent(path) else path.stem)
                sessions[entry["uuid"]].add(entry["sessionId"])
    repeated = sum(len(ids) > 1 for ids in sessions.values())
    assert repeated == truth_of(tree)["copied_entries"]


def test_lines_are_compact_json_as_the_program_writes_it(tree: Path) -> None:
    for path in log_paths(tree):
        for line in whole_lines(path):
            found = objects_in(line)
            if len(found) == 1 and b"\\ud83d" not in line:
                assert (
                    json.dumps(found[0], ensure_ascii=False, separators=(",", ":")) == line.decode()
                )
