"""The lock: one holder, gone with its process, and known for what it is worth."""

import fcntl
import os
from pathlib import Path

import pytest

from etl import lock
from etl.errors import BusyError


def test_a_held_lock_keeps_everybody_else_out_until_it_is_let_go(tmp_path: Path) -> None:
    path = tmp_path / "lake" / "_store" / "lock"
    path.parent.mkdir(parents=True)
    with lock.held(path) as keeps_out:
        assert keeps_out
        with pytest.raises(BusyError, match="another sync") as caught, lock.held(path):
            pytest.fail("two hold it")
        assert str(tmp_path / "lake") in str(caught.value)
    with lock.held(path):
        pass


def lowest_free_descriptor() -> int:
    descriptor = os.dup(0)
    os.close(descriptor)
    return descriptor


def test_a_refused_lock_leaves_no_file_open(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with lock.held(path):
        before = lowest_free_descriptor()
        for _ in range(3):
            with pytest.raises(BusyError), lock.held(path):
                pytest.fail("two hold it")
        assert lowest_free_descriptor() == before


def test_a_file_system_that_locks_for_everybody_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda _descriptor, _how: None)
    with lock.held(tmp_path / "lock") as keeps_out:
        assert not keeps_out


def test_a_forked_worker_that_lets_go_does_not_end_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with lock.held(path):
        child = os.fork()
        if child == 0:
            lock.let_go_of_locks()
            os._exit(0)
        os.waitpid(child, 0)
        with pytest.raises(BusyError), lock.held(path):
            pytest.fail("two hold it")
