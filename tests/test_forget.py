"""Forgetting: exactly what was named goes, from every byte, and never comes back by itself."""

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from etl.check import check
from etl.cli import main
from etl.commit import Warehouse
from etl.errors import BusyError, CheckError, UsageError
from etl.forget import Scope, find, forget
from etl.omit import Wish
from tests.searching import places_of
from tests.sessions import (
    PROJECT,
    SESSION,
    append,
    assistant,
    rows,
    run_sync,
    tool_result,
    tool_use,
    user,
    value,
    write_log,
)

OTHER = "22222222-2222-4222-8222-222222222222"
WORDS = 'the "kiln" burns at noon, größer'


def talks(logs: Path) -> None:
    """Two sessions in two projects; the first one tells of the kiln, and has an agent."""
    write_log(
        logs,
        [
            user("Good morning", "u1", 0),
            user(f"Listen: {WORDS}", "u2", 1),
            assistant(tool_use("toolu_1", command=f"echo '{WORDS}'"), uuid="a1", second=2),
            tool_result("toolu_1", [{"type": "text", "text": WORDS}], uuid="r1", second=3),
            assistant(uuid="a2", second=4, message_id="msg_2", request="req_2", output=5),
            f"broken, {WORDS}\n".encode(),
        ],
    )
    agent = f"{PROJECT}/{SESSION}/subagents/agent-x"
    write_log(logs, [user("Go", "s1", 2, isSidechain=True, agentId="x")], f"{agent}.jsonl")
    write_log(logs, [{"agentType": "Explore", "description": WORDS}], f"{agent}.meta.json")
    write_log(
        logs,
        [
            user("Hello", "v1", 9000, sessionId=OTHER, cwd="/home/ada/oel"),
            assistant(uuid="b1", second=9001, message_id="msg_9", request="req_9", sessionId=OTHER),
        ],
        f"-home-ada-oel/{OTHER}.jsonl",
    )
    prompts = [
        {"display": WORDS, "timestamp": 1772352000000, "sessionId": SESSION},
        {"display": "Hello", "timestamp": 1772362000000, "project": "/home/ada/oel"},
    ]
    (logs / "history.jsonl").write_text(
        "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in prompts)
    )
    index = {"entries": [{"sessionId": SESSION, "firstPrompt": WORDS}, {"sessionId": OTHER}]}
    write_log(logs, [index], f"{PROJECT}/sessions-index.json")


@pytest.fixture
def told(logs: Path, lake: Path) -> Path:
    talks(logs)
    run_sync(logs, lake)
    append(logs / f"projects/{PROJECT}/{SESSION}.jsonl", user("More", "u9", 20))
    run_sync(logs, lake)
    return lake


def forgotten(lake: Path, **wish: str | date) -> Scope:
    found = find(Warehouse(lake), Wish(**wish))  # type: ignore[arg-type]
    forget(Warehouse(lake), found, source="laptop")
    assert check(Warehouse(lake)).findings == []
    return found.scope


def test_a_session_is_gone_from_every_byte_and_the_others_stay(told: Path) -> None:
    before = rows(told, f"from raw.entries where session_id = '{OTHER}' order by all")
    scope = forgotten(told, session=SESSION[:6])
    assert (scope.sessions, scope.files, scope.lines, scope.prompts) == ([SESSION], 3, 8, 1)
    assert places_of(told, WORDS) == []
    assert places_of(told, SESSION) == scope.traces == []
    assert rows(told, "from raw.entries order by all") == before
    assert rows(told, "select session_id from sessions") == [(OTHER,)]
    assert rows(told, "select display from prompt_history order by all") == [("Hello",), (None,)]
    assert Warehouse(told).commit_numbers() == [3]
    assert check(Warehouse(told), deep=True).findings == []


def test_a_forgotten_session_is_not_read_again_whatever_it_does(logs: Path, told: Path) -> None:
    forgotten(told, session=SESSION)
    log = logs / f"projects/{PROJECT}/{SESSION}.jsonl"
    append(log, user(f"again {WORDS}", "u10", 30))
    late = f"{PROJECT}/{SESSION}/subagents/agent-late.jsonl"
    write_log(logs, [user(WORDS, "s2", 2, isSidechain=True, agentId="late")], late)
    flat = f"{PROJECT}/agent-flat.jsonl"
    write_log(logs, [user(WORDS, "s3", 2, isSidechain=True, agentId="flat")], flat)
    (logs / "history.jsonl").write_text((logs / "history.jsonl").read_text()[:-1] + " \n")
    index = {"entries": [{"sessionId": SESSION, "firstPrompt": f"{WORDS}!"}]}
    write_log(logs, [index], f"{PROJECT}/sessions-index.json")
    run_sync(logs, told)
    log.rename(log.with_name("33333333-3333-4333-8333-333333333333.jsonl"))
    log.with_name("33333333-3333-4333-8333-333333333333.jsonl").unlink()
    run_sync(logs, told)
    assert places_of(told, WORDS) == []
    assert value(told, f"select count(*) from raw.entries where session_id = '{SESSION}'") == 0  # noqa: S608


def test_a_project_is_forgotten_with_its_sessions_and_prompts(told: Path) -> None:
    scope = forgotten(told, project="/home/ada/oel")
    assert scope.sessions == [OTHER]
    assert places_of(told, "/home/ada/oel") == []
    assert places_of(told, OTHER) == []
    assert rows(told, "select session_id from sessions") == [(SESSION,)]


def test_what_ended_before_a_day_is_forgotten(logs: Path, told: Path) -> None:
    later = user("April", "w1", 0, sessionId="later", timestamp="2026-04-02T08:00:00.000Z")
    write_log(logs, [later], f"{PROJECT}/later.jsonl")
    run_sync(logs, told)
    scope = forgotten(told, before=date(2026, 4, 1))
    assert scope.sessions == [SESSION, OTHER]
    assert rows(told, "select session_id from sessions") == [("later",)]
    assert places_of(told, WORDS) == []


def test_words_go_with_their_lines_and_the_rest_of_the_session_stays(told: Path) -> None:
    scope = forgotten(told, match=WORDS)
    assert (scope.sessions, scope.lines, scope.files) == ([], 4, 1)
    assert places_of(told, WORDS) == []
    assert rows(told, "select reason, count(*) from rejects group by all") == [("forgotten", 4)]
    kept = f"select uuid from raw.entries where session_id = '{SESSION}' order by uuid"  # noqa: S608
    assert rows(told, kept) == [("a2",), ("s1",), ("u1",), ("u9",)]
    assert value(told, "select sum(output_tokens)::bigint from usage") == 15


def test_words_that_cclake_uses_itself_go_from_all_that_was_logged(logs: Path, told: Path) -> None:
    write_log(logs, [user("A generation of kilns", "w1", 9)], f"{PROJECT}/long.jsonl")
    run_sync(logs, told)
    assert forgotten(told, match="generation").lines == 1
    assert rows(told, "select text from content_blocks where contains(text, 'generation')") == []
    assert value(told, "select reason from rejects where raw is null") == "forgotten"


def test_a_log_whose_name_has_the_words_is_told_with_what_to_do(logs: Path, told: Path) -> None:
    write_log(logs, [user("Hi", "w1", 9)], "-home-ada-kiln-secret/s.jsonl")
    write_log(logs, [user("A kiln-secret", "w2", 9)], f"{PROJECT}/t.jsonl")
    run_sync(logs, told)
    with pytest.raises(CheckError, match=r"source_files-.*: path") as caught:
        forgotten(told, match="kiln-secret")
    assert "move the log" in str(caught.value.hint)


def test_words_do_not_come_back_with_a_log_that_is_read_anew(logs: Path, told: Path) -> None:
    forgotten(told, match=WORDS)
    log = logs / f"projects/{PROJECT}/{SESSION}.jsonl"
    content = log.read_bytes()
    log.write_bytes(content.replace(b"Good morning", b"Good evening"))
    run_sync(logs, told)
    assert value(told, "select max(generation) from source_files") == 1
    assert places_of(told, WORDS) == []
    assert check(Warehouse(told)).findings == []


def test_words_in_chosen_sessions_stay_in_the_others(logs: Path, told: Path) -> None:
    write_log(logs, [user(WORDS, "x1", 0, sessionId="third")], f"{PROJECT}/third.jsonl")
    run_sync(logs, told)
    with pytest.raises(CheckError, match="still found") as caught:
        forgotten(told, match=WORDS, session="third")
    assert "other sessions have the words" in str(caught.value.hint)
    assert value(told, f"select count(*) from raw.entries where session_id = '{SESSION}'") == 7  # noqa: S608


def test_copies_in_other_sessions_are_told(logs: Path, told: Path) -> None:
    fork = [
        user("Good morning", "u1", 0, sessionId="fork"),
        user("New", "y1", 50, sessionId="fork"),
    ]
    write_log(logs, fork, f"{PROJECT}/fork.jsonl")
    run_sync(logs, told)
    assert forgotten(told, session=SESSION).copies == {"fork": 1}


def test_to_look_what_would_go_changes_nothing(told: Path) -> None:
    scope = find(Warehouse(told), Wish(session=SESSION)).scope
    assert (scope.files, scope.commit) == (3, 0)
    assert Warehouse(told).commit_numbers() == [1, 2]


def test_what_a_sync_has_added_since_the_look_does_not_go_unseen(logs: Path, told: Path) -> None:
    found = find(Warehouse(told), Wish(session=SESSION))
    append(logs / f"projects/{PROJECT}/{SESSION}.jsonl", user("Late", "u10", 30))
    run_sync(logs, told)
    with pytest.raises(BusyError, match="since it was looked at"):
        forget(Warehouse(told), found, source="laptop")
    assert Warehouse(told).commit_numbers() == [1, 2, 3]


@pytest.mark.parametrize(
    "wish", [{"project": "/home/ada"}, {"before": date(2030, 1, 1)}, {"match": "kiln"}]
)
def test_where_there_is_nothing_there_is_nothing_to_forget(
    logs: Path, lake: Path, wish: dict[str, str | date]
) -> None:
    with pytest.raises(UsageError, match="no warehouse"):
        forgotten(lake, **wish)
    run_sync(logs, lake)
    assert forgotten(lake, **wish).is_empty()


def test_nothing_that_is_like_that_makes_no_commit(told: Path) -> None:
    assert forgotten(told, match="never said").is_empty()
    assert Warehouse(told).commit_numbers() == [1, 2]


@pytest.mark.parametrize(
    ("wish", "told_why"),
    [({}, "nothing is named"), ({"session": "zz"}, "no session"), ({"session": ""}, "2 sessions")],
)
def test_a_wish_that_names_nothing_or_too_much_is_refused(
    told: Path, wish: dict[str, str], told_why: str
) -> None:
    with pytest.raises(UsageError, match=told_why):
        forgotten(told, **wish)


# ---- The command.


def cclake(lake: Path, *arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, [*arguments, "--warehouse", str(lake)], input=stdin)


def test_the_command_asks_first_and_tells_what_went(told: Path) -> None:
    refused = cclake(told, "forget", "--session", SESSION, stdin="n\n")
    assert refused.exit_code == 1
    assert Warehouse(told).commit_numbers() == [1, 2]
    done = cclake(told, "forget", "--session", SESSION, stdin="y\n")
    assert done.exit_code == 0
    assert "to go: 1 session · 3 files · 8 lines · 1 typed prompt\n" in done.stderr
    assert "no byte of it is left" in done.stderr


def test_the_command_prints_json(told: Path) -> None:
    done = cclake(told, "forget", "--match", WORDS, "--yes", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["lines"] == 4
    again = cclake(told, "forget", "--match", WORDS, "--dry-run")
    assert (again.exit_code, again.stdout) == (0, "")
    assert again.stderr == "nothing to forget: no session, line or prompt is like that\n"


def test_the_command_knows_directories_of_windows_and_where_projects_are_listed(
    logs: Path, told: Path
) -> None:
    there = user("Hi", "w1", 0, sessionId="w", cwd="F:\\Work\\Kiln")
    write_log(logs, [there], "F--Work-Kiln/w.jsonl")
    run_sync(logs, told)
    found = cclake(told, "forget", "--project", "F:\\Work\\Kiln", "--dry-run")
    assert found.stderr.startswith("to go: 1 session")
    none = cclake(told, "forget", "--project", "Kiln", "--dry-run")
    assert (none.exit_code, "select distinct project from sessions" in none.stderr) == (0, True)


def test_another_process_finds_nothing_either(told: Path) -> None:
    assert cclake(told, "forget", "--match", WORDS, "--yes").exit_code == 0
    ask = "select count(*) from content_blocks where contains(text, 'kiln')"
    command = [sys.executable, "-m", "etl", "query", ask, "--warehouse", str(told)]
    top = Path(__file__).resolve().parent.parent
    found = subprocess.run(command, cwd=top, capture_output=True, text=True, check=True)
    assert found.stdout.split()[-1] == "0"
