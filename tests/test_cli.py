"""The commands as a person or a script meets them: results, talk, exit codes, refusals."""

import hashlib
import io
import json
import os
import shutil
from contextlib import closing
from pathlib import Path

import duckdb
import orjson
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from etl.cli import main
from etl.commit import Warehouse
from tests.sessions import Line, assistant, tool_result, tool_use, user, write_log

TOP = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def nobody_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No command of these tests may find the logs or the warehouse of whoever runs them."""
    for name in ("CLAUDE_CONFIG_DIR", "CCLAKE_WAREHOUSE", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that these tests only read; its one response was logged late in the evening."""
    folder = tmp_path_factory.mktemp("synced")
    lines: list[Line | bytes] = [
        user("list them"),
        assistant(tool_use(), output=42, timestamp="2026-03-01T23:30:00.000Z"),
        tool_result(),
        b"not JSON\n",
        b'{"torn":',
    ]
    write_log(folder / "logs", lines)
    result = cclake("sync", "--logs", folder / "logs", "--warehouse", folder / "lake")
    assert result.exit_code == 0
    return folder / "lake"


@pytest.fixture
def own(synced: Path, lake: Path) -> Path:
    """A copy of that warehouse, to be changed."""
    return Path(shutil.copytree(synced, lake, symlinks=True))


def cclake(*arguments: str | Path) -> Result:
    """Run a command in this process; whatever it meets, it ends by itself."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def on_disk(*folders: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything below the folders: mode, time of change and content."""
    return {
        str(path): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for folder in folders
        for path in [folder, *folder.rglob("*")]
        if path.exists()
    }


def query(lake: Path, sql: str, *more: str) -> Result:
    return cclake("query", sql, "--warehouse", lake, *more)


# ---- Results on stdout, talk on stderr.


def test_sync_says_one_sentence_and_prints_no_result(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi"), assistant(), b"nonsense\n"])
    result = cclake("sync", "--logs", logs, "--warehouse", lake)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("synced 1 of 1 file · ")
    assert " · 2 new entries · 1 reject · " in result.stderr

    again = cclake("sync", "--logs", logs, "--warehouse", lake)
    assert (again.exit_code, again.stdout) == (0, "")
    assert again.stderr.startswith("nothing new in 1 file · ")


def test_sync_prints_its_run_as_json(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi"), assistant(), b"nonsense\n"])
    result = cclake("sync", "--json", "--logs", logs, "--warehouse", lake, "--source", "desk")
    assert (result.exit_code, result.stderr) == (0, "")
    run = json.loads(result.stdout)
    assert 0 < run.pop("started_at") <= run.pop("ended_at")
    assert len(run.pop("run_id")) == 32
    assert len(run.pop("price_book_hash")) == 32
    assert run == {
        "source": "desk",
        "kind": "sync",
        "files": 1,
        "files_read": 1,
        "bytes": log.stat().st_size,
        "lines": 3,
        "entries": 2,
        "rejects": 1,
        "parts_written": 1,
        "commit": 1,
        "is_committed": True,
        "problems": [],
        "events": [],
    }


def test_status_prints_what_is_there_as_json(synced: Path) -> None:
    result = cclake("status", "--json", "--warehouse", synced)
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert (found["commit"], found["source_files"], found["files_pending"]) == (1, 1, 1)
    assert (found["rows"]["usage"], found["rows"]["rejects"]) == (1, 1)
    assert found["last_run"]["commit"] == 1


def test_status_prints_what_is_there_for_people(synced: Path) -> None:
    result = cclake("status", "--warehouse", synced)
    assert (result.exit_code, result.stderr) == (0, "")
    first, *rest = result.stdout.splitlines()
    assert first == f"warehouse       {synced}, commit 1"
    assert ["usage", "1"] in [line.split() for line in rest]


def test_a_query_is_a_table_unless_told_otherwise(synced: Path) -> None:
    result = query(synced, "select tool_name, 1234 as n from tool_calls")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "tool_name      n\n─────────  ─────\nBash       1,234\n"


def test_a_query_as_json_is_an_array_of_objects_in_select_order(synced: Path) -> None:
    ask = "select output_tokens, model, turn_id is null as b, null as nothing from usage"
    result = query(synced, ask, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    (row,) = json.loads(result.stdout)
    assert list(row.items()) == [
        ("output_tokens", 42),
        ("model", "claude-sonnet-4-5-20250929"),
        ("b", False),
        ("nothing", None),
    ]


def test_a_query_as_csv_has_a_header_and_quotes_what_needs_it(synced: Path) -> None:
    result = query(synced, "select 'a,\"b\"' as words, 7 as n", "--format", "csv")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == 'words,n\n"a,""b""",7\n'


def test_a_query_as_parquet_is_a_file_on_stdout(synced: Path) -> None:
    result = query(synced, "select uuid, line_no from entries order by all", "--format", "parquet")
    assert (result.exit_code, result.stderr) == (0, "")
    table = pq.read_table(io.BytesIO(result.stdout_bytes))
    assert table.to_pydict() == {"uuid": ["a1", "r1", "u1"], "line_no": [2, 3, 1]}


@pytest.mark.parametrize(
    ("zone", "day"),
    [("UTC", "2026-03-01"), ("Europe/Berlin", "2026-03-02")],
)
def test_a_day_is_that_of_the_zone_asked_for(synced: Path, zone: str, day: str) -> None:
    result = query(synced, "select day from daily_spend", "--tz", zone, "--format", "csv")
    assert result.stdout == f"day\n{day}\n"


def test_views_are_written_again_where_they_were_lost(own: Path) -> None:
    (own / "cclake.duckdb").unlink()
    result = cclake("views", "--warehouse", own)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"wrote {own / 'cclake.duckdb'}\n"
    with closing(duckdb.connect(own / "cclake.duckdb", read_only=True)) as con:
        assert con.sql("select output_tokens from usage").fetchall() == [(42,)]


def test_views_are_printed_as_sql_and_nothing_is_written(synced: Path) -> None:
    before = on_disk(synced)
    result = cclake("views", "--print", "--warehouse", synced)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "create or replace view main.daily_spend as" in result.stdout
    assert f"macro main.snapshot() as '{synced}/current'" in result.stdout
    assert "snapshot() || '/usage/" in result.stdout
    assert on_disk(synced) == before


def test_views_write_the_data_dictionary_where_told(tmp_path: Path) -> None:
    result = cclake("views", "--docs", tmp_path / "page.md")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "daily_spend" in (tmp_path / "page.md").read_text()


def test_demo_prints_the_truth_that_it_also_writes(tmp_path: Path) -> None:
    result = cclake("demo", tmp_path / "tree", "--mb", "0.05", "--seed", "5", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == json.loads((tmp_path / "tree" / "truth.json").read_text())


# ---- Exit 1: committed, but not everything could be read.


def test_a_pipe_among_the_logs_is_exit_1_and_the_rest_is_committed(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi")])
    os.mkfifo(log.parent / "pipe.jsonl")
    result = cclake("sync", "--json", "--logs", logs, "--warehouse", lake)
    assert result.exit_code == 1
    assert f"{log.parent / 'pipe.jsonl'}: skipped: not a regular file" in result.stderr
    run = json.loads(result.stdout)
    assert (run["is_committed"], run["entries"], len(run["problems"])) == (True, 1, 1)


def test_a_name_that_could_steer_a_terminal_is_shown_escaped(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi")])
    (log.parent / "\x1b[31m\n\u202egone.jsonl").symlink_to("nowhere")
    result = cclake("sync", "--logs", logs, "--warehouse", lake)
    assert result.exit_code == 1
    assert "\\x1b[31m\\n\\u202egone.jsonl: skipped" in result.stderr
    assert not {"\x1b", "\u202e"} & set(result.stderr)


# ---- Refusals: what, where, what to do; and nothing changes on disk.


def refused(result: Result, code: int, *words: str) -> None:
    assert (result.exit_code, result.stdout) == (code, "")
    said = result.stderr.splitlines()
    assert said[0].startswith("cclake: ")
    assert said[-1].startswith("hint: ")
    for word in words:
        assert word in result.stderr


def test_no_log_folder_is_exit_2(tmp_path: Path, lake: Path) -> None:
    result = cclake("sync", "--logs", tmp_path / "nowhere", "--warehouse", lake)
    refused(result, 2, f"no log folder at '{tmp_path / 'nowhere'}'", "--logs DIR", "cclake demo")
    assert not lake.exists()


def test_no_log_folder_in_the_usual_places_is_exit_2(tmp_path: Path) -> None:
    home = tmp_path / "home"
    refused(cclake("sync"), 2, f"'{home}/.claude'", f"'{home}/.config/claude'", "--logs DIR")
    assert not home.exists()


def test_a_warehouse_inside_the_log_folder_is_exit_2(logs: Path) -> None:
    before = on_disk(logs)
    inside = logs / "projects" / "lake"
    result = cclake("sync", "--logs", logs, "--warehouse", inside)
    refused(result, 2, f"'{inside}'", f"'{logs / 'projects'}'", "--warehouse DIR")
    assert on_disk(logs) == before


@pytest.mark.parametrize("source", ["My Laptop", "../up", "a/b", "x" * 65, "é"])
def test_a_source_that_fits_no_path_is_exit_2(logs: Path, lake: Path, source: str) -> None:
    result = cclake("sync", "--logs", logs, "--warehouse", lake, "--source", source)
    refused(result, 2, f"source name {source!r}", "--source laptop")
    assert not lake.exists()


@pytest.mark.parametrize("sql", ["selec 1", "select nothing from usage"])
def test_sql_that_does_not_work_is_exit_2(synced: Path, sql: str) -> None:
    before = on_disk(synced)
    refused(query(synced, sql), 2, "Error: ", "show tables")
    assert on_disk(synced) == before


@pytest.mark.parametrize(
    "command",
    [
        ("query", "select 1"),
        ("status",),
        ("views",),
        ("check",),
        ("repair",),
        ("forget", "--before", "2026-01-01"),
    ],
)
def test_no_warehouse_is_exit_2_and_none_is_made(lake: Path, command: tuple[str, ...]) -> None:
    result = cclake(*command, "--warehouse", lake)
    refused(result, 2, f"no warehouse at '{lake}'", "cclake sync")
    assert not lake.exists()


def test_demo_into_a_folder_in_use_is_exit_2(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    before = on_disk(tmp_path)
    refused(cclake("demo", tmp_path), 2, str(tmp_path), "name a folder")
    assert on_disk(tmp_path) == before


def test_a_sync_beside_another_is_exit_3(logs: Path, own: Path) -> None:
    write_log(logs, [user("hi"), assistant()])
    before = on_disk(own, logs)
    with Warehouse(own).lock():
        result = cclake("sync", "--json", "--logs", logs, "--warehouse", own)
    refused(result, 3, f"another sync is at work on '{own}'", "wait")
    assert on_disk(own, logs) == before


@pytest.mark.parametrize(
    "command", [("forget", "--match", "hi", "--yes"), ("repair",), ("views",)], ids=" ".join
)
def test_whatever_changes_a_warehouse_is_exit_3_beside_a_sync(
    logs: Path, own: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(logs))
    before = on_disk(own)
    with Warehouse(own).lock():
        refused(cclake(*command, "--warehouse", own), 3, "at work", "wait")
    assert on_disk(own) == before


def newer(content: bytes) -> bytes:
    document = orjson.loads(content)
    del document["sha256"]
    document["format"] = 99
    sha256 = hashlib.sha256(orjson.dumps(document)).hexdigest()
    return orjson.dumps(document | {"sha256": sha256})


@pytest.mark.parametrize("is_newer", [True, False])
def test_a_state_that_cannot_be_trusted_is_exit_4(logs: Path, own: Path, *, is_newer: bool) -> None:
    write_log(logs, [user("hi")])
    (commit,) = Warehouse(own).commits.iterdir()
    commit.write_bytes(newer(commit.read_bytes()) if is_newer else b"{}")
    words = ("newer", "99", "install") if is_newer else ("damaged", "cclake repair")
    before = on_disk(own, logs)
    for command in (("sync", "--logs", logs), ("status",)):
        refused(cclake(*command, "--warehouse", own), 4, str(commit), *words)
    assert on_disk(own, logs) == before


def test_a_warehouse_that_is_a_file_is_exit_5(logs: Path, lake: Path) -> None:
    write_log(logs, [user("hi")])
    lake.write_text("in the way")
    before = on_disk(lake, logs)
    result = cclake("sync", "--logs", logs, "--warehouse", lake)
    refused(result, 5, f"cannot sync into '{lake}'", "nothing was committed")
    assert on_disk(lake, logs) == before


# ---- The edges: nothing to read, nothing to wait for, and the real thing.


def test_an_empty_folder_of_logs_is_exit_0_and_the_views_answer(logs: Path, lake: Path) -> None:
    assert cclake("sync", "--logs", logs, "--warehouse", lake).exit_code == 0
    for view in ("daily_spend", "turns"):
        result = query(lake, f"select * from {view}", "--format", "json")  # noqa: S608 - our names
        assert (result.exit_code, json.loads(result.stdout)) == (0, []), view


def test_the_warehouse_may_come_from_the_environment(
    synced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCLAKE_WAREHOUSE", str(synced))
    assert json.loads(cclake("status", "--json").stdout)["warehouse"] == str(synced)


@pytest.mark.parametrize("command", ["sync", "query", "status", "views", "demo"])
def test_the_help_of_every_command_has_an_example(command: str) -> None:
    result = cclake(command, "-h")
    assert result.exit_code == 0
    assert f"Example: cclake {command}" in " ".join(result.stdout.split())


def test_a_query_may_begin_with_a_comment_or_come_from_stdin(synced: Path) -> None:
    sql = "-- how many\nselect count(*) as n from usage"
    assert query(synced, sql, "--format", "csv").stdout == "n\n1\n"
    arguments = ["query", "-", "--format", "csv", "--warehouse", str(synced)]
    assert CliRunner().invoke(main, arguments, input=sql).stdout == "n\n1\n"
