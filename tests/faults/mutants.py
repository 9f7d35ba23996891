"""A command whose durability is broken on purpose, in its own process: what the tests must catch.

Run as `python -m tests.faults.mutants MUTANT sync ...`.
"""

import os
import stat
import sys
from pathlib import Path

from etl.cli import main

# What is left out, or done wrong, by each.
MUTANTS = {
    "any": "no fsync at all",
    "parquet": "no fsync of Parquet files",
    "folder": "no fsync of folders",
    "document": "no fsync of the commit document",
}
TOO_EARLY = "late write"  # fsync first, and write after it


def break_durability(mutant: str) -> None:
    """Leave out the fsyncs of one kind, in this process and in those that it forks."""
    real = os.fsync

    def fsync(descriptor: int) -> None:
        kind = kind_of(descriptor)
        if mutant not in {"any", kind}:
            real(descriptor)
        if mutant == TOO_EARLY and kind == "parquet":
            write_last_byte_again(descriptor)

    vars(os)["fsync"] = fsync


def kind_of(descriptor: int) -> str:
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        return "folder"
    return "parquet" if path_of(descriptor).suffix == ".parquet" else "document"


def path_of(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}").readlink()


def write_last_byte_again(descriptor: int) -> None:
    """Change nothing, but leave a page that is not on the disk yet."""
    content = path_of(descriptor).read_bytes()
    os.pwrite(descriptor, content[-1:], len(content) - 1)


if __name__ == "__main__":
    break_durability(sys.argv.pop(1))
    main()
