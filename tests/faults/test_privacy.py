"""No network at all, sources only read, and a warehouse that is locked or another user's."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.faults.tally import Tally
from tests.sessions import PROJECT, SESSION, append, assistant, run_sync, user, write_log

TOP = Path(__file__).resolve().parent.parent.parent
NOBODY = 65534
LATER = "-p/22222222-2222-4222-8222-222222222222.jsonl"
OUTSIDE = (
    "install httpfs",
    "install h3 from community",
    "from 'https://127.0.0.1:9/x.parquet'",
    "from read_csv('http://127.0.0.1:9/x.csv')",
    "attach 's3://bucket/x.duckdb'",
)
# Many commands in one process: starting one for each would take most of the time.
RUN = """
import json, os, sys
from click.testing import CliRunner
from etl.cli import main

def ended(arguments):
    result = CliRunner().invoke(main, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return [result.exit_code, result.stdout, result.stderr]

commands, rehearsal, user = json.loads(sys.argv[1])
for arguments in rehearsal:
    ended(arguments)
if user is not None:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
print(json.dumps([ended(arguments) for arguments in commands]))
"""
Commands = Sequence[Sequence[str | Path]]

is_linux_root = sys.platform == "linux" and os.geteuid() == 0
needs_root = pytest.mark.skipif(not is_linux_root, reason="needs Linux and root")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    stdout: str
    stderr: str


def run(commands: Commands, *wrapped_in: str | Path) -> list[Ended]:
    return _run(*wrapped_in, told=(commands, (), None))


def run_as_nobody(commands: Commands, rehearsal: Commands) -> list[Ended]:
    """Run commands without any rights; rehearsed, for nobody may not even read our modules."""
    return _run(told=(commands, rehearsal, NOBODY))


def _run(*wrapped_in: str | Path, told: tuple[Commands, Commands, int | None]) -> list[Ended]:
    outer = subprocess.run(
        [*map(str, wrapped_in), sys.executable, "-B", "-c", RUN, json.dumps(told, default=str)],
        cwd=TOP,
        env=os.environ | {"HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert outer.returncode == 0, outer.stderr
    return [Ended(*one) for one in json.loads(outer.stdout)]


@pytest.fixture
def tree(logs: Path) -> Path:
    """Logs of two months, so that two workers have something to do."""
    write_log(logs, [user("hi"), assistant()])
    write_log(logs, [user("ho", "u9", timestamp="2026-05-01T08:00:00.000Z")], LATER)
    return logs


def every_command(tree: Path, folder: Path) -> list[list[str | Path]]:
    by_day = "select day, sum(output_tokens) from daily_spend group by day"
    commands: list[list[str | Path]] = [
        ["sync", "--logs", tree, "--jobs", "2"],
        ["sync", "--logs", tree],
        ["query", by_day, "--tz", "Europe/Berlin"],
        ["status"],
        ["sessions"],
        ["views"],
        ["restore", SESSION, "--to", folder / "back"],
        ["prices", "explain", "msg_1"],
    ]
    return [[*command, "--warehouse", folder / "lake"] for command in commands]


def questions_outside(lake: Path) -> list[list[str | Path]]:
    return [["query", sql, "--warehouse", lake] for sql in OUTSIDE]


# ---- No network.


@needs_root
def test_everything_works_without_any_network_and_nothing_waits_for_one(
    tree: Path, tmp_path: Path, tally: Tally
) -> None:
    commands = every_command(tree, tmp_path)
    asking = questions_outside(tmp_path / "lake")
    ended = run([*commands, *asking], "unshare", "--net")
    tally.injected += 1
    tally.bad_inputs += len(OUTSIDE)
    assert [one.code for one in ended] == [0] * len(commands) + [2] * len(OUTSIDE)
    for one in ended[len(commands) :]:
        assert one.stdout == ""
        assert one.stderr.startswith("cclake: a query reaches no network and loads no extension: ")
    assert (tmp_path / "back" / PROJECT / f"{SESSION}.jsonl").exists()


STRACE = ("strace", "-f", "-qq", "-s", "512", "-e", "trace=%network,%file")
SOCKET = re.compile(r"(?:socket|connect|sendto|bind)\((?!AF_UNIX|\d+, \{sa_family=AF_UNIX)")
# All that a command may do to a source: look at it, and open it to read.
READING = re.compile(
    r"(?:access|faccessat2?|l?stat|newfstatat|statx|readlink|readlinkat|l?getxattr|execve)\("
    r"|openat?\((?!.*O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND))"
)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_no_command_opens_a_socket_or_changes_a_source(
    tree: Path, tmp_path: Path, tally: Tally
) -> None:
    asking = questions_outside(tmp_path / "lake")
    trace = tmp_path / "trace"
    run([*every_command(tree, tmp_path), *asking], *STRACE, "-o", trace)
    calls = [line.partition(" ")[2].strip() for line in trace.read_text().splitlines()]
    outward = [call for call in calls if SOCKET.match(call)]
    at_sources = [call for call in calls if f'"{tree}/projects' in call]
    changing = [call for call in at_sources if not READING.match(call)]
    tally.injected += 1
    tally.bad_inputs += len(OUTSIDE)
    tally.violations += len(outward) + len(changing)
    assert any(call.startswith("openat(") and ".jsonl" in call for call in at_sources)
    assert (outward, changing) == ([], [])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_the_trace_sees_a_socket_and_every_change_of_a_source(
    tree: Path, tmp_path: Path, tally: Tally
) -> None:
    log = tree / "projects" / LATER
    changes = (
        "open(log, 'ab').close()",
        "os.chmod(log, 0o600)",
        "os.utime(log)",
        "os.rename(log, log + '.moved')",
        "os.unlink(log + '.moved')",
        "socket.socket(socket.AF_INET).close()",
    )
    trace = tmp_path / "trace"
    script = "\n".join(["import os, socket, sys", "log = sys.argv[1]", *changes])
    traced = [*STRACE, "-o", str(trace), sys.executable, "-c", script, str(log)]
    subprocess.run(traced, check=True)
    calls = [line.partition(" ")[2].strip() for line in trace.read_text().splitlines()]
    at_sources = [call for call in calls if f'"{tree}/projects' in call]
    caught = [call for call in at_sources if not READING.match(call)]
    caught += [call for call in calls if SOCKET.match(call)]
    tally.mutants_planted += len(changes)
    tally.mutants_caught += len(caught)
    assert len(caught) == len(changes), caught


# ---- Sources.


def marks_of(folder: Path) -> dict[Path, tuple[int, int, int, int, int]]:
    return {
        path: (seen.st_ino, seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
        for path in [folder, *folder.rglob("*")]
        for seen in [path.lstat()]
    }


def test_a_sync_leaves_no_mark_on_any_source(tree: Path, tmp_path: Path) -> None:
    before = marks_of(tree)
    assert run_sync(tree, tmp_path / "lake").is_committed
    assert not run_sync(tree, tmp_path / "lake").is_committed
    assert marks_of(tree) == before


# ---- A warehouse that nobody may write, and that of another user.


def assert_only_questions_work(lake: Path, asked: list[Ended]) -> None:
    query, status, sessions, sync, views = asked
    assert (query.code, query.stdout, query.stderr) == (0, "n\n1\n", "")
    assert (status.code, status.stderr, sessions.code, sessions.stderr) == (0, "", 0, "")
    for one in (sync, views):
        assert (one.code, one.stdout) == (5, ""), one
        assert one.stderr.startswith("cclake: ")
        assert str(lake) in one.stderr
        assert "Traceback" not in one.stderr
    assert "nothing was committed" in sync.stderr


def questions_and_changes(logs: Path, lake: Path) -> list[list[str | Path]]:
    commands: list[list[str | Path]] = [
        ["query", "select count(*) as n from usage", "--format", "csv"],
        ["status"],
        ["sessions"],
        ["sync", "--logs", logs],
        ["views"],
    ]
    return [[*command, "--warehouse", lake] for command in commands]


@pytest.mark.slow
@needs_root
def test_a_warehouse_on_a_disk_that_takes_no_writes_answers_and_refuses_a_sync(
    tree: Path, tmp_path: Path, tally: Tally
) -> None:
    lake = tmp_path / "lake"
    run_sync(tree, lake)
    append(tree / "projects" / LATER, user("more", "u10", 9))
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    wrapped_in = ("unshare", "--mount", "sh", "-c", mount, lake)
    asked = run(questions_and_changes(tree, lake), *wrapped_in)
    tally.injected += 1
    tally.ended += 2
    assert_only_questions_work(lake, asked)
    assert run_sync(tree, lake).is_committed


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user can reach; pytest's own is for one."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def rehearsal(tree: Path, tmp_path: Path) -> Commands:
    commands = questions_and_changes(tree, tmp_path / "rehearsed")
    return [*reversed(commands), *commands]


def give_away(folder: Path, owner: int) -> None:
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, owner, owner, follow_symlinks=False)


@pytest.mark.slow
@needs_root
def test_a_warehouse_that_its_owner_made_read_only_answers_and_refuses_a_sync(
    shared: Path, rehearsal: Commands, tally: Tally
) -> None:
    logs, lake = shared / "logs", shared / "lake"
    write_log(logs, [user("hi"), assistant()])
    run_sync(logs, lake)
    append(logs / "projects" / PROJECT / f"{SESSION}.jsonl", user("more", "u2", 9))
    give_away(shared, NOBODY)
    for path in [lake, *lake.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o500 if path.is_dir() else 0o400)
    asked = run_as_nobody(questions_and_changes(logs, lake), rehearsal)
    tally.injected += 1
    tally.ended += 2
    assert_only_questions_work(lake, asked)


@pytest.mark.slow
@needs_root
@pytest.mark.parametrize(("owner", "told"), [(0, "is not yours to read"), (1234, "another user")])
def test_the_warehouse_of_another_user_is_refused(
    shared: Path, rehearsal: Commands, tally: Tally, owner: int, told: str
) -> None:
    logs, lake = shared / "logs", shared / "lake"
    write_log(logs, [user("hi"), assistant()])
    run_sync(logs, lake)
    give_away(lake, owner)
    asked = run_as_nobody(questions_and_changes(logs, lake), rehearsal)
    tally.injected += 1
    tally.ended += len(asked)
    for one in asked:
        assert (one.code, one.stdout) == (4, "")
        assert told in one.stderr
        assert "hint: run as " in one.stderr
