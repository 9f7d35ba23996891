"""DuckDB's own client gets the terminal: the views of one snapshot, read-only, without network.

A stand-in called duckdb, which does with a real DuckDB what it is told, tries what goes on in a
terminal; the real client, which comes with the packages of the tests, reads every view.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from etl import client, sqlfiles
from etl.commit import Warehouse
from etl.errors import UsageError
from tests.sessions import append, assistant, run_sync, user, write_log
from tests.terminals import stand_in, terminal

# It opens what it is given, runs its orders, and then every line that is typed.
OBEDIENT = """
import duckdb
*orders, path = sys.argv[1:]
con = duckdb.connect(path, read_only='-readonly' in orders)
for order, sql in zip(orders, orders[1:]):
    if order == '-cmd': con.execute(sql)
print('at', path, flush=True)
while True:
    try:
        if not (line := sys.stdin.readline().strip()): sys.exit(3)
        print(con.sql(line).fetchall(), flush=True)
    except duckdb.Error as error: print('no:', error, flush=True)
    except KeyboardInterrupt: print('heard', flush=True)
"""
NAMES = (
    *("TimeZone", "enable_external_access", "autoload_known_extensions"),
    *("autoinstall_known_extensions", "allow_community_extensions", "extension_directory"),
)
SETTINGS = f"select concat_ws(' ', {', '.join(map('current_setting({!r})'.format, NAMES))})"
SET = "Asia/Kolkata false false false false /dev/null"


@pytest.fixture
def lake(logs: Path, tmp_path: Path) -> Path:
    """A warehouse with one response."""
    write_log(logs, [user("Hi"), assistant()])
    run_sync(logs, tmp_path / "it's lake")
    return tmp_path / "it's lake"


@pytest.mark.parametrize(
    ("told", "version"),
    [("v1.5.6 (Variegata) 069cc9f9b5", (1, 5)), ("v2.0.0", (2, 0)), ("duck?", None)],
)
def test_a_client_tells_its_version(
    tmp_path: Path, told: str, version: tuple[int, int] | None
) -> None:
    assert client.version_of(str(stand_in(tmp_path, version=told))) == version


def test_a_client_is_found_on_the_path_unless_it_is_too_old_or_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert client.found() is None
    for told, is_good in (("v1.4.4", False), ("v1.5.0", True), ("v2.1.0", True), ("", False)):
        program = stand_in(tmp_path, version=told)
        assert client.found() == (str(program) if is_good else None)
    (tmp_path / "duckdb").write_text("not a program")
    assert client.found() is None


def test_a_client_asks_one_snapshot_read_only_and_off_the_network(
    lake: Path, logs: Path, tmp_path: Path
) -> None:
    stand_in(tmp_path / "bin", version="v2.0.0", body=OBEDIENT)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    arguments = ("shell", "--warehouse", str(lake), "--tz", "Asia/Kolkata")
    with terminal(*arguments, PATH=path, TMPDIR=str(tmp_path / "logs")) as one:
        assert "--plain is without it" in one.until("at ")
        database = Path(one.until("\r\n"))
        assert database.parent.stat().st_mode & 0o777 == 0o700
        assert database.stat().st_mode & 0o777 == 0o600
        one.type(f"{SETTINGS}\n")
        one.until(SET)
        one.type("select count(*), min(title) from sessions\n")
        one.until("[(1, 'Hi')]")
        append(logs / "projects" / "-home-ada-kiln" / f"{'1' * 8}-x.jsonl", user("New", "u9"))
        run_sync(logs, lake)
        one.type("select count(*) from raw.entries\n")
        one.until("[(2,)]")
        one.type("create table t (a integer)\n")
        assert "read-only" in one.until("!")
        one.type("from 'https://127.0.0.1:9/x.parquet'\n")
        one.until("no:")
        one.type("\x04")
        assert one.ended() == 3
    assert not database.parent.exists()


def test_ctrl_c_is_for_the_client_and_a_closed_window_leaves_nothing(
    lake: Path, tmp_path: Path
) -> None:
    stand_in(tmp_path / "bin", version="v2.0.0", body=OBEDIENT)
    with terminal("shell", "--warehouse", str(lake), PATH=str(tmp_path / "bin")) as one:
        one.until("at ")
        database = Path(one.until("\r\n"))
        one.interrupt("heard")
        one.type("select 42\n")
        one.until("[(42,)]")
        one.hang_up()
        assert one.ended() == 128 + signal.SIGHUP
    assert not database.parent.exists()


def test_what_is_wrong_is_said_before_a_client_begins(lake: Path, tmp_path: Path) -> None:
    program = str(stand_in(tmp_path, version="v2.0.0", body="raise SystemExit('begun')"))
    with pytest.raises(UsageError, match="Mars/Phobos"):
        client.hand_over(program, Warehouse(lake), time_zone="Mars/Phobos")
    with pytest.raises(UsageError, match="no warehouse"):
        client.hand_over(program, Warehouse(tmp_path / "nowhere"), time_zone=None)


HAND_OVER = """
import sys
from pathlib import Path
from etl import client
from etl.commit import Warehouse
sys.exit(client.hand_over(client.found(), Warehouse(Path(sys.argv[1])), time_zone='Asia/Kolkata'))
"""


def test_the_real_client_reads_every_view_and_takes_every_setting(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    views = [f"summarize {view.name};" for view in sqlfiles.load("views")]
    asked = "\n".join([f"{SETTINGS};", "create table t (a integer);", *views])
    told = subprocess.run(
        [sys.executable, "-c", HAND_OVER, str(lake)],
        check=False,
        input=asked,
        capture_output=True,
        text=True,
    )
    assert SET in told.stdout
    assert "read-only" in told.stderr
    assert told.stderr.count("Error") == 1, told.stderr
