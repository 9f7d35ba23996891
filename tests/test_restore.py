"""Every line of every log comes back from the warehouse: the golden cases and a made-up tree."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from etl.cli import main
from etl.commit import Warehouse
from etl.demo import write_tree
from etl.errors import UsageError
from etl.restore import restore
from tests.plain_count import objects_in
from tests.sessions import SESSION, append, assistant, rows, run_sync, user, value, write_log

CASES = sorted((Path(__file__).parent / "golden").iterdir())


def lines_of(path: Path) -> list[object]:
    """Return a log's lines: the objects of each, else its bytes."""
    return [objects_in(line.strip()) or line.strip() for line in path.read_bytes().split(b"\n")]


def wrongly_restored(logs: Path, lake: Path, folder: Path) -> list[str]:
    """Restore every session and name the files that came back otherwise, or not."""
    for (session,) in rows(lake, "select distinct session_id from source_files where part > 0"):
        restore(Warehouse(lake), session, folder)
    found = rows(lake, "select path from source_files where part > 0")
    return [
        path for (path,) in found if lines_of(logs / "projects" / path) != lines_of(folder / path)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_every_golden_log_comes_back(case: Path, lake: Path, tmp_path: Path) -> None:
    run_sync(case / "logs", lake)
    assert value(lake, "select count(*) from source_files where part > 0")
    assert wrongly_restored(case / "logs", lake, tmp_path / "back") == []


def test_every_log_of_a_made_up_tree_comes_back(tmp_path: Path, lake: Path) -> None:
    write_tree(tmp_path / "logs", megabytes=0.5, seed=6)
    run_sync(tmp_path / "logs", lake)
    assert wrongly_restored(tmp_path / "logs", lake, tmp_path / "back") == []


def test_a_log_that_is_gone_comes_back_with_its_waiting_tail(
    logs: Path, lake: Path, tmp_path: Path
) -> None:
    log = write_log(logs, [user("Hi"), b"\n", b"oops\n", assistant(), b'{"torn'])
    before = lines_of(log)
    run_sync(logs, lake)
    log.unlink()
    run_sync(logs, lake)
    (file,) = restore(Warehouse(lake), SESSION, tmp_path / "back")
    assert lines_of(tmp_path / "back" / file.path) == before
    assert file.lines == 4


def test_a_rewritten_log_comes_back_as_it_was_last_read(
    logs: Path, lake: Path, tmp_path: Path
) -> None:
    log = write_log(logs, [user("Old"), assistant()])
    run_sync(logs, lake)
    log.unlink()
    append(log, user("New", "u9"))
    run_sync(logs, lake)
    (file,) = restore(Warehouse(lake), SESSION, tmp_path / "back")
    assert lines_of(tmp_path / "back" / file.path) == lines_of(log)


def test_nothing_that_is_there_is_overwritten(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("Hi")])
    run_sync(logs, lake)
    append(log, user("more", "u2"))
    before = log.read_bytes()
    with pytest.raises(UsageError, match="is there already"):
        restore(Warehouse(lake), SESSION, logs / "projects")
    assert log.read_bytes() == before


@pytest.mark.parametrize(("name", "words"), [("none", "no session"), ("", "2 sessions begin")])
def test_a_name_that_fits_no_session_or_several_is_refused(
    logs: Path, lake: Path, tmp_path: Path, name: str, words: str
) -> None:
    write_log(logs, [user("Hi")])
    write_log(logs, [user("Ho", "u2")], "-other/22222222-2222-4222-8222-222222222222.jsonl")
    run_sync(logs, lake)
    with pytest.raises(UsageError, match=words):
        restore(Warehouse(lake), name, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_the_command_takes_the_beginning_of_an_id(logs: Path, lake: Path, tmp_path: Path) -> None:
    write_log(logs, [user("Hi")])
    run_sync(logs, lake)
    arguments = ["restore", SESSION[:4], "--to", str(tmp_path / "back"), "--warehouse", str(lake)]
    result = CliRunner().invoke(main, [*arguments, "--json"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert [file["lines"] for file in json.loads(result.stdout)] == [1]
    assert result.exit_code == 0
    assert CliRunner().invoke(main, arguments).exit_code == 2
