"""The prompt of cclake's own, in a terminal and without one."""

import signal
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from etl.cli import main
from etl.commit import Warehouse
from etl.shell import Typed, is_whole
from tests.sessions import append, assistant, run_sync, user, write_log
from tests.terminals import Terminal, terminal

READY, MORE = "cclake> ", "   ...> "
ENDLESS = "select sum(a.range * b.range) from range(10000000) as a, range(1000000) as b;\n"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse that these tests only read."""
    folder = tmp_path_factory.mktemp("shell")
    write_log(folder / "logs", [user("Hi"), assistant()])
    run_sync(folder / "logs", folder / "lake")
    return folder / "lake"


def answered(lake: Path, typed: str, *more: str) -> Result:
    arguments = ["shell", "--warehouse", str(lake), *more]
    result = CliRunner().invoke(main, arguments, input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


# ---- Where a statement ends.


@pytest.mark.parametrize(
    "text",
    ["select 1;", "select ';';", 'select 1 as ";" ; -- so', "select 1 /* ; */;\n", "select $$;$$;"],
)
def test_a_statement_ends_with_a_semicolon(text: str) -> None:
    assert is_whole(text)


@pytest.mark.parametrize(
    "text", ["select 1", "select ';", 'select ";', "select 1 -- ;", "/* ;", "select $a$ ;", ""]
)
def test_a_semicolon_in_quotes_or_a_comment_ends_nothing(text: str) -> None:
    assert not is_whole(text)


@given(st.lists(st.sampled_from(["select 1", ";", "';'", "-- ;", "/* ; */", "\n"]), max_size=8))
def test_what_is_typed_line_by_line_ends_where_it_ends_as_a_whole(pieces: list[str]) -> None:
    text = " ".join(["select 0", *pieces])
    typed = Typed()
    wholes = [whole for line in text.split("\n") if (whole := typed.add(line))]
    assert " ".join([*wholes, typed.rest()]).split() == text.split()
    assert all(is_whole(whole) for whole in wholes)


def test_a_command_begins_with_a_point_and_takes_one_line() -> None:
    typed = Typed()
    assert typed.add("  .help ") == ".help"
    assert typed.add("") is None
    assert typed.add("select") is None
    assert typed.add(".5 as half;") == "select\n.5 as half;"


# ---- Without a terminal.


def test_statements_on_stdin_are_answered_one_by_one(lake: Path) -> None:
    result = answered(lake, "select 1 as a; select\n 2 as b;\nselect count(*) as c from usage")
    assert (result.exit_code, result.stderr) == (0, "1 row\n1 row\n1 row\n")
    assert result.stdout.split() == ["a", "─", "1", "b", "─", "2", "c", "─", "1"]


def test_a_result_is_shown_up_to_a_limit(lake: Path) -> None:
    result = answered(lake, "from range(5);\nfrom range(2);", "--limit", "2")
    assert result.stdout == "range\n─────\n    0\n    1\n" * 2
    assert result.stderr == "the first 2 rows; --limit shows more\n2 rows\n"


def test_a_mistake_is_told_in_short_the_rest_is_answered_and_the_exit_code_is_2(
    lake: Path,
) -> None:
    long = "x" * 100_000
    result = answered(lake, f"selec;\nselect '{long}'::integer;\nload httpfs;\nselect 7 as n;")
    assert result.exit_code == 2
    assert result.stdout == "n\n─\n7\n"
    assert "Parser Error" in result.stderr
    assert "Could not convert string 'xxx" in result.stderr
    assert "reaches no network" in result.stderr
    assert len(result.stderr) < 2000


def test_what_one_statement_makes_the_next_one_has(lake: Path) -> None:
    made = "create table t as select 7 as n; insert into t values (8);\nfrom t order by n;"
    assert answered(lake, made).stdout.endswith("n\n─\n7\n8\n")


def test_the_tables_and_their_columns_are_explained(lake: Path) -> None:
    tables = answered(lake, ".tables\n").stdout
    assert "\nsessions " in tables
    assert "Agents that did real work: all but the warm-ups" not in tables  # one line each
    columns = answered(lake, ".schema turns\n.schema raw.usage;\n").stdout
    assert "idle_before_ms" in columns
    assert "from the end of the turn before in the log to this prompt" in columns
    assert "Response id given by the API." in columns


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (".schema nothing\n", "there is no 'nothing'"),
        (".schema\n", "'.schema' is no command"),
        (".shell rm\n", "'.shell' is no command here; .help lists them"),
        (".\x1b[2J\n", "'.\\x1b[2J' is no command"),
    ],
)
def test_a_command_that_is_none_is_told(lake: Path, typed: str, words: str) -> None:
    result = answered(lake, typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_help_is_said_and_quit_ends(lake: Path) -> None:
    result = answered(lake, ".help\n.quit\nselect 1;\n")
    assert (result.exit_code, result.stdout) == (0, "")
    assert ".schema NAME" in result.stderr


def test_days_are_those_of_the_zone_and_one_that_does_not_exist_is_named(lake: Path) -> None:
    hour = "select hour(occurred_at) as h from usage;"
    assert answered(lake, hour, "--tz", "Asia/Kolkata").stdout == " h\n──\n13\n"
    result = answered(lake, hour, "--tz", "Mars/Phobos")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "time zone 'Mars/Phobos' is not known" in result.stderr


def test_what_is_no_text_is_refused(lake: Path) -> None:
    result = CliRunner().invoke(main, ["shell", "--warehouse", str(lake)], input=b"select '\xff';")
    assert result.exit_code == 2
    assert "is no text" in result.stderr


# ---- In a terminal.


def begun(one: Terminal) -> None:
    one.until(READY)


def test_a_prompt_asks_drops_completes_and_remembers(lake: Path, tmp_path: Path) -> None:
    homes = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    arguments = ("shell", "--plain", "--warehouse", str(lake), "--tz", "UTC")
    with terminal(*arguments, **homes) as one:
        assert ".help says more" in one.until(READY)
        one.type("select 1 as dropped,\n")
        one.until(MORE)
        one.interrupt(READY)
        one.type("select 41 + 1\n")
        one.until(MORE)
        one.type("as answer;\n")
        shown = one.until(READY)
        assert "    42\r\n1 row\r\n" in shown
        one.type("selec;\n")
        assert "Parser Error" in one.until(READY)
        one.type("select count(*) as n from model_sp\t;\n")
        assert "model_spend" in one.until("1 row")
        begun(one)
        one.type("\x04")
        assert one.ended() == 0
    (history,) = (tmp_path / "state").rglob("history")
    assert history.stat().st_mode & 0o777 == 0o600
    assert history.parent.stat().st_mode & 0o777 == 0o700
    with terminal(*arguments, **homes) as one:
        begun(one)
        one.type("\x10\x10\n")  # up twice
        one.until("Parser Error")
        begun(one)
        one.type(".quit\n")
        assert one.ended() == 0
    lines = history.read_text().splitlines()
    assert lines[-1] == ".quit"
    assert lines.count("select 41 + 1") == 1


def test_ctrl_c_ends_a_statement_and_the_prompt_goes_on(lake: Path, tmp_path: Path) -> None:
    arguments = ("shell", "--plain", "--warehouse", str(lake))
    with terminal(*arguments, HOME=str(tmp_path), TMPDIR=str(tmp_path)) as one:
        begun(one)
        one.type(ENDLESS)
        one.until("as b;\r\n")
        one.interrupt(READY)
        one.type("select 7 as n;\n")
        assert "7" in one.until("1 row")
        begun(one)
        one.type("\x04")
        assert one.ended() == 0


def test_a_window_that_is_closed_leaves_nothing_behind_but_the_history(
    lake: Path, tmp_path: Path
) -> None:
    homes = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    with terminal("shell", "--plain", "--warehouse", str(lake), **homes) as one:
        begun(one)
        one.type("select 1 as n;\n")
        one.until(READY)
        one.type(ENDLESS)
        one.until("as b;\r\n")
        one.hang_up()
        assert one.ended() == 128 + signal.SIGHUP
    assert [path.name for path in tmp_path.iterdir()] == ["cclake"]
    assert "select 1 as n;" in (tmp_path / "cclake" / "history").read_text()


def test_a_history_that_cannot_be_kept_is_told_and_no_harm(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    homes = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    with terminal("shell", "--plain", "--warehouse", str(lake), **homes) as one:
        begun(one)
        one.type("select 1 as n;\n\x04")
        one.until("cannot be kept")
        assert one.ended() == 0


def test_a_prompt_outlives_the_commit_that_it_asks(logs: Path, tmp_path: Path) -> None:
    log = write_log(logs, [user("Hi"), assistant()])
    own = tmp_path / "own"
    run_sync(logs, own)
    arguments = ("shell", "--plain", "--warehouse", str(own))
    with terminal(*arguments, HOME=str(tmp_path)) as one:
        begun(one)
        one.type("select count(*) as n from raw.entries;\n")
        assert "\r\n2\r\n" in one.until(READY)
        for second in range(10, 50, 10):
            append(log, user("More", f"u{second}", second))
            run_sync(logs, own)
        let_go_of_earlier(Warehouse(own))
        one.type("select count(*) as n from raw.entries;\n")
        shown = one.until(READY)
        assert "this is the newest" in shown
        assert "\r\n6\r\n" in shown
        one.type("\x04")
        assert one.ended() == 0


def let_go_of_earlier(warehouse: Warehouse) -> None:
    """Let time go by: what is past its hour goes with the next sync."""
    with warehouse.lock():
        warehouse.retire(warehouse.load(), warehouse.folder.stat().st_mtime + 10_000)
