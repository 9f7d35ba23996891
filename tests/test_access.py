"""Who may read and write a warehouse: nobody but its owner, whatever the umask says."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from etl import access, frames
from etl.access import Seen, objection_to, remark_on
from etl.cli import main
from etl.commit import Warehouse
from etl.errors import StateError
from tests.sessions import SESSION, assistant, run_sync, user, write_log

SUBAGENT = f"p/{SESSION}/subagents/agent-x.jsonl"
ME = 1000


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse, to be copied."""
    folder = tmp_path_factory.mktemp("access")
    write_log(folder / "logs", [user("hi"), assistant()])
    run_sync(folder / "logs", folder / "lake")
    return folder / "lake"


@pytest.fixture
def own(synced: Path, tmp_path: Path) -> Warehouse:
    (tmp_path / "logs" / "projects").mkdir(parents=True)
    return Warehouse(Path(shutil.copytree(synced, tmp_path / "lake", symlinks=True)))


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    yield
    os.umask(before)


def cclake(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


# ---- The decision.


@pytest.mark.parametrize(
    ("mode", "owner", "told"),
    [
        (0o700, ME, None),
        (0o500, ME, None),
        (0o755, ME, None),
        (0o700, 0, None),
        (0o770, ME, "others can write to '/lake' (mode 0770)"),
        (0o720, ME, "others can write to '/lake' (mode 0720)"),
        (0o702, ME, "others can write to '/lake' (mode 0702)"),
        (0o1777, ME, "others can write to '/lake' (mode 1777)"),
        (0o700, 1001, "'/lake' belongs to another user (uid 1001)"),
        (0o777, 1001, "'/lake' belongs to another user (uid 1001)"),
    ],
)
def test_what_somebody_else_can_change_is_objected_to(
    mode: int, owner: int, told: str | None
) -> None:
    objection = objection_to(Seen(Path("/lake"), mode, owner), ME)
    assert (objection is None) == (told is None)
    if objection and told:
        assert objection.what.startswith(told)
        assert ("chmod 700 /lake" in str(objection.hint)) == (owner == ME)
        assert objection.exit_code == 4


def test_root_is_no_exception() -> None:
    assert objection_to(Seen(Path("/lake"), 0o700, ME), 0)
    assert objection_to(Seen(Path("/lake"), 0o700, 0), 0) is None


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o710, 0o701, 0o704])
def test_what_others_can_look_into_is_told_with_what_to_do(mode: int) -> None:
    told = f"others can look into '/a b' (mode {mode:04o}); to keep it yours: chmod 700 '/a b'"
    assert remark_on(Seen(Path("/a b"), mode, ME)) == told
    assert remark_on(Seen(Path("/a b"), 0o700, ME)) is None


# ---- Looking.

FOLDERS: dict[str, Callable[[Warehouse], Path]] = {
    "warehouse": lambda lake: lake.folder,
    "store": lambda lake: lake.store,
    "commits": lambda lake: lake.commits,
    "files": lambda lake: lake.files,
    "published": lambda lake: lake.published,
    "staging": lambda lake: lake.staging,
}


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_others_can_write_is_refused_and_named(
    own: Warehouse, name: str, mode: int
) -> None:
    folder = FOLDERS[name](own)
    folder.chmod(mode)
    with pytest.raises(StateError, match=f"write to '{folder}'") as caught:
        access.refuse_if_shared(own)
    assert caught.value.hint == f"if what is in it is yours alone: chmod 700 {folder}"
    folder.chmod(0o700)
    access.refuse_if_shared(own)


def test_no_door_leads_into_a_folder_that_others_can_write(own: Warehouse) -> None:
    own.files.chmod(0o777)
    logs, lake, back = own.folder.parent / "logs", own.folder, own.folder.parent / "back"
    for command in (
        ("sync", "--logs", logs),
        ("query", "select 1"),
        ("status",),
        ("sessions",),
        ("show", SESSION),
        ("search", "Hi"),
        ("shell",),
        ("restore", SESSION, "--to", back),
        ("views",),
        ("prices", "explain", "msg_1"),
        ("check",),
        ("forget", "--session", SESSION, "--yes"),
        ("repair", "--logs", logs),
        ("repair", "--dry-run"),
    ):
        result = cclake(*command, "--warehouse", lake)
        assert (result.exit_code, result.stdout) == (4, ""), command
        assert f"others can write to '{own.files}' (mode 0777)" in result.stderr
        assert f"chmod 700 {own.files}" in result.stderr
    for call in (lambda: run_sync(logs, lake), lambda: frames.query("select 1", warehouse=lake)):
        with pytest.raises(StateError, match="others can write"):
            call()
    assert not back.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a folder to another user")
@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_of_another_user_is_refused(own: Warehouse, name: str) -> None:
    folder = FOLDERS[name](own)
    os.chown(folder, 65534, 65534)
    for command in (("sync", "--logs", own.folder.parent / "logs"), ("query", "select 1")):
        result = cclake(*command, "--warehouse", own.folder)
        assert (result.exit_code, result.stdout) == (4, "")
        assert f"'{folder}' belongs to another user (uid 65534)" in result.stderr


def test_a_warehouse_that_others_can_look_into_is_told_of_and_used(own: Warehouse) -> None:
    own.folder.chmod(0o755)
    remark = (
        f"others can look into '{own.folder}' (mode 0755);"
        f" to keep it yours: chmod 700 {own.folder}\n"
    )
    asked = cclake("query", "select 7 as n", "--format", "csv", "--warehouse", own.folder)
    assert (asked.exit_code, asked.stdout, asked.stderr) == (0, "n\n7\n", remark)
    logs = own.folder.parent / "logs"
    synced = cclake("sync", "--logs", logs, "--warehouse", own.folder)
    assert (synced.exit_code, synced.stderr.startswith(remark)) == (0, True)
    own.folder.chmod(0o700)
    assert cclake("status", "--warehouse", own.folder).stderr == ""


def test_a_remark_steers_no_terminal(logs: Path, tmp_path: Path) -> None:
    lake = tmp_path / "la\x1b[31mke"
    lake.mkdir(mode=0o755)
    lake.chmod(0o755)
    result = cclake("sync", "--logs", logs, "--warehouse", lake)
    assert result.exit_code == 0
    assert "others can look into" in result.stderr
    assert "\x1b" not in result.stderr


def test_a_link_to_a_warehouse_is_as_good_as_the_warehouse(own: Warehouse, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(own.folder)
    write_log(tmp_path / "logs", [user("hi"), assistant(), user("more", "u2", 9)])
    assert run_sync(tmp_path / "logs", link).is_committed
    assert frames.query("select count(*) from turns", warehouse=link).item() == 2
    own.store.chmod(0o777)
    with pytest.raises(StateError, match="others can write"):
        access.refuse_if_shared(Warehouse(link))


def test_a_warehouse_below_a_folder_that_all_may_use_is_fine(logs: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    write_log(logs, [user("hi")])
    result = cclake("sync", "--logs", logs, "--warehouse", tmp_path / "lake")
    assert (result.exit_code, result.stderr.startswith("synced 1 of 1")) == (0, True)


@pytest.mark.parametrize("place", ["/dev/null", "/dev/null/lake", "/proc/lake", "/sys/lake"])
def test_a_place_where_no_warehouse_can_be_is_refused_in_a_sentence(logs: Path, place: str) -> None:
    result = cclake("sync", "--logs", logs, "--warehouse", place)
    assert (result.exit_code, result.stdout) == (5, "")
    assert result.stderr.startswith(f"cclake: cannot sync into '{place}': ")
    assert "hint: nothing was committed" in result.stderr


# ---- What is made is for the owner alone.


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_nothing_that_is_made_is_for_others_whatever_the_umask(
    logs: Path, tmp_path: Path, mask: int
) -> None:
    lake, back = tmp_path / "lake", tmp_path / "back" / "here"
    write_log(logs, [user("go", isSidechain=True, agentId="x")], SUBAGENT)
    with umask(mask):
        for lines in ([user("hi")], [user("hi"), assistant()]):
            write_log(logs, lines)
            assert cclake("sync", "--logs", logs, "--warehouse", lake).exit_code == 0
        assert cclake("views", "--warehouse", lake).exit_code == 0
        assert cclake("query", "from turns", "--warehouse", lake).exit_code == 0
        assert cclake("restore", SESSION, "--to", back, "--warehouse", lake).exit_code == 0
    made = [path for path in (lake, back) for path in [path, *path.rglob("*")]]
    assert {lake / "cclake.duckdb", lake / "_store" / "lock", back / SUBAGENT} <= {*made}
    assert {lake / "_store" / "views", lake / "_store" / "last_run.json"} <= {*made}
    assert [path for path in made if not path.is_symlink() and path.lstat().st_mode & 0o077] == []
    assert [*access.loose_below(lake), *access.loose_below(tmp_path / "back")] == []


def test_what_is_loose_in_a_warehouse_is_found(own: Warehouse) -> None:
    assert list(access.loose_below(own.folder)) == []
    data_file = next(own.files.iterdir())
    for path, mode in ((own.store, 0o710), (data_file, 0o604), (own.folder, 0o755)):
        path.chmod(mode)
    found = set(access.loose_below(own.folder))
    assert found == {own.folder, own.store, data_file}


def test_restoring_leaves_the_umask_as_it_was(own: Warehouse, tmp_path: Path) -> None:
    with umask(0o027):
        assert cclake("restore", "no", "--to", tmp_path, "--warehouse", own.folder).exit_code == 2
        assert os.umask(0o027) == 0o027
