"""Finding the logs: what a path says, what a walk takes, reports and leaves alone."""

import os
import shutil
from pathlib import Path

import pytest

from etl.discover import FoundFile, Place, Walk, place_of, projects_of, walk

PROJECT = "-home-ada-kiln"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "projects"
    folder.mkdir()
    return folder


def put(root: Path, path: str, content: bytes = b"{}\n") -> Path:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def paths(found: Walk) -> list[str]:
    return [file.path for file in found.files]


def problems(found: Walk) -> dict[str, str]:
    return {Path(path).name: what for path, what in found.problems}


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("p/s.jsonl", Place("main", "main", "s", None)),
        ("p/agent-a1.jsonl", Place("agent", "flat", None, "a1")),
        ("p/s/subagents/agent-a1.jsonl", Place("agent", "subagents", "s", "a1")),
        ("p/s/subagents/agent-a1.meta.json", Place("sidecar", "sidecar", "s", "a1")),
        (
            "p/s/subagents/workflows/wf_1/agent-a1.jsonl",
            Place("agent", "workflow", "s", "a1"),
        ),
        (
            "p/s/subagents/workflows/wf_1/agent-a1.meta.json",
            Place("sidecar", "sidecar", "s", "a1"),
        ),
        (
            "p/s/subagents/workflows/wf_1/journal.jsonl",
            Place("other", "other", "s", None),
        ),
        ("p/s.jsonl.orphaned-7", Place("other", "other", "s", None)),
        ("p/s/subagents/agent-a1.jsonl.superseded", Place("other", "other", "s", "a1")),
        ("p/s/else/notes.jsonl", Place("other", "other", "s", None)),
        ("p/agent-acompact-9f.jsonl", Place("agent", "flat", None, "acompact-9f")),
        ("p/sessions-index.json", Place("index", "other", None, None)),
        ("p/s/tool-results/toolu_1.txt", Place("other", "tool_result", "s", None)),
        ("p/s/tool-results/page/1.jsonl", Place("other", "tool_result", "s", None)),
        ("p/s/custom-title.json", Place("sidecar", "sidecar", "s", None)),
        ("p/s/workflows/wf_1a.json", Place("sidecar", "sidecar", "s", None)),
        # A project whose own folder is called subagents holds sessions like any other.
        ("subagents/s.jsonl", Place("main", "main", "s", None)),
    ],
)
def test_a_path_says_kind_layout_session_and_agent(path: str, place: Place) -> None:
    assert place_of(path) == place


@pytest.mark.parametrize(
    "path",
    [
        "sessions-index.json",
        "p/s/sessions-index.json",
        "p/custom-title.json",
        "p/s/workflows/scripts/wf_1a.js",
        "p/memory/MEMORY.md",
        "p/s/subagents/notes.txt",
        "p/s/subagents/other.meta.json",
        "p/s.jsonlx",
        "p/jsonl",
    ],
)
def test_a_path_that_is_no_log_has_no_place(path: str) -> None:
    assert place_of(path) is None


def test_a_config_directory_stands_for_its_projects(root: Path) -> None:
    assert projects_of(root.parent) == root
    assert projects_of(root) == root


def test_a_walk_finds_both_layouts_of_agents_and_their_sidecars(root: Path) -> None:
    for path in (
        f"{PROJECT}/s.jsonl",
        f"{PROJECT}/agent-flat.jsonl",
        f"{PROJECT}/s/subagents/agent-deep.jsonl",
        f"{PROJECT}/s/subagents/agent-deep.meta.json",
        f"{PROJECT}/s/notes.txt",
    ):
        put(root, path)
    found = walk([root])
    assert [(file.path, file.place.layout) for file in found.files] == [
        (f"{PROJECT}/agent-flat.jsonl", "flat"),
        (f"{PROJECT}/s.jsonl", "main"),
        (f"{PROJECT}/s/subagents/agent-deep.jsonl", "subagents"),
        (f"{PROJECT}/s/subagents/agent-deep.meta.json", "sidecar"),
    ]
    assert (found.problems, found.failed_roots) == ([], set())


def test_a_walk_looks_beside_the_logs_for_what_it_knows_by_name(root: Path) -> None:
    for name in ("history.jsonl", "stats-cache.json", "settings.json", ".credentials.json"):
        (root.parent / name).write_bytes(b"{}")
    found = walk([root], [root.parent, root.parent / "absent"])
    assert [(file.root, file.path, file.place.kind) for file in found.files] == [
        (str(root.parent), "history.jsonl", "history"),
        (str(root.parent), "stats-cache.json", "stats"),
    ]
    assert (found.problems, found.failed_roots) == ([], {str(root.parent / "absent")})


def test_a_found_file_carries_what_stat_said(root: Path) -> None:
    log = put(root, f"{PROJECT}/s.jsonl", b"12345")
    os.utime(log, ns=(1, 1_700_000_000_123_456_789))
    seen = log.stat()
    assert walk([root]).files == [
        FoundFile(
            root=str(root),
            path=f"{PROJECT}/s.jsonl",
            place=Place("main", "main", "s", None),
            device=seen.st_dev,
            inode=seen.st_ino,
            size=5,
            mtime_ns=1_700_000_000_123_456_789,
            ctime_ns=seen.st_ctime_ns,
        )
    ]
    assert walk([root]).files[0].full_path() == str(log)


def test_several_roots_are_walked_in_the_order_of_their_paths(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    put(one, "p/b.jsonl")
    put(one, "p/a.jsonl")
    put(two, "p/a.jsonl")
    found = walk([two, one])
    assert [(file.root, file.path) for file in found.files] == [
        (str(one), "p/a.jsonl"),
        (str(one), "p/b.jsonl"),
        (str(two), "p/a.jsonl"),
    ]


def test_a_symbolic_link_to_a_log_is_reported_and_not_followed(root: Path, tmp_path: Path) -> None:
    outside = put(tmp_path, "outside.jsonl")
    put(root, "p/real.jsonl")
    (root / "p" / "away.jsonl").symlink_to(outside)
    (root / "p" / "dangling.jsonl").symlink_to("nowhere")
    found = walk([root])
    assert paths(found) == ["p/real.jsonl"]
    assert problems(found) == {
        "away.jsonl": "skipped: not a regular file",
        "dangling.jsonl": "skipped: not a regular file",
    }


def test_a_loop_of_folders_ends(root: Path) -> None:
    put(root, "p/s.jsonl")
    (root / "p" / "loop").symlink_to(root)
    assert paths(walk([root])) == ["p/s.jsonl"]


def test_a_hard_link_is_read_once_and_reported(root: Path) -> None:
    log = put(root, "p/a.jsonl")
    (root / "p" / "b.jsonl").hardlink_to(log)
    found = walk([root])
    assert paths(found) == ["p/a.jsonl"]
    assert found.problems == []
    assert found.events == [(str(root / "p" / "b.jsonl"), f"same file as {str(log)!r}")]


def test_a_file_below_two_roots_is_read_once(root: Path) -> None:
    put(root, "p/q/a.jsonl")
    found = walk([root, root / "p"])
    assert [(file.root, file.path) for file in found.files] == [(str(root), "p/q/a.jsonl")]
    assert (found.problems, len(found.events)) == ([], 1)


def test_links_that_lead_in_a_circle_are_told_if_they_are_called_like_logs(root: Path) -> None:
    put(root, "p/s.jsonl")
    for name in ("loop", "loop.jsonl"):
        (root / "p" / name).symlink_to(name)
    found = walk([root])
    assert paths(found) == ["p/s.jsonl"]
    assert problems(found) == {"loop.jsonl": "skipped: not a regular file"}
    assert found.failed_roots == set()


@pytest.mark.parametrize("at", ["p", "p/q"])
def test_a_folder_that_is_swapped_for_a_link_while_it_is_walked_leads_nowhere(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    put(root, "p/q/r/s.jsonl")
    put(tmp_path / "outside", "q/r/secret.jsonl")
    put(tmp_path / "outside", "r/secret.jsonl")
    real = os.open

    def swapping(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        if path == Path(at).name:
            (root / at).rename(tmp_path / "away")
            (root / at).symlink_to(tmp_path / "outside")
        return real(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swapping)
    found = walk([root])
    assert paths(found) == []
    assert list(problems(found).values()) == ["cannot list: Not a directory"]
    assert found.failed_roots == {str(root)}


def test_what_lies_behind_a_link_put_above_it_is_not_taken(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "p/q/s.jsonl")
    secret = put(tmp_path / "outside", "q/s.jsonl", b"secret")
    real = os.open

    def swapping(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        if path == "q":
            (root / "p").rename(tmp_path / "away")
            (root / "p").symlink_to(tmp_path / "outside")
        return real(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swapping)
    (file,) = walk([root]).files
    assert (file.path, file.size) == ("p/q/s.jsonl", 3)
    assert file.inode != secret.stat().st_ino


def test_a_folder_that_goes_while_it_is_walked_is_as_empty(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "p/s.jsonl")
    put(root, "q/s.jsonl")
    real = os.open

    def deleting(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        if path == "p":
            shutil.rmtree(root / "p")
        return real(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", deleting)
    found = walk([root])
    assert (paths(found), found.problems, found.failed_roots) == (["q/s.jsonl"], [], set())


def test_a_link_to_a_folder_is_not_followed_and_told(root: Path, tmp_path: Path) -> None:
    put(root, "p/s.jsonl")
    put(tmp_path / "elsewhere", "s.jsonl")
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    found = walk([root])
    assert (paths(found), found.problems) == (["p/s.jsonl"], [])
    assert found.events == [(str(root / "linked"), "skipped: a link to a folder")]


def test_a_log_folder_in_a_log_folder_is_told_of(root: Path) -> None:
    put(root, f"ada/projects/{PROJECT}/s.jsonl")
    found = walk([root])
    assert [(file.path, file.place.layout) for file in found.files] == [
        (f"ada/projects/{PROJECT}/s.jsonl", "other")
    ]
    ((path, what),) = found.events
    assert path == str(root / "ada" / "projects")
    assert "--logs" in what


def test_folders_without_end_are_left_at_a_depth(root: Path) -> None:
    put(root, "p/s.jsonl")
    put(root, "d/" * 70 + "s.jsonl")
    found = walk([root])
    assert paths(found) == ["p/s.jsonl"]
    assert list(problems(found).values()) == ["skipped: too many folders deep"]


def test_a_pipe_is_reported_and_never_opened(root: Path) -> None:
    put(root, "p/s.jsonl")
    os.mkfifo(root / "p" / "pipe.jsonl")
    found = walk([root])
    assert paths(found) == ["p/s.jsonl"]
    assert problems(found) == {"pipe.jsonl": "skipped: not a regular file"}


def test_a_folder_that_is_called_like_a_log_is_a_folder(root: Path) -> None:
    put(root, "p/x.jsonl/s/subagents/agent-a.jsonl")
    found = walk([root])
    assert [(file.place.session_id, file.place.agent_id) for file in found.files] == [("s", "a")]
    assert found.problems == []


def test_an_odd_thing_that_is_no_log_is_no_problem(root: Path) -> None:
    (root / "p").mkdir()
    os.mkfifo(root / "p" / "pipe")
    (root / "p" / "notes.txt").symlink_to("nowhere")
    assert walk([root]) == Walk()


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        "café",
        "cafe\u0301",
        "日本語",
        "🚢",
        "new\nline",
        "quo'te\"",
        "*?[a]",
        "..a",
        "-x",
    ],
)
def test_a_name_may_be_odd(root: Path, name: str) -> None:
    log = put(root, f"{name}/{name}.jsonl")
    (file,) = walk([root]).files
    assert (file.path, file.place.session_id) == (f"{name}/{name}.jsonl", name)
    assert Path(file.full_path()).samefile(log)


def test_a_name_that_is_not_utf_8_is_reported(root: Path) -> None:
    put(root, "p/s.jsonl")
    with open(os.fsencode(root) + b"/p/\xff.jsonl", "wb") as odd:  # noqa: PTH123 - bytes for a name
        odd.write(b"{}\n")
    found = walk([root])
    assert paths(found) == ["p/s.jsonl"]
    ((path, what),) = found.problems
    assert path.endswith("/\\xff.jsonl")
    assert "UTF-8" in what


def test_a_root_that_cannot_be_listed_is_a_failed_root(root: Path, tmp_path: Path) -> None:
    put(root, "p/s.jsonl")
    absent = tmp_path / "absent"
    found = walk([absent, root])
    assert paths(found) == ["p/s.jsonl"]
    assert found.failed_roots == {str(absent)}
    assert found.problems == [(str(absent), "cannot list: No such file or directory")]


def test_an_empty_root_is_no_failure(root: Path) -> None:
    assert walk([root]) == Walk()
