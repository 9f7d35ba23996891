"""Sessions are found by id and by directory, the last first."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from etl.cli import main
from etl.commit import Warehouse
from etl.sessions import found
from tests.sessions import (
    SESSION,
    Line,
    append,
    assistant,
    rows,
    run_sync,
    tool_use,
    user,
    write_log,
)

IDS = {
    "first": "aaaa1111-1111-4111-8111-111111111111",
    "second": "aaaa2222-2222-4222-8222-222222222222",
    "third": "bbbb3333-3333-4333-8333-333333333333",
}
CWDS = {"first": "/work/kiln", "second": "/work/kiln/glaze", "third": "/work/barn"}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("sessions")
    for at, (name, session) in enumerate(IDS.items()):
        place = {"sessionId": session, "cwd": CWDS[name]}
        ids = {"message_id": f"m-{name}", "request": f"r-{name}"}
        lines = [
            user(f"Build the {name}", f"u-{name}", 100 * at, **place),
            assistant(uuid=f"a-{name}", second=100 * at, **ids, **place),
        ]
        write_log(folder / "logs", lines, f"-work/{session}.jsonl")
    run_sync(folder / "logs", folder / "lake")
    return Warehouse(folder / "lake")


def names(sessions: list[dict[str, object]]) -> list[str]:
    by_id = {session: name for name, session in IDS.items()}
    return [by_id[str(one["session_id"])] for one in sessions]


def test_all_sessions_are_listed_the_last_first(lake: Warehouse) -> None:
    sessions = found(lake)
    assert names(sessions) == ["third", "second", "first"]
    assert sessions[0]["title"] == "Build the third"


@pytest.mark.parametrize(
    ("beginning", "expected"),
    [("aaaa", ["second", "first"]), (IDS["third"], ["third"]), ("cccc", []), ("%", [])],
)
def test_sessions_are_found_by_how_their_id_begins(
    lake: Warehouse, beginning: str, expected: list[str]
) -> None:
    assert names(found(lake, beginning=beginning)) == expected


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        ("/work/kiln", ["first"]),
        ("/work/kiln/glaze", ["second"]),
        ("/work/kiln/glaze/deep/down", ["second"]),
        ("/work/kiln/bricks", ["first"]),
        ("/work", []),
        ("/", []),
    ],
)
def test_a_directory_finds_the_sessions_of_the_nearest_above_it(
    lake: Warehouse, cwd: str, expected: list[str]
) -> None:
    assert names(found(lake, cwd=Path(cwd))) == expected


def test_the_command_prints_a_line_a_session(lake: Warehouse) -> None:
    result = CliRunner().invoke(main, ["sessions", "--limit", "2", "--warehouse", str(lake.folder)])
    assert result.exit_code == 0
    header, _, *lines = result.stdout.splitlines()
    assert header.split() == ["session", "ended", "turns", "output_tokens", "project", "title"]
    assert lines[0].split() == ["bbbb3333", "2026-03-01", "08:03", "1", "10", "barn", *THIRD]
    assert len(lines) == 2
    assert result.stderr == "1 more; --limit 3 shows them all\n"


THIRD = ["Build", "the", "third"]


def test_the_command_prints_json_with_all_columns(lake: Warehouse) -> None:
    arguments = ["sessions", "bbbb", "--json", "--warehouse", str(lake.folder)]
    (session,) = json.loads(CliRunner().invoke(main, arguments).stdout)
    assert (session["goal"], session["cwds"], session["turns"]) == (
        "Build the third",
        ["/work/barn"],
        1,
    )


def test_a_title_beside_the_log_counts_until_the_log_has_one(tmp_path: Path) -> None:
    log = write_log(tmp_path, [user("Light the kiln"), assistant()])
    (log.parent / SESSION).mkdir()
    (log.parent / SESSION / "custom-title.json").write_text('{"customTitle":"Kiln"}')
    run_sync(tmp_path, tmp_path / "lake")
    titles = "select title, title_source from sessions"
    assert rows(tmp_path / "lake", titles) == [("Kiln", "custom")]
    append(log, {"type": "custom-title", "customTitle": "Barn", "sessionId": SESSION})
    run_sync(tmp_path, tmp_path / "lake")
    assert rows(tmp_path / "lake", titles) == [("Barn", "custom")]


def test_a_directory_that_was_only_passed_through_is_not_where_a_session_began(
    tmp_path: Path,
) -> None:
    for session, cwds in (("x", ["/r/", "/r/src"]), ("y", ["/r"])):
        lines = [
            user("Hi", f"{session}{at}", at, cwd=cwd, sessionId=session)
            for at, cwd in enumerate(cwds)
        ]
        write_log(tmp_path, lines, f"-r/{session}.jsonl")
    append(
        tmp_path / "projects" / "-r" / "y.jsonl", {"type": "relocated", "relocatedCwd": "/moved"}
    )
    run_sync(tmp_path, tmp_path / "lake")
    lake = Warehouse(tmp_path / "lake")
    for cwd, expected in (("/r/src", ["x", "y"]), ("/moved/on", ["y"]), ("/", [])):
        assert sorted(str(one["session_id"]) for one in found(lake, cwd=Path(cwd))) == expected


def test_a_call_that_a_later_answer_passed_over_is_not_pending(tmp_path: Path) -> None:
    asked = [user("Hi"), assistant(tool_use("t1"), stop="tool_use")]
    log = write_log(tmp_path, asked)
    run_sync(tmp_path, tmp_path / "lake")
    assert rows(tmp_path / "lake", "select pending_tool from sessions") == [("Bash",)]
    ids = {"message_id": "m2", "request": "r2"}
    append(log, user("Well?", "u2", 9), assistant(uuid="a2", second=10, stop="end_turn", **ids))
    run_sync(tmp_path, tmp_path / "lake")
    assert rows(tmp_path / "lake", "select pending_tool from sessions") == [(None,)]


def test_a_title_without_letters_is_none(tmp_path: Path) -> None:
    titles: list[Line | bytes] = [
        {"type": "ai-title", "aiTitle": "Kiln", "sessionId": SESSION},
        {"type": "custom-title", "customTitle": "", "sessionId": SESSION},
    ]
    write_log(tmp_path, [user("Hi"), assistant(), *titles])
    run_sync(tmp_path, tmp_path / "lake")
    assert rows(tmp_path / "lake", "select title, title_source from sessions") == [("Kiln", "ai")]
