"""The made-up trees of a benchmark: made once, kept in .bench, and copied before they change."""

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson

from etl import demo
from etl.output import say
from tests.sessions import encoded, user

TOP = Path(__file__).resolve().parents[2]
BENCH = TOP / ".bench"
SEED = 1


@contextmanager
def workplace() -> Iterator[Path]:
    """Give an empty folder on the repository's own disk, and take it away again."""
    place = BENCH / "work"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def tree_of(megabytes: float) -> Path:
    """Return a tree of that size: the one in .bench, unless its writer has changed since."""
    tree = BENCH / f"tree-{megabytes:g}mb-{_writer_hash()}"
    if not tree.is_dir():
        for stale in BENCH.glob(f"tree-{megabytes:g}mb-*"):
            shutil.rmtree(stale)
        say(f"making a tree of {megabytes:g} MB")
        unfinished = BENCH / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        demo.write_tree(unfinished, megabytes=megabytes, seed=SEED)
        unfinished.rename(tree)
    return tree


def _writer_hash() -> str:
    sources = sorted(Path(demo.__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def copy_of(folder: Path, target: Path) -> Path:
    """Return a copy that may be changed: a tree's, or a warehouse's with its links."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(folder, target, symlinks=True))


def truth_of(tree: Path) -> dict[str, object]:
    """Return what a right reader must find in a tree."""
    truth: dict[str, object] = orjson.loads((tree / "truth.json").read_bytes())
    return truth


def logs_of(tree: Path) -> list[Path]:
    """Return the logs that a sync reads, smallest first."""
    logs = (tree / "projects").rglob("*.jsonl")
    return sorted(logs, key=lambda log: (log.stat().st_size, log))


def bytes_of(tree: Path) -> int:
    """Return the size of the logs and what lies beside them."""
    return sum(path.stat().st_size for path in (tree / "projects").rglob("*") if path.is_file())


def lines_of(tree: Path) -> list[bytes]:
    """Return all whole lines that are not blank."""
    pieces = (log.read_bytes().split(b"\n")[:-1] for log in logs_of(tree))
    return [line for piece in pieces for line in piece if line.strip()]


def append_line(log: Path, uuid: str = "bench-0001") -> int:
    """Add one more prompt to a log that ends in a whole line; return its bytes."""
    line = encoded([user("One more thing.", uuid, sessionId=log.stem)])
    with log.open("ab") as sink:
        return sink.write(line)


def whole_logs(tree: Path) -> list[Path]:
    """Return the main logs that can be appended to: not empty, and no tail that waits."""
    mains = [log for log in logs_of(tree) if log.parent.parent.name == "projects"]
    return [log for log in mains if "agent-" not in log.name and log.read_bytes()[-1:] == b"\n"]


def remove(folder: Path) -> None:
    """Take a warehouse away, if it is there."""
    shutil.rmtree(folder, ignore_errors=True)
