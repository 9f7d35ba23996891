"""What a log says stays data: it names no file, is no SQL and steers no terminal."""

import csv
import io
import json
import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from etl import views
from etl.cli import main
from etl.commit import Warehouse
from etl.tables import ALL_TABLES
from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    ask_everything,
    assistant,
    compaction,
    rows,
    text,
    tool_result,
    tool_use,
    user,
    value,
    write_log,
)

HOSTILE = {
    "climbing": "../../../../../../tmp/x",
    "absolute": "/etc/passwd",
    "sql": "'; drop view sessions; --",
    "quote": '"',
    "percent": "%s {0} $HOME `id`",
    "newline": "first\nsecond\r\nthird",
    "escape": "\x1b[2J\x1b]0;owned\x07",
    "colour": "\x1b[31m",
    "nul": "a\0b",
    "c1": "\x9b2J\x85\x90",
    "delete": "\x7f\x08\x08",
    "turned": "\u202egnp.exe\u2066\u200f",
    "separators": "\u2028\u2029\u00a0\ufeff\u200b",
    "astral": "\U000e0001\U000f0000\U0010ffff",
    "long": "x" * 10_000,
    "empty": "",
    "blank": " ",
    "dots": "..",
}
# Half a letter, which no file can be read from otherwise than by its escape.
HALF = b'"\\ud800\\udfffz\\udcff"'
# The sessions of the tree: told by file, and by a line of a flat agent file.
AGENTS = {name: f"{PROJECT}/agent-{at:02d}.jsonl" for at, name in enumerate(HOSTILE)}
TABLES = "|".join(table.name for table in ALL_TABLES)
OUR_NAMES = re.compile(
    rf"""
    cclake\.duckdb | current | _store
    | _store/(lock | views | last_run\.json | commits | files | published | staging)
    | _store/commits/\d{{10}}\.json
    | _store/files/({TABLES})-[0-9a-f]{{32}}\.parquet
    | _store/published/\d{{10}}(/({TABLES}))?
    | _store/published/\d{{10}}/({TABLES})/({TABLES})\.parquet
    | _store/published/\d{{10}}/({TABLES})/source=laptop
      (/month=\d{{4}}-\d{{2}}(/part-\d{{4}}\.parquet)?)?
    """,
    re.VERBOSE,
)


def hostile_lines(bad: str) -> list[Line]:
    """A session in which every name, id, path and title is this text."""
    place: dict[str, Any] = {
        "sessionId": bad,
        "cwd": bad,
        "gitBranch": bad,
        "version": bad,
        "slug": bad,
        "entrypoint": bad,
        "agentId": bad,
        "parentUuid": bad,
        "permissionMode": bad,
        "forkedFrom": {"sessionId": bad, "messageUuid": f"fork{bad}"},
    }
    ids: dict[str, Any] = {"message_id": bad, "request": bad, "model": bad, "stop": bad}
    usage = {"service_tier": bad, "speed": bad, "iterations": [{"type": bad, "model": bad}], bad: 1}
    names: list[Line] = [
        {"type": "summary", "summary": bad, "leafUuid": bad},
        {"type": "custom-title", "customTitle": bad},
        {"type": "ai-title", "aiTitle": bad},
        {"type": "agent-name", "agentName": bad},
        {"type": "pr-link", "prUrl": bad},
        {"type": "worktree-state", "worktreeSession": {"worktreePath": bad, "worktreeName": "w"}},
        {"type": "relocated", "relocatedCwd": bad},
        {"type": "continued-in", "continuedInSessionId": bad},
        {"type": bad, "subtype": bad, "uuid": f"new{bad}", bad: {bad: bad}},
    ]
    return [
        user(bad, f"u{bad}", **place),
        assistant(
            text(bad),
            tool_use(f"call{bad}", bad, command=bad, **{f"key{bad}": bad}),
            {"type": bad, bad: bad},
            uuid=f"a{bad}",
            usage=usage,
            **ids,
            **place,
        ),
        tool_result(f"call{bad}", bad, uuid=f"r{bad}", is_error=True, toolUseResult={bad: bad}),
        compaction(f"c{bad}", trigger=bad),
        *names,
    ]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A config directory whose logs and their names are hostile, and a warehouse made of it."""
    folder = tmp_path_factory.mktemp("hostile")
    everything = [line for bad in HOSTILE.values() for line in hostile_lines(bad)]
    half = b'{"type":"user","uuid":%b,"cwd":%b,"sessionId":%b}\n' % (HALF, HALF, HALF)
    write_log(folder / "logs", [*everything, half])
    for name, path in AGENTS.items():
        line = user("go", f"s-{name}", isSidechain=True, sessionId=HOSTILE[name])
        write_log(folder / "logs", [line], path)
    for name in ("escape", "c1", "sql", "newline", "turned"):
        bad = HOSTILE[name].replace("/", "-")
        write_log(folder / "logs", [user("hi", f"n-{name}")], f"p{bad}/{bad}.jsonl")
        agent = f"p{bad}/{bad}/subagents/agent-{bad}"
        write_log(folder / "logs", [user("go", f"m-{name}", isSidechain=True)], f"{agent}.jsonl")
        write_log(folder / "logs", [{"agentType": bad, "toolUseId": bad}], f"{agent}.meta.json")
    (folder / "logs/projects" / PROJECT / "\x1b[2J\x9b.jsonl").symlink_to("/etc/passwd")
    result = cclake(folder, "sync", "--logs", str(folder / "logs"), "--source", "laptop")
    assert result.exit_code == 1  # the link
    assert_steers_no_terminal(result)
    assert [line.endswith("not a regular file") for line in result.stderr.splitlines()[:-1]] == [
        True
    ]
    return folder


def cclake(place: Path, *arguments: str) -> Result:
    """Run a command as on a terminal, which gets every byte."""
    command, *more = arguments
    lake = str(place / "lake")
    result = CliRunner().invoke(main, [command, "--warehouse", lake, *more], color=True)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def assert_steers_no_terminal(result: Result) -> None:
    shown = result.stdout + result.stderr
    assert {letter for letter in shown if not letter.isprintable()} <= {"\n"}


def objects_of(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


# ---- Files.


def test_no_file_of_the_warehouse_is_named_by_a_log(place: Path) -> None:
    lake = place / "lake"
    found = [str(path.relative_to(lake)) for path in lake.rglob("*")]
    assert len(found) > 30
    assert [name for name in found if not OUR_NAMES.fullmatch(name)] == []


def test_every_session_is_restored_below_the_folder_and_nowhere_else(place: Path) -> None:
    known = "select distinct session_id from source_files where part is not null order by all"
    back = place / "back"
    paths = []
    for (session,) in rows(place / "lake", known):
        result = cclake(place, "restore", "--json", "--to", str(back), "--", session)
        assert (result.exit_code, result.stderr) == (0, "")
        assert_steers_no_terminal(result)
        paths += [file["path"] for file in json.loads(result.stdout)]
    written = {str(path.relative_to(back)) for path in back.rglob("*") if path.is_file()}
    assert written == set(paths)
    assert {path.name for path in place.iterdir()} == {"logs", "lake", "back"}
    for path in paths:
        assert objects_of(back / path) == objects_of(place / "logs" / "projects" / path)


def test_a_ledger_that_leads_out_of_the_folder_is_refused(place: Path, tmp_path: Path) -> None:
    lake = shutil.copytree(place / "lake", tmp_path / "lake", symlinks=True)
    (ledger,) = lake.resolve().glob("current/source_files/*.parquet")
    rows = pq.read_table(ledger)
    for path in ("../x.jsonl", "/x.jsonl", "p/../../x.jsonl"):
        paths = pa.array([path] * rows.num_rows)
        changed = rows.set_column(rows.column_names.index("path"), "path", paths)
        pq.write_table(changed, ledger)
        result = cclake(tmp_path, "restore", SESSION, "--to", str(tmp_path / "back" / "here"))
        assert (result.exit_code, "leads out of the folder" in result.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]


# ---- The terminal.

PIVOT = "pivot (select tool_name from tool_calls) on tool_name using count(*)"


@pytest.mark.parametrize(
    "arguments",
    [
        ("sessions", "--limit", "100"),
        ("sessions", "--json", "--limit", "100"),
        ("sessions", HOSTILE["escape"]),
        ("sessions", "--cwd", HOSTILE["c1"]),
        ("status",),
        ("status", "--json"),
        ("query", "from sessions"),
        ("query", "select uuid, cwd, type, payload from raw.entries"),
        ("query", "select cwds, path from sessions join source_files using (session_id)"),
        ("query", "from turns", "--format", "json"),
        ("query", PIVOT),
        ("query", PIVOT, "--format", "json"),
        ("views", "--print"),
        ("show", SESSION, "--tools", "--thinking"),
        ("show", SESSION, "--format", "markdown"),
        ("show", SESSION, "--format", "json"),
    ],
    ids=" ".join,
)
def test_no_command_lets_a_log_steer_the_terminal(place: Path, arguments: tuple[str, ...]) -> None:
    result = cclake(place, *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    assert len(result.stdout) > 100
    assert_steers_no_terminal(result)


def test_no_hit_lets_a_log_steer_the_terminal(place: Path) -> None:
    words = {bad.lstrip("-")[:3] for bad in HOSTILE.values()}
    for more in ((), ("--json",)):
        found = [cclake(place, "search", one, *more) for one in words if one.strip()]
        assert all(result.exit_code == 0 for result in found)
        assert len("".join(result.stdout for result in found)) > 5000
        for result in found:
            assert_steers_no_terminal(result)


STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("sql", ["from turns", "from sessions", PIVOT, "from raw.entries"])
def test_csv_of_hostile_logs_steers_nothing_and_is_no_formula(place: Path, sql: str) -> None:
    result = cclake(place, "query", sql, "--format", "csv")
    assert (result.exit_code, result.stderr) == (0, "")
    assert not STEERING.search(result.stdout)
    cells = [cell for row in csv.reader(io.StringIO(result.stdout)) for cell in row]
    assert len(cells) > 20
    assert not any(cell.startswith(("=", "+", "@", "\t")) for cell in cells)


def test_no_name_of_a_warehouse_steers_sql_or_a_glob(place: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a'b [x]* {y} ?; -- \x1b[2J \u202e"
    logs = ("--logs", str(place / "logs"), "--source", "laptop", "--jobs", "2")
    assert cclake(odd, "sync", *logs).exit_code == 1  # the link
    for command in (
        ("views",),
        ("status",),
        ("sessions",),
        ("query", "select count(*) as n from usage"),
        ("restore", SESSION, "--to", str(odd / "back")),
    ):
        result = cclake(odd, *command)
        assert result.exit_code == 0, result.output
        assert_steers_no_terminal(result)
    counts = "select count(*) from raw.entries"
    assert rows(odd / "lake", counts) == rows(place / "lake", counts)
    (odd / "lake" / "_store").chmod(0o777)
    refused = cclake(odd, "query", "select 1")
    assert refused.exit_code == 4
    assert_steers_no_terminal(refused)


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "select model::integer from usage"),
        ("query", "select error(string_agg(title, ' ')) from sessions"),
        ("restore", "\x1b", "--to", "/nowhere"),
        ("restore", "", "--to", "/nowhere"),
        ("restore", "no\x9bne", "--to", "/nowhere"),
        ("show", "no\x9bne"),
        ("search", "x", "--session", "no\x9bne"),
        ("search", "x", "--tool", "\x1b[2J", "--in", "prompts"),
    ],
    ids=lambda arguments: ascii(" ".join(arguments)),
)
def test_no_refusal_lets_a_log_steer_the_terminal(place: Path, arguments: tuple[str, ...]) -> None:
    result = cclake(place, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "hint: " in result.stderr
    assert_steers_no_terminal(result)


# ---- SQL.


def test_every_view_answers_and_every_check_is_silent(place: Path) -> None:
    assert ask_everything(place / "lake") == []


def test_what_was_logged_is_kept_letter_for_letter(place: Path) -> None:
    kept: dict[str, set[str]] = {}
    with closing(views.connect(Warehouse(place / "lake"))) as con:
        for column in ("cwd", "logged_session_id", "model", "message_id", "entrypoint"):
            ask = f"select distinct {column} from raw.entries"  # noqa: S608 - our own names
            kept[column] = {logged for (logged,) in con.execute(ask).fetchall()}
        ask = (
            "select tool_use_id, tool_name, target from raw.content_blocks where input is not null"
        )
        calls = sorted(con.execute(ask).fetchall())
    assert {name: set(HOSTILE.values()) - found for name, found in kept.items()} == {
        name: set() for name in kept
    }
    assert calls == sorted((f"call{bad}", bad, bad[:200]) for bad in HOSTILE.values())


def test_the_last_title_of_the_session_is_told_as_it_was_logged(place: Path) -> None:
    ask = f"select title, relocated_to, continued_in from sessions where session_id = '{SESSION}'"  # noqa: S608
    assert rows(place / "lake", ask) == [(HOSTILE["dots"],) * 3]


def test_a_session_of_any_name_is_found_by_its_name(place: Path) -> None:
    named = [HOSTILE[name] for name in ("climbing", "sql", "escape")]
    found = [
        one["session_id"]
        for bad in named
        for one in json.loads(cclake(place, "sessions", "--json", "--", bad).stdout)
    ]
    assert set(named) <= set(found)


def test_a_flat_agent_whose_session_has_no_name_waits(place: Path) -> None:
    ask = f"select part from source_files where path = '{AGENTS['empty']}'"  # noqa: S608
    assert value(place / "lake", ask) is None
