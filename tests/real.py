"""`python -m tests.real DIR…`: sync any tree of logs, check it, rebuild it, print the account.

Exit code 1 if a line is not accounted for, a check speaks up, or an entry comes back otherwise.
"""

import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click
import duckdb

from etl import restore, sqlfiles, views
from etl.commit import Warehouse
from etl.compare import meaning_of
from etl.config import Settings
from etl.discover import config_of
from etl.output import say, show_table
from etl.pipeline import sync

_FILES = """
select root, path, file_id, generation, size, "offset", octet_length(pending) as pending
from source_files where kind in ('main', 'agent', 'other') and layout <> 'tool_result'
order by root, path
"""
_ORPHANS = """
select count(*)
from raw.content_blocks as answers
anti join raw.content_blocks as calls
    on answers.tool_use_id = calls.tool_use_id and calls.block_type like '%tool_use'
where answers.block_type = 'tool_result'
"""
_AGENTS = """
select
    case
        when tool_use_id is not null then 'agents linked by ' || link_rule
        when is_warmup then 'agents not linked: warm-ups, which nobody calls'
        when not exists (
            from source_files as files
            where files.session_id = agents.session_id and files.kind = 'main'
        ) then 'agents not linked: the log of their session is not there'
        when not exists (
            from tool_calls as calls
            where calls.session_id = agents.session_id and calls.tool_name in ('Task', 'Agent')
        ) then 'agents not linked: their session calls no agent'
        else 'agents not linked: no evidence'
    end as what,
    count(*)
from agents
group by all
order by all
"""


@dataclass(slots=True)
class Account:
    """What the lines of all files came to."""

    files: int = 0
    bytes: int = 0
    lines: int = 0
    same: int = 0
    other: int = 0
    unaccounted_bytes: int = 0


def counted(con: duckdb.DuckDBPyConnection) -> Account:
    """Compare every file on disk with what the warehouse gives back."""
    account = Account()
    for root, path, file_id, generation, size, offset, pending in con.execute(_FILES).fetchall():
        logged = Path(root, path).read_bytes()[:size]
        account.files += 1
        account.bytes += size
        account.unaccounted_bytes += size - offset - pending
        lines = logged[:offset].split(b"\n")[:-1]
        back = list(restore.lines_of(con, file_id, generation))
        back += [b""] * (len(lines) - len(back))
        account.lines += len(lines)
        for line, again in zip(lines, back, strict=True):
            is_same = meaning_of(line) == meaning_of(again)
            account.same += is_same
            account.other += not is_same
    return account


def roots_in(folder: Path) -> list[Path]:
    """Return every projects directory in a tree; the tree itself if there is none."""
    below = sorted(path for path in folder.rglob("projects") if path.is_dir())
    return below or [folder]


@click.command()
@click.argument("logs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(logs: tuple[Path, ...]) -> None:
    """Account for every line below some folders that hold Claude config directories, or are one."""
    roots = tuple(root for folder in logs for root in roots_in(folder.resolve()))
    with tempfile.TemporaryDirectory() as folder:
        configs = tuple(config for root in roots if (config := config_of(root)))
        run = sync(Settings(roots, Path(folder) / "lake", "real", 2, configs))
        for path, problem in run.problems:
            say(f"{path}: {problem}")
        with closing(views.connect(Warehouse(Path(folder) / "lake"), time_zone="UTC")) as con:
            sys.exit(report(con))


def report(con: duckdb.DuckDBPyConnection) -> int:
    """Print the account and return the exit code."""
    account = counted(con)
    rows: list[tuple[str, object]] = [
        ("files", account.files),
        ("bytes", account.bytes),
        ("bytes not accounted for", account.unaccounted_bytes),
        ("lines", account.lines),
        ("lines rebuilt equal", account.same),
        ("lines rebuilt otherwise", account.other),
    ]
    rows += con.execute("select 'objects', count(*) from raw.entries").fetchall()
    rows += con.execute("select 'rejects', count(*) from rejects").fetchall()
    reasons = "select 'rejects: ' || reason, count(*) from rejects group by all order by all"
    rows += con.execute(reasons).fetchall()
    rows += [("tool results without their call", con.execute(_ORPHANS).fetchall()[0][0])]
    rows += con.execute(_AGENTS).fetchall()
    unknown = con.execute("select kind, name, rows from format_drift order by all").fetchall()
    rows += [("kinds and fields not known", len(unknown))]
    rows += [(f"not known: {kind} {name}", count) for kind, name, count in unknown]
    broken = {
        check.name: len(con.execute(check.query).fetchall()) for check in sqlfiles.load("checks")
    }
    rows += [(f"check: {name}", "silent" if not n else f"{n} rows") for name, n in broken.items()]
    show_table(["account", "count"], rows)
    return int(bool(account.unaccounted_bytes or account.other or any(broken.values())))


if __name__ == "__main__":
    main()
