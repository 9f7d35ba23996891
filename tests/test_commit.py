"""The commit protocol: one writer, trusted state, recovery, retention and privacy."""

import errno
import fcntl
import hashlib
import os
import stat
from pathlib import Path

import orjson
import pytest

from etl import frames
from etl.chain import State
from etl.commit import KEPT_COMMITS, KEPT_SECONDS, Warehouse
from etl.errors import BusyError, StateError
from etl.forget import find, forget
from etl.omit import Wish
from tests.meanwhile import act_before_reading
from tests.sessions import assistant, encoded, run_sync, user, write_log


@pytest.fixture
def lake(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "lake")


@pytest.fixture
def synced(logs: Path, lake: Warehouse) -> Warehouse:
    write_log(logs, [user("hi"), assistant()])
    run_sync(logs, lake.folder)
    return lake


def empty_commits(lake: Warehouse, count: int) -> State:
    lake.create_folders()
    state = lake.load()
    for _ in range(count):
        state = lake.commit(state, [], [], {})
        lake.publish(state)
    return state


def commit_file(lake: Warehouse, number: int) -> Path:
    return lake.commits / f"{number:010d}.json"


def test_a_warehouse_before_its_first_commit_has_number_zero(lake: Warehouse) -> None:
    assert not lake.exists()
    lake.create_folders()
    assert lake.exists()
    assert lake.load() == State()
    assert lake.snapshot() is None


def test_a_second_lock_is_refused_as_busy(lake: Warehouse) -> None:
    lake.create_folders()
    with lake.lock():
        with pytest.raises(BusyError) as caught, Warehouse(lake.folder).lock():
            pytest.fail("two hold the lock")
        assert caught.value.exit_code == 3
    with lake.lock():
        pass


def test_a_sync_beside_another_is_busy_and_changes_nothing(logs: Path, synced: Warehouse) -> None:
    log = write_log(logs, [user("hi"), assistant(), user("more", "u2", 5)])
    with synced.lock(), pytest.raises(BusyError):
        run_sync(logs, synced.folder)
    assert synced.commit_numbers() == [1]
    assert log.exists()


def test_a_commit_of_a_newer_format_is_refused(synced: Warehouse) -> None:
    path = commit_file(synced, 1)
    document = orjson.loads(path.read_bytes())
    del document["sha256"]
    document["format"] += 1
    sha256 = hashlib.sha256(orjson.dumps(document)).hexdigest()
    path.write_bytes(orjson.dumps(document | {"sha256": sha256}))
    with pytest.raises(StateError, match="newer") as caught:
        synced.load()
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("share", [0.1, 0.35, 0.6, 0.85])
def test_a_flipped_byte_in_a_commit_is_refused(synced: Warehouse, share: float) -> None:
    path = commit_file(synced, 1)
    content = bytearray(path.read_bytes())
    content[int(len(content) * share)] ^= 1
    path.write_bytes(content)
    with pytest.raises(StateError):
        synced.load()


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"\xff"])
def test_a_commit_that_is_no_commit_is_refused(synced: Warehouse, content: bytes) -> None:
    commit_file(synced, 1).write_bytes(content)
    with pytest.raises(StateError, match="damaged"):
        synced.load()


def test_a_missing_data_file_is_refused(logs: Path, synced: Warehouse) -> None:
    lost = synced.files / synced.load().files[0].name
    lost.unlink()
    with pytest.raises(StateError, match=lost.name):
        synced.load()
    with pytest.raises(StateError):
        run_sync(logs, synced.folder)


def test_a_cut_data_file_is_refused(synced: Warehouse) -> None:
    cut = synced.files / synced.load().files[0].name
    os.truncate(cut, cut.stat().st_size - 1)
    with pytest.raises(StateError, match=cut.name):
        synced.load()


def test_a_refused_state_loses_no_file(logs: Path, synced: Warehouse) -> None:
    commit_file(synced, 1).write_bytes(b"{}")
    before = sorted(path.name for path in synced.files.iterdir())
    with pytest.raises(StateError):
        run_sync(logs, synced.folder)
    assert sorted(path.name for path in synced.files.iterdir()) == before


def test_a_commit_number_that_is_taken_is_busy(synced: Warehouse) -> None:
    first = synced.load()
    second = synced.commit(first, first.files, [], {"who": "the first"})
    with pytest.raises(BusyError, match="commit 2"):
        synced.commit(first, [], [], {"who": "the second"})
    assert synced.load() == second


def test_a_commit_names_its_parent(synced: Warehouse) -> None:
    first = synced.load()
    synced.commit(first, first.files, [], {})
    document = orjson.loads(commit_file(synced, 2).read_bytes())
    assert (document["number"], document["parent_sha256"]) == (2, first.sha256)


def test_recovery_clears_staging_and_files_that_no_commit_names(synced: Warehouse) -> None:
    state = synced.load()
    (synced.staging / "half.parquet").write_bytes(b"PAR1")
    (synced.staging / "tree-0000000009").mkdir()
    (synced.staging / "tree-0000000009" / "x").write_bytes(b"")
    (synced.files / "usage-unnamed.parquet").write_bytes(b"PAR1")
    synced.recover(state)
    assert list(synced.staging.iterdir()) == []
    assert {path.name for path in synced.files.iterdir()} == {file.name for file in state.files}


def test_a_run_makes_durable_what_the_one_before_it_may_not_have(
    logs: Path, synced: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted, fsync = list[int](), os.fsync

    def noting(descriptor: int) -> None:
        noted.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    assert not run_sync(logs, synced.folder).is_committed
    assert {synced.commits.stat().st_ino, synced.files.stat().st_ino} <= set(noted)


def test_recovery_publishes_a_commit_that_was_not_shown_yet(synced: Warehouse) -> None:
    state = synced.load()
    later = synced.commit(state, state.files, [], {})
    assert synced.current.resolve().name == "0000000001"
    assert not synced.is_published(later)
    synced.recover(later)
    assert synced.is_published(later)
    assert synced.current.resolve().name == "0000000002"
    assert frames.query("select count(*) from usage", warehouse=synced.folder).item() == 1


def test_recovery_makes_a_lost_published_tree_again(synced: Warehouse) -> None:
    state = synced.load()
    synced.current.resolve().rename(synced.staging / "lost")
    synced.current.unlink()
    synced.recover(state)
    shown = {str(path.relative_to(synced.current)) for path in synced.current.rglob("*.parquet")}
    assert shown == {file.published_path() for file in state.files}


def test_a_published_file_is_the_stored_file_itself(synced: Warehouse) -> None:
    for file in synced.load().files:
        assert (synced.current / file.published_path()).samefile(synced.files / file.name)


def test_retention_keeps_every_commit_for_an_hour(lake: Warehouse) -> None:
    empty_commits(lake, 6)
    now = commit_file(lake, 1).stat().st_mtime + KEPT_SECONDS - 60
    lake.retire(lake.load(), now)
    assert lake.commit_numbers() == [1, 2, 3, 4, 5, 6]


def test_retention_keeps_three_commits_whatever_their_age(lake: Warehouse) -> None:
    empty_commits(lake, 6)
    now = commit_file(lake, 6).stat().st_mtime + KEPT_SECONDS + 60
    lake.retire(lake.load(), now)
    assert lake.commit_numbers() == [4, 5, 6]
    assert len(lake.commit_numbers()) == KEPT_COMMITS
    published = sorted(path.name for path in lake.published.iterdir())
    assert published == ["0000000004", "0000000005", "0000000006"]


def test_a_tree_that_cannot_be_removed_is_out_of_sight_and_cleared_by_the_next_run(
    lake: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty_commits(lake, 4)
    now = commit_file(lake, 4).stat().st_mtime + KEPT_SECONDS + 60

    def refused(*_arguments: object, **_named: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as disk:
        disk.setattr(os, "rmdir", refused)
        with pytest.raises(OSError, match="Input/output error"):
            lake.retire(lake.load(), now)
    assert lake.commit_numbers() == [2, 3, 4]
    assert not (lake.published / "0000000001").exists()
    assert list(lake.staging.iterdir()) != []
    lake.recover(lake.load())
    assert list(lake.staging.iterdir()) == []


def test_retention_keeps_a_commit_whose_time_lies_ahead(lake: Warehouse) -> None:
    empty_commits(lake, 4)
    lake.retire(lake.load(), commit_file(lake, 1).stat().st_mtime - 5 * KEPT_SECONDS)
    assert lake.commit_numbers() == [1, 2, 3, 4]


def test_retention_drops_only_files_that_no_kept_commit_names(
    logs: Path, synced: Warehouse
) -> None:
    for second in range(2, 6):
        with write_log_path(logs).open("ab") as sink:
            sink.write(encoded([user("more", f"u{second}", second)]))
        run_sync(logs, synced.folder)
    now = commit_file(synced, 5).stat().st_mtime + KEPT_SECONDS + 60
    synced.retire(synced.load(), now)
    kept = [synced.read_commit(number) for number in (3, 4, 5)]
    assert {path.name for path in synced.files.iterdir()} == {
        file.name for state in kept for file in state.files
    }


def write_log_path(logs: Path) -> Path:
    (log,) = (logs / "projects").rglob("*.jsonl")
    return log


def test_nothing_of_a_warehouse_is_open_to_others(tmp_path: Path, logs: Path) -> None:
    write_log(logs, [user("hi"), assistant()])
    lake = tmp_path / "lake"
    before = os.umask(0o022)
    try:
        run_sync(logs, lake)
        run_sync(logs, lake)
    finally:
        os.umask(before)
    modes = {
        str(path.relative_to(tmp_path)): stat.S_IMODE(path.lstat().st_mode)
        for path in [lake, *lake.rglob("*")]
        if not path.is_symlink()
    }
    assert len(modes) > 20
    assert {path: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}


def test_a_reader_is_refused_a_commit_with_a_cut_file(synced: Warehouse) -> None:
    stored = synced.files / synced.load().files[0].name
    stored.write_bytes(stored.read_bytes()[:-1])
    with pytest.raises(StateError, match="missing or cut"):
        synced.snapshot()


def test_a_published_tree_that_is_gone_is_refused_until_the_next_run(
    logs: Path, synced: Warehouse
) -> None:
    synced.current.resolve().rename(synced.folder / "lost")
    with pytest.raises(StateError, match="shows no commit"):
        frames.query("select 1", warehouse=synced.folder)
    run_sync(logs, synced.folder)
    assert frames.query("select count(*) from entries", warehouse=synced.folder).item() == 2


def test_a_reader_refuses_a_newer_format(synced: Warehouse) -> None:
    path = commit_file(synced, 1)
    document = orjson.loads(path.read_bytes()) | {"format": 99}
    del document["sha256"]
    sha256 = hashlib.sha256(orjson.dumps(document)).hexdigest()
    path.write_bytes(orjson.dumps(document | {"sha256": sha256}))
    with pytest.raises(StateError, match="newer cclake"):
        frames.query("select 1", warehouse=synced.folder)


def test_a_newest_commit_that_got_lost_is_refused(logs: Path, synced: Warehouse) -> None:
    with write_log_path(logs).open("ab") as sink:
        sink.write(encoded([user("more", "u2", 5)]))
    run_sync(logs, synced.folder)
    commit_file(synced, 2).unlink()
    before = sorted(path.name for path in synced.files.iterdir())
    with pytest.raises(StateError, match="commit 2 was shown once and is missing"):
        run_sync(logs, synced.folder)
    assert sorted(path.name for path in synced.files.iterdir()) == before


def test_retention_leaves_no_gap_where_clocks_jumped(lake: Warehouse) -> None:
    empty_commits(lake, 6)
    now = commit_file(lake, 6).stat().st_mtime
    for number in (1, 3):
        os.utime(commit_file(lake, number), (now - 2 * KEPT_SECONDS,) * 2)
    lake.retire(lake.load(), now)
    assert lake.commit_numbers() == [2, 3, 4, 5, 6]


def test_where_locks_keep_nobody_out_only_what_is_old_is_cleared(
    synced: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda _descriptor, _how: None)
    for folder in (synced.staging, synced.files):
        for name in ("old", "fresh"):
            (folder / f"{name}.parquet").write_bytes(b"PAR1")
        os.utime(folder / "old.parquet", (0, 0))
    with synced.lock():
        assert synced.recover(synced.load()) == 2
    for folder in (synced.staging, synced.files):
        names = {path.stem for path in folder.iterdir()}
        assert ("old" in names, "fresh" in names) == (False, True)


def test_a_published_tree_that_lost_a_file_is_made_again(synced: Warehouse) -> None:
    state = synced.load()
    (synced.current / state.files[0].published_path()).unlink()
    assert not synced.is_published(state)
    synced.recover(state)
    assert synced.is_published(state)


def test_a_commit_that_forgets_leaves_no_earlier_one_even_after_a_kill(lake: Warehouse) -> None:
    state = empty_commits(lake, 3)
    forgetful = lake.commit(state, [], [], {}, forgets=True)
    assert lake.commit_numbers() == [1, 2, 3, 4]  # killed here
    lake.recover(lake.load())
    assert lake.commit_numbers() == [4]
    assert [path.name for path in lake.published.iterdir()] == ["0000000004"]
    assert lake.load() == forgetful
    later = lake.commit(forgetful, [], [], {})
    assert not later.forgets
    lake.retire(later, 0)
    assert lake.commit_numbers() == [4, 5]


def test_a_reader_is_not_refused_when_what_it_looks_at_is_forgotten_meanwhile(
    logs: Path, synced: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_log(logs, [user("hi"), assistant(), user("kiln dust", "u2", 5)])
    run_sync(logs, synced.folder)

    def forget_dust() -> None:
        forget(synced, find(synced, Wish(match="kiln dust")), source="laptop")

    act_before_reading(commit_file(synced, 1), forget_dust, monkeypatch)
    assert synced.load().number == 3
    assert synced.commit_numbers() == [3]


def test_a_stray_file_among_the_commits_is_no_commit(synced: Warehouse) -> None:
    (synced.commits / "notes.json").write_text("mine")
    assert synced.commit_numbers() == [1]
