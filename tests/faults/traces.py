"""What a command asked of the kernel, as strace saw it, and what it should not have."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from etl.commit import Warehouse
from tests.faults.disks import need

TOP = Path(__file__).resolve().parent.parent.parent
WRITES = frozenset(
    [
        "write",
        "pwrite64",
        "writev",
        "pwritev",
        "pwritev2",
        "ftruncate",
        "fallocate",
        "copy_file_range",
        "sendfile",
        "splice",
        "fchmod",
        "fchown",
        "fsetxattr",
        "fremovexattr",
        "sync_file_range",
    ]
)
SYNCS = frozenset({"fsync", "fdatasync"})
CHANGES = WRITES | frozenset(
    [
        "truncate",
        "rename",
        "renameat",
        "renameat2",
        "link",
        "linkat",
        "unlink",
        "unlinkat",
        "symlink",
        "symlinkat",
        "mkdir",
        "mkdirat",
        "rmdir",
        "mknod",
        "mknodat",
        "chmod",
        "fchmodat",
        "fchmodat2",
        "chown",
        "lchown",
        "fchownat",
        "utime",
        "utimes",
        "utimensat",
        "futimesat",
        "setxattr",
        "lsetxattr",
        "removexattr",
        "lremovexattr",
        "creat",
        "flock",
    ]
)
OPENS = frozenset({"open", "openat", "openat2"})
SEEN = f"%file,%network,flock,{','.join(sorted(WRITES | SYNCS))}"
WRITING = re.compile(r"\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b")
CAREFUL = {"O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"}

WHOLE = re.compile(r"(\w+)\((.*)\) += (-?\w+)")
BEGUN = re.compile(r"(\w+)\((.*) <unfinished \.\.\.>")
RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)\) += (-?\w+)")
PLACE = re.compile(r'(?:AT_FDCWD|\d+)<([^>]*)>(?:, "([^"]*)")?|"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Call:
    """One call that succeeded, when it began and ended, and the paths that it names."""

    name: str
    arguments: str
    began: int
    ended: int
    paths: tuple[str, ...]

    def is_before(self, other: "Call") -> bool:
        return self.ended < other.began


Trace = list[Call]


def traced(notes: Path, *command: str) -> tuple[int, Trace]:
    """Run Python under strace; return its exit code and its calls."""
    need("strace")
    options = ["-f", "-y", "-qq", "-s", "0", "-e", f"trace={SEEN}", "-e", "signal=none"]
    whole = ["strace", "--seccomp-bpf", *options, "-o", str(notes), sys.executable, *command]
    done = subprocess.run(whole, cwd=TOP, capture_output=True, check=False, timeout=120)
    return done.returncode, list(calls_in(notes.read_text(errors="replace")))


def calls_in(text: str) -> Iterator[Call]:
    """Yield the calls that succeeded; one that another process cut into is put together again."""
    begun: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(text.splitlines()):
        process, _, rest = line.partition(" ")
        if match := BEGUN.match(rest.strip()):
            begun[process] = (number, match[2])
        elif (match := RESUMED.match(rest.strip())) and match[3] != "-1":
            began, arguments = begun.pop(process)
            yield call_of(match[1], arguments + match[2], began, number)
        elif (match := WHOLE.match(rest.strip())) and match[3] != "-1":
            yield call_of(match[1], match[2], number, number)


def call_of(name: str, arguments: str, began: int, ended: int) -> Call:
    """Find the paths, those of descriptors too; what is written to one is no path."""
    found = [one for one in PLACE.finditer(arguments) if one[1] or name not in WRITES | SYNCS]
    paths = (os.path.join(one[1] or "", one[2] or one[3] or "").rstrip("/") for one in found)  # noqa: PTH118 - an absolute name wins
    return Call(name, arguments, began, ended, tuple(paths))


# ---- What must be on the disk before what.


def not_durable(trace: Trace, lake: Warehouse) -> list[str]:
    """Return what a power cut could take of the commits that were made, in words."""
    links = [one for one in trace if one.name in {"link", "linkat"} and is_commit(one, lake)]
    missing = ["there is no commit"] if not links else []
    return [*missing, *(wrong for link in links for wrong in _not_durable(trace, lake, link))]


def is_commit(link: Call, lake: Warehouse) -> bool:
    return Path(link.paths[1]).parent == lake.commits


def _not_durable(trace: Trace, lake: Warehouse, link: Call) -> Iterator[str]:
    for folder in unsynced_folders(trace, lake, link):
        yield f"{folder.name} was made, and the folder it is in not synced before the commit"
    staged, name = map(Path, link.paths)
    if not is_synced(trace, staged.name, link):
        yield "the commit document was not synced after its last write"
    for file in lake.read_commit(int(name.stem)).files:
        moves = [one for one in trace if one.name == "rename" and file.name in one.paths[1]]
        if any(one.name in WRITES and file.name in one.paths[0] for one in trace if one.paths):
            if not is_synced(trace, file.name, link):
                yield f"{file.table} was not synced after its last write"
            if not moves or not is_folder_synced(trace, lake.files, moves[-1], link):
                yield f"{file.table} was moved, and its folder not synced before the commit"
    if not is_folder_synced(trace, lake.commits, link, None):
        yield "the commit was linked, and its folder not synced"


def is_synced(trace: Trace, name: str, link: Call) -> bool:
    """Say whether a file is synced between its last write and the link."""
    of_file = [one for one in trace if one.paths and Path(one.paths[0]).name == name]
    writes = [one for one in of_file if one.name in WRITES]
    return bool(writes) and any(
        one.name in SYNCS and writes[-1].is_before(one) and one.is_before(link) for one in of_file
    )


def is_folder_synced(trace: Trace, folder: Path, after: Call, before: Call | None) -> bool:
    return any(
        one.name in SYNCS
        and one.paths == (str(folder),)
        and after.is_before(one)
        and (before is None or one.is_before(before))
        for one in trace
    )


def unsynced_folders(trace: Trace, lake: Warehouse, link: Call) -> Iterator[Path]:
    """Yield the folders on the way to what a commit needs that a power cut could take."""
    needed = {lake.commits, lake.files, *lake.files.parents}
    for one in trace:
        if one.name in {"mkdir", "mkdirat"} and one.is_before(link):
            folder = Path(one.paths[0])
            if folder in needed and not is_folder_synced(trace, folder.parent, one, link):
                yield folder


# ---- What must not be done at all.


def changes_below(trace: Trace, root: Path) -> list[str]:
    """Return the calls that change, or could change, what lies below a folder."""
    return [
        f"{one.name} {path}"
        for one in trace
        for path in one.paths
        if Path(path).is_relative_to(root)
        if one.name in CHANGES or (one.name in OPENS and WRITING.search(one.arguments))
    ]


def careless_opens(trace: Trace, root: Path) -> list[str]:
    """Return the files below a folder that were opened as if nobody could have swapped them."""
    return [
        path
        for one in trace_of_files(trace, root)
        for path in one.paths
        if not set(re.findall(r"O_\w+", one.arguments)) >= CAREFUL
    ]


def trace_of_files(trace: Trace, root: Path) -> Trace:
    """Return the calls that opened a file below a folder."""
    return [
        one
        for one in trace
        if one.name in OPENS and "O_DIRECTORY" not in one.arguments
        if Path(one.paths[0]).is_relative_to(root)
    ]


def talk(trace: Trace) -> list[str]:
    """Return the calls with which a process would leave its machine."""
    return [
        f"{one.name}({one.arguments})"
        for one in trace
        if one.name == "connect" or (one.name == "socket" and "AF_UNIX" not in one.arguments)
    ]
