"""Words found: where they stand, the newest first, copies once, and nowhere they were not asked."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from etl.cli import main
from etl.commit import Warehouse
from etl.errors import UsageError
from etl.search import AREAS, Found, Wish, search
from tests.pages.kiln import FORK, write_kiln
from tests.sessions import (
    SESSION,
    Line,
    assistant,
    envelope,
    run_sync,
    text,
    tool_result,
    tool_use,
    user,
    write_log,
)

OTHER = "33333333-3333-4333-8333-333333333333"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with one of everything, and a fork."""
    folder = tmp_path_factory.mktemp("search")
    write_kiln(folder / "logs")
    run_sync(folder / "logs", folder / "lake")
    return folder / "lake"


def found(
    lake: Path,
    words: str,
    limit: int = 20,
    **more: Any,  # noqa: ANN401 - the other conditions, each of its own type
) -> Found:
    return search(Warehouse(lake), Wish(words, **more), limit=limit, time_zone="UTC")


def places(lake: Path, words: str, **more: Any) -> list[tuple[str, str | None]]:  # noqa: ANN401
    """Where the words stand: the area, and the tool or the entry."""
    return [(hit.area, hit.tool_name or hit.uuid) for hit in found(lake, words, **more).hits]


def cclake(lake: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(main, ["search", *arguments, "--warehouse", str(lake)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


# ---- Where words stand.


def test_words_are_found_everywhere_but_in_thoughts_and_the_newest_come_first(lake: Path) -> None:
    assert places(lake, "hinge") == [
        ("answers", "a04"),
        ("results", "Task"),
        ("answers", "a09"),
        ("results", "Bash"),
        ("results", "Bash"),
    ]


@pytest.mark.parametrize(
    ("area", "words", "expected"),
    [
        ("prompts", "door of the kiln", [("prompts", "u1")]),
        ("prompts", "/cost all", [("prompts", "u2")]),
        ("prompts", "bricks alone", [("prompts", "q1")]),
        ("prompts", "This session is being continued", []),
        ("prompts", "Caveat", []),
        ("prompts", "Scratch it", []),
        ("inputs", "Scratch it", [("inputs", "Task")]),
        ("inputs", "free\nand oiled", [("inputs", "Edit")]),
        ("results", "hinge is rusty", [("results", "Bash")]),
        ("thinking", "Where is the hinge", [("thinking", "a01")]),
        ("answers", "hinge is rusty", []),
    ],
)
def test_an_area_holds_its_own_words_alone(
    lake: Path, area: str, words: str, expected: list[tuple[str, str]]
) -> None:
    assert places(lake, words, areas=(area,)) == expected


def test_a_copy_is_found_once_with_its_owner_and_in_the_fork_if_that_is_asked(lake: Path) -> None:
    (hit,) = found(lake, "I look at the").hits
    assert (hit.session_id, hit.project) == (SESSION, "/home/ada/kiln")
    (hit,) = found(lake, "I look at the", session=FORK[:4]).hits
    assert hit.session_id == FORK


def test_large_letters_are_small_ones_unless_told(lake: Path) -> None:
    (hit,) = found(lake, "THE HINGE WAS").hits
    assert hit.hit == "The hinge was"
    assert found(lake, "THE HINGE WAS", is_exact=True) == Found([], 0)
    assert found(lake, "The hinge was", is_exact=True).total == 1


def test_what_is_around_the_words_comes_with_them(lake: Path) -> None:
    (hit,) = found(lake, "rusty; it").hits
    assert (hit.before, hit.hit, hit.after) == ("The hinge was ", "rusty; it", " is free now.")


def test_a_tool_has_inputs_and_results(lake: Path) -> None:
    assert places(lake, "door.py", tool="Edit") == [("inputs", "Edit")]
    assert places(lake, "door", tool="Bash") == [("results", "Bash")]
    both = ("prompts", "results")
    assert places(lake, "door", tool="Bash", areas=both) == [("results", "Bash")]
    with pytest.raises(UsageError, match="prompts are of no tool"):
        found(lake, "door", tool="Bash", areas=("prompts",))


def test_a_limit_leaves_the_newest_and_counts_them_all(lake: Path) -> None:
    some = found(lake, "hinge", limit=2)
    assert ([hit.area for hit in some.hits], some.total) == (["answers", "results"], 5)


@pytest.mark.parametrize("words", ["", "  ", "\udcff"])
def test_no_words_and_no_text_are_refused(lake: Path, words: str) -> None:
    with pytest.raises(UsageError):
        found(lake, words)


def test_a_condition_that_is_no_text_is_refused(lake: Path) -> None:
    for wish in (
        Wish("hinge", tool="\udcff"),
        Wish("hinge", project="/\udcff"),
        Wish("hinge", session="\udcff"),
    ):
        with pytest.raises(UsageError):
            search(Warehouse(lake), wish, limit=1)


# ---- Which sessions.


@pytest.fixture(scope="module")
def barn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of two projects and two days."""
    folder = tmp_path_factory.mktemp("barn")
    for session, cwd, day in ((SESSION, "/home/ada/kiln", 1), (OTHER, "/home/ada/barn/loft", 2)):
        lines: list[Line | bytes] = [
            user(f"Hay on {day}", f"u{day}", cwd=cwd, sessionId=session)
            | {"timestamp": f"2026-03-0{day}T23:30:00.000Z"}
        ]
        write_log(folder / "logs", lines, f"-p/{session}.jsonl")
    run_sync(folder / "logs", folder / "lake")
    return folder / "lake"


def test_a_project_is_a_directory_with_all_below_it(barn: Path) -> None:
    for project, days in (
        ("/home/ada", ["u2", "u1"]),
        ("/home/ada/barn", ["u2"]),
        ("/home/ada/kiln", ["u1"]),
        ("/home/ada/bar", []),
    ):
        assert [hit.uuid for hit in found(barn, "hay", project=project).hits] == days


@pytest.mark.parametrize(
    ("since", "until", "zone", "expected"),
    [
        (None, 1, "UTC", ["u1"]),
        (2, None, "UTC", ["u2"]),
        (1, 2, "UTC", ["u2", "u1"]),
        (2, 2, "Europe/Berlin", ["u1"]),
        (3, None, "Europe/Berlin", ["u2"]),
        (5, None, "UTC", []),
    ],
)
def test_days_are_those_of_the_zone_and_the_last_is_among_them(
    barn: Path, since: int | None, until: int | None, zone: str, expected: list[str]
) -> None:
    first, last = (date(2026, 3, day) if day else None for day in (since, until))
    some = search(Warehouse(barn), Wish("hay", since=first, until=last), limit=9, time_zone=zone)
    assert [hit.uuid for hit in some.hits] == expected


def test_a_session_is_found_by_the_beginning_of_its_id(barn: Path) -> None:
    assert [hit.uuid for hit in found(barn, "hay", session="3333").hits] == ["u2"]
    with pytest.raises(UsageError, match="no session 'none'"):
        found(barn, "hay", session="none")


# ---- What stands twice.


def test_history_that_was_appended_again_is_found_once(logs: Path, tmp_path: Path) -> None:
    told = assistant(text("Barley"), tool_use("t1", command="barley"), uuid="a1", second=1)
    answered = tool_result("t1", "barley", uuid="r1", second=2)
    again = [told | {"uuid": "a2"}, answered | {"uuid": "r2"}]
    write_log(logs, [user("barley"), told, answered, *again])
    barley = tmp_path / "barley"
    run_sync(logs, barley)
    areas = [hit.area for hit in found(barley, "barley").hits]
    assert areas == ["results", "inputs", "answers", "prompts"]


def test_a_queued_prompt_that_is_logged_again_is_found_once(logs: Path, tmp_path: Path) -> None:
    queued = {"type": "queued_command", "prompt": "Also oats", "source_uuid": "u2"}
    lines: list[Line | bytes] = [
        user("Hi"),
        envelope("attachment", "q1", 5, attachment=queued),
        user("Also oats", "u2", 6, promptSource="queued"),
    ]
    write_log(logs, lines)
    run_sync(logs, tmp_path / "oats")
    assert [hit.uuid for hit in found(tmp_path / "oats", "oats").hits] == ["u2"]


def test_the_end_of_a_very_long_prompt_is_found(logs: Path, tmp_path: Path) -> None:
    write_log(logs, [user("x " * 6000 + "needle")])
    run_sync(logs, tmp_path / "hay")
    assert found(tmp_path / "hay", "needle").total == 1
    assert found(tmp_path / "hay", "x x").total == 1


# ---- The command.


def test_the_command_shows_hits_and_says_how_many_there_are(lake: Path) -> None:
    result = cclake(lake, "hinge", "--limit", "1", "--tz", "UTC")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "2026-03-01 08:00  kiln · 11111111 · answer",
        "  The hinge was rusty; it is free now.",
    ]
    assert result.stderr == "5 hits, the newest 1 shown; --limit 5 shows them all\n"


def test_nothing_found_is_no_failure(lake: Path) -> None:
    result = cclake(lake, "unicorn")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "nothing found\n")


def test_the_command_prints_hits_as_json(lake: Path) -> None:
    (hit,) = json.loads(cclake(lake, "rusty; it", "--json", "--tz", "UTC").stdout)
    assert hit == {
        "occurred_at": "2026-03-01 08:00:41+00:00",
        "project": "/home/ada/kiln",
        "session_id": SESSION,
        "agent_id": None,
        "area": "answers",
        "tool_name": None,
        "tool_use_id": None,
        "uuid": "a04",
        "before": "The hinge was ",
        "hit": "rusty; it",
        "after": " is free now.",
    }


def test_a_wrong_time_zone_and_a_wrong_day_are_named(lake: Path) -> None:
    for arguments, words in ((("--tz", "Mars/Phobos"), "Mars/Phobos"), (("--since", "x"), "'x'")):
        result = cclake(lake, "hinge", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert words in result.stderr


def test_a_warehouse_without_words_says_so(logs: Path, tmp_path: Path) -> None:
    write_log(logs, [user("Hi"), assistant()])
    run_sync(logs, tmp_path / "metrics", content="metrics")
    result = cclake(tmp_path / "metrics", "Hi")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "keeps metrics only" in result.stderr


def test_every_area_can_be_asked_for() -> None:
    (option,) = [one for one in main.commands["search"].params if one.name == "areas"]
    assert tuple(option.to_info_dict()["type"]["choices"]) == AREAS
