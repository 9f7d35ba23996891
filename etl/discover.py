"""Find the logs: every file of a session below the roots, with what its place says about it.

Beside the roots, in the config directory, lie the typed prompts and Claude Code's own statistics.

Symbolic links are not followed; what is not a regular file is reported, never opened.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

AGENT_PREFIX = "agent-"
_DEEPEST_FOLDER = 64
_OTHER_TREE = "logs of its own: kept as copies, counted only if --logs names it"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """What the path alone says about a file."""

    kind: str
    layout: str
    session_id: str | None
    agent_id: str | None


_AROUND = {
    "history.jsonl": Place("history", "other", None, None),
    "stats-cache.json": Place("stats", "other", None, None),
}


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file on disk, as the walk saw it."""

    root: str
    path: str
    place: Place
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    def full_path(self) -> str:
        """Return where the file lies."""
        return _whole(self.root, self.path)


@dataclass(slots=True)
class Walk:
    """All that one walk found, and what it could not look into."""

    files: list[FoundFile] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    events: list[tuple[str, str]] = field(default_factory=list)
    failed_roots: set[str] = field(default_factory=set)


def projects_of(folder: Path) -> Path:
    """Take a Claude config directory or a projects directory; return the projects directory."""
    below = folder / "projects"
    return below if below.is_dir() else folder


def config_of(folder: Path) -> Path | None:
    """Take a Claude config directory or a projects directory; return the config directory."""
    if (folder / "projects").is_dir():
        return folder
    return folder.parent if folder.name == "projects" else None


def walk(roots: Iterable[Path], configs: Iterable[Path] = ()) -> Walk:
    """Find every log and sidecar below the roots, each file once, in the order of their paths.

    Of a config directory only the files that are known by name are looked at.
    """
    found = Walk()
    for root in roots:
        _walk_below(os.fspath(root), "", found)
    for config in map(os.fspath, configs):
        if not os.path.isdir(config):  # noqa: PTH112 - as everywhere in this module
            found.failed_roots.add(config)
        for name, place in _AROUND.items():
            _take(config, name, place, found)  # Named by the user, so links on the way are fine.
    found.files.sort(key=lambda file: (file.root, file.path))
    found.files = list(_without_hard_links(found))
    return found


def place_of(path: str) -> Place | None:
    """Tell kind, session and agent from a path below the root; None if it is no log of ours."""
    *folders, name = path.split("/")
    if not folders:
        return None  # Logs lie in a project's folder.
    if "subagents" in folders[1:]:
        return _place_below_subagents(folders, name)
    return _place_in_session(folders, name) or _place_of_session(folders, name)


def _place_of_session(folders: list[str], name: str) -> Place | None:
    if ".orphaned" in name or ".superseded" in name:
        return Place("other", "other", name.partition(".")[0], None)
    if name.endswith(".jsonl"):
        return _place_beside_sessions(folders, name)
    if ".jsonl." in name:
        return Place("other", "other", name.partition(".jsonl.")[0], None)
    return None


def _place_in_session(folders: list[str], name: str) -> Place | None:
    """Tell what else lies in a project's folder, or in a session's."""
    match folders, name:
        case [_], "sessions-index.json":
            return Place("index", "other", None, None)
        case [_, session, "tool-results", *_], _:
            return Place("other", "tool_result", session, None)
        case [_, session], "custom-title.json":
            return Place("sidecar", "sidecar", session, None)
        case [_, session, "workflows"], _ if name.startswith("wf_") and name.endswith(".json"):
            return Place("sidecar", "sidecar", session, None)
    return None


def _place_below_subagents(folders: list[str], name: str) -> Place | None:
    at = folders.index("subagents", 1)
    session = folders[at - 1]
    stem, _, ending = name.partition(".")
    agent = stem.removeprefix(AGENT_PREFIX) if stem.startswith(AGENT_PREFIX) else None
    if ending == "meta.json" and agent:
        return Place("sidecar", "sidecar", session, agent)
    if ending == "jsonl" and agent:
        layout = "workflow" if "workflows" in folders[at:] else "subagents"
        return Place("agent", layout, session, agent)
    return Place("other", "other", session, agent) if "jsonl" in ending.split(".") else None


def _place_beside_sessions(folders: list[str], name: str) -> Place:
    stem = name.removesuffix(".jsonl")
    if len(folders) > 1:
        return Place("other", "other", folders[1], None)
    if stem.startswith(AGENT_PREFIX):
        return Place("agent", "flat", None, stem.removeprefix(AGENT_PREFIX))
    return Place("main", "main", stem, None)


def _walk_below(root: str, below: str, found: Walk, above: int | None = None) -> None:
    """Take what lies in a folder. Each is opened from the one above, so no swap leads astray."""
    name = below.rpartition("/")[2] if below else root
    try:
        folder = os.open(name, _FOLDER | (os.O_NOFOLLOW if below else 0), dir_fd=above)
    except OSError as error:
        _not_listed(root, below, error, found)
        return
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        _not_listed(root, below, error, found)
    else:
        for entry in entries:
            _look_at(entry, root, f"{below}/{entry.name}".lstrip("/"), found, folder)
    finally:
        os.close(folder)


def _not_listed(root: str, below: str, error: OSError, found: Walk) -> None:
    if below and isinstance(error, FileNotFoundError):
        return  # It went between the listing and the look, with all that was in it.
    whole = _whole(root, below) if below else root
    found.problems.append((shown(whole), f"cannot list: {error.strerror}"))
    found.failed_roots.add(root)


def _look_at(entry: os.DirEntry[str], root: str, path: str, found: Walk, folder: int) -> None:
    if not _is_folder(entry):
        place = place_of(path)
        if place is not None:
            _take(root, path, place, found, folder)
    elif entry.is_symlink():
        found.events.append((shown(_whole(root, path)), "skipped: a link to a folder"))
    elif path.count("/") >= _DEEPEST_FOLDER:
        found.problems.append((shown(_whole(root, path)), "skipped: too many folders deep"))
    else:
        if path.endswith("/projects"):
            found.events.append((shown(_whole(root, path)), _OTHER_TREE))
        _walk_below(root, path, found, folder)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Say whether it is a folder, or a link to one; a link in a circle leads nowhere."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _whole(root: str, path: str) -> str:
    return os.path.join(root, path)  # noqa: PTH118 - hot, and paths may be any bytes


def _take(root: str, path: str, place: Place, found: Walk, folder: int | None = None) -> None:
    whole = _whole(root, path)
    name = whole if folder is None else path.rpartition("/")[2]
    try:
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return  # It went between the listing and the look, or was never there.
    except OSError as error:
        found.problems.append((shown(whole), f"cannot look at it: {error.strerror}"))
        found.failed_roots.add(root)
        return
    if not stat.S_ISREG(seen.st_mode):
        found.problems.append((shown(whole), "skipped: not a regular file"))
        return
    if not _is_unicode(whole):
        found.problems.append((shown(whole), "skipped: its name is not UTF-8; rename it"))
        return
    found.files.append(
        FoundFile(
            root=root,
            path=path,
            place=place,
            device=_signed(seen.st_dev),
            inode=_signed(seen.st_ino),
            size=seen.st_size,
            mtime_ns=seen.st_mtime_ns,
            ctime_ns=seen.st_ctime_ns,
        )
    )


def shown(path: str) -> str:
    """Return a path as text that every column and terminal can hold."""
    return os.fsencode(path).decode(errors="backslashreplace")


def _is_unicode(path: str) -> bool:
    """Claude Code names nothing so, and no column could hold it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def _without_hard_links(found: Walk) -> Iterator[FoundFile]:
    seen: dict[tuple[int, int], FoundFile] = {}
    for file in found.files:
        first = seen.setdefault((file.device, file.inode), file)
        if first is file:
            yield file
        else:
            found.events.append((file.full_path(), f"same file as {first.full_path()!r}"))
