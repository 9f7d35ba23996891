"""How results and errors are shown: tables, sizes, sentences, and what is escaped."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from etl import output
from etl.errors import StateError, UsageError

RUN = {
    "started_at": 1_000_000,
    "ended_at": 3_500_000,
    "is_committed": True,
    "files": 1200,
    "files_read": 1001,
    "bytes": 12_345_678,
    "entries": 98_765,
    "rejects": 2,
}


def test_json_keeps_letters_and_order_and_says_dates(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_json({"b": "café 🚢", "a": datetime(2026, 3, 1, tzinfo=UTC), "n": None})
    shown = capsys.readouterr()
    assert "café 🚢" in shown.out
    assert list(json.loads(shown.out).items()) == [
        ("b", "café 🚢"),
        ("a", "2026-03-01 00:00:00+00:00"),
        ("n", None),
    ]
    assert shown.err == ""


def test_talk_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("working")
    assert capsys.readouterr() == ("", "working\n")


def test_talk_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("wrote /la\x1b[2Jke\nand \u202eall")
    assert capsys.readouterr().err == "wrote /la\\x1b[2Jke\nand \\u202eall\n"


def test_a_failure_says_what_and_what_to_do_and_ends_with_its_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as caught:
        output.fail(StateError("commit '1' is damaged", hint="restore it"))
    assert caught.value.code == 4
    assert capsys.readouterr() == ("", "cclake: commit '1' is damaged\nhint: restore it\n")


def test_a_failure_without_a_hint_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        output.fail(UsageError("no"))
    assert capsys.readouterr().err == "cclake: no\n"


def test_a_failure_shows_a_hostile_name_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        output.fail(UsageError("no folder '\x1b]0;owned\x07'", hint="name one: \x9b2J"))
    assert capsys.readouterr().err == (
        "cclake: no folder '\\x1b]0;owned\\x07'\nhint: name one: \\x9b2J\n"
    )


def test_a_table_puts_words_left_and_numbers_right(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_table(
        ["model", "tokens", "share"],
        [("claude-opus", 1_234_567, 0.5), ("haiku", 89, None)],
    )
    assert capsys.readouterr().out == (
        "model           tokens  share\n"
        "───────────  ─────────  ─────\n"
        "claude-opus  1,234,567    0.5\n"
        "haiku               89\n"
    )


def test_a_table_without_rows_is_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_table(["day", "cost_usd"], [])
    assert capsys.readouterr().out == "day  cost_usd\n───  ────────\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (-1234, "-1,234"),
        (True, "true"),
        (1234.5, "1234.5"),
        (Decimal("0.0030"), "0.0030"),
        ("café 🚢", "café 🚢"),
        ("two\nlines\tand\x1b[2J", "two\\nlines\\tand\\x1b[2J"),
        ("\u202eevil\u2066\u200b", "\\u202eevil\\u2066\\u200b"),
    ],
)
def test_a_cell_is_shown_on_one_line(
    capsys: pytest.CaptureFixture[str], value: object, shown: str
) -> None:
    output.show_table(["x"], [(value,)])
    assert capsys.readouterr().out.splitlines()[2].strip() == shown


def test_the_name_of_a_column_is_shown_as_a_cell_is(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_table(["Ba\x9bsh\n"], [("ok",)])
    assert capsys.readouterr().out == "Ba\\x9bsh\\n\n──────────\nok\n"


def test_json_hides_nothing_from_whoever_looks_at_it(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_json({"title": "\x9b2J\u202e\x1b[2J"})
    assert capsys.readouterr().out == '{\n  "title": "\\u009b2J\\u202e\\u001b[2J"\n}\n'


def test_half_a_letter_can_be_shown() -> None:
    assert output.printable("name\udcff") == "name\\udcff"


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1_500_000, "1.5 MB"),
        (2_000_000_000, "2.0 GB"),
        (3e12, "3000.0 GB"),
    ],
)
def test_a_size_is_said_as_people_say_it(size: float, shown: str) -> None:
    assert output.size_of(size) == shown


def test_a_sync_is_told_in_one_sentence() -> None:
    assert output.sentence_of(RUN) == (
        "synced 1,001 of 1,200 files · 12.3 MB · 98,765 new entries · 2 rejects · 2.5 s"
    )


def test_a_sync_without_news_says_so() -> None:
    assert output.sentence_of(RUN | {"is_committed": False}) == "nothing new in 1,200 files · 2.5 s"


def test_a_status_is_a_line_a_fact(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_status(
        {
            "warehouse": "/data/la\x1bke",
            "commit": 42,
            "source_files": 1200,
            "files_gone": 3,
            "files_pending": 1,
            "log_bytes": 5_000_000,
            "warehouse_bytes": 900_000,
            "rows": {"usage": 12_345},
            "last_run": {**RUN, "problems": [["p/\x1b.jsonl", "cannot read"]]},
            "cleanup_days": 30,
            "advice": None,
        }
    )
    assert capsys.readouterr().out == (
        "warehouse       /data/la\\x1bke, commit 42\n"
        "logs            1,200 files, 5.0 MB read, 3 gone, 1 with a tail that waits\n"
        "on disk         900.0 kB\n"
        f"last run        1970-01-01 00:00:03 UTC: {output.sentence_of(RUN)}\n"
        "problems        1 in the last run\n"
        "                p/\\x1b.jsonl: cannot read\n"
        "logs live       30 days, then Claude Code deletes them\n"
        "usage                12,345\n"
    )


def test_files_are_told_one_by_one_or_counted_where_there_are_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = [(f"p/{n}.jsonl", "gone") for n in range(3)] + [("p/\x1b.jsonl", "no '\x9b'")]
    output.say_each(told, most=2)
    assert capsys.readouterr().err == "3 files: gone\np/\\x1b.jsonl: no '\\x9b'\n"
    output.say_each(told[:1])
    assert capsys.readouterr().err == "p/0.jsonl: gone\n"
