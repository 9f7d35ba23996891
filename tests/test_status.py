"""What is in the warehouse, and how fresh it is."""

from pathlib import Path
from typing import Any

import pytest

from etl.commit import Warehouse
from etl.errors import UsageError
from etl.status import status_of
from etl.tables import COUNTED
from tests.sessions import (
    Line,
    assistant,
    compaction,
    encoded,
    run_sync,
    tool_result,
    tool_use,
    user,
    write_log,
)

WHOLE: list[Line | bytes] = [
    user("hi"),
    assistant(tool_use()),
    tool_result(),
    compaction(),
    b"nonsense\n",
]


def status(folder: Path) -> dict[str, Any]:
    return status_of(Warehouse(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs and their warehouse after three runs: read, one log gone, nothing new."""
    folder = tmp_path_factory.mktemp("status")
    write_log(folder / "logs", [*WHOLE, b'{"torn":'])
    lost = write_log(folder / "logs", [user("ho", "u9", sessionId="t")], "-home-ada-kiln/t.jsonl")
    run_sync(folder / "logs", folder / "lake")
    lost.unlink()
    run_sync(folder / "logs", folder / "lake")
    run_sync(folder / "logs", folder / "lake")
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Any]:
    return status(folder / "lake")


def test_rows_are_counted_as_people_see_them(found: dict[str, Any]) -> None:
    assert found["rows"] == {
        "entries": 5,
        "messages": 4,
        "content_blocks": 4,
        "tool_calls": 1,
        "agents": 0,
        "compactions": 1,
        "usage": 1,
        "rejects": 1,
    }
    assert {table.name for table in COUNTED} | {"rejects"} == set(found["rows"])


def test_files_are_counted_with_those_that_are_gone_or_wait(found: dict[str, Any]) -> None:
    assert (found["source_files"], found["files_gone"], found["files_pending"]) == (2, 1, 1)


def test_log_bytes_are_those_of_whole_lines(found: dict[str, Any]) -> None:
    lost = encoded([user("ho", "u9", sessionId="t")])
    assert found["log_bytes"] == len(encoded(WHOLE)) + len(lost)


def test_the_size_is_that_of_the_files_of_the_newest_commit(
    folder: Path, found: dict[str, Any]
) -> None:
    current = (folder / "lake" / "current").resolve()
    assert found["warehouse_bytes"] == sum(
        path.stat().st_size for path in current.rglob("*.parquet")
    )


def test_the_last_run_is_told_though_it_committed_nothing(
    folder: Path, found: dict[str, Any]
) -> None:
    assert (found["warehouse"], found["commit"]) == (str(folder / "lake"), 2)
    run = found["last_run"]
    assert (run["is_committed"], run["commit"], run["files"], run["bytes"]) == (False, 2, 1, 0)


def test_a_warehouse_before_its_first_run_is_empty_and_has_no_last_run(tmp_path: Path) -> None:
    Warehouse(tmp_path).create_folders()
    found = status(tmp_path)
    assert (found["commit"], found["last_run"], found["source_files"]) == (0, None, 0)
    assert (found["log_bytes"], found["warehouse_bytes"]) == (0, 0)
    assert set(found["rows"].values()) == {0}


def test_no_warehouse_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no warehouse at"):
        status(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
