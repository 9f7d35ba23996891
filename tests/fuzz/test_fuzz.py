"""The fuzz target itself: it passes what is right, and finds and keeps what is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from etl import facts, parse
from etl.parse import JsonObject, Parsed, Rejected
from tests.fuzz.judge import Judge, WrongError, told_by_python
from tests.fuzz.lines import changed_lines, edited, seeds
from tests.fuzz.notes import noted

Read = JsonObject | Parsed | Rejected


def test_every_line_to_begin_with_is_read_as_promised() -> None:
    judge = Judge()
    for line in seeds():
        judge.look_at(line)
    judge.derive()
    assert judge.inputs == len(seeds()) > 300


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(changed_lines(seeds()))
def test_changed_lines_are_read_as_promised(line: bytes) -> None:
    Judge().look_at(line)


def test_python_tells_what_json_text_can_say_of_a_line() -> None:
    assert told_by_python(b'{"a":1} {"b":1.50}') is not None
    for line in (
        b'{"a":1,"a":2}',
        b'{"a":NaN}',
        b'{"a":"\\ud800"}',
        b'{"a":1e-9999999999999999999}',
        b"[]",
        b"{}1",
    ):
        told = told_by_python(line)
        assert told is not None
        assert not told.is_plain
    assert told_by_python(b'{"a":') is None


WRONG: dict[str, tuple[Callable[[Any], Read], bytes]] = {
    "loses a member": (lambda parsed: {**parsed, "type": None}, b'{"type":"user"}'),
    "gives up": (lambda _: Rejected("invalid_json"), b'{"type":"user"}'),
    "reads twice": (lambda parsed: Parsed((parsed, parsed)), b'{"type":"user"}'),
    "flaws nothing": (lambda parsed: Parsed(parse.objects_of(parsed)), b'{"a":1,"a":2}'),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_reader_that_does_wrong_is_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change, line = WRONG[kind]

    def wrong(one: bytes) -> Read:
        return change(parse.parse_line(one))

    Judge().look_at(line)
    monkeypatch.setattr(facts, "parse_line", wrong)
    with pytest.raises(WrongError):
        Judge().look_at(line)


def test_what_is_found_is_written_down_with_the_way_to_repeat_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        json.loads(b"")
    except ValueError:
        path = noted(b"\x00line", tmp_path)
    assert path.read_bytes() == b"\x00line"
    said = capsys.readouterr().err
    assert "Expecting value" in said
    assert f"-m tests.fuzz --repeat {path}" in said


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (("insert", 1, 9, b"X"), b"aXbc"),
        (("replace", 1, 1, b"X"), b"aXc"),
        (("delete", 1, 1, b""), b"ac"),
        (("repeat", 1, 2, b""), b"abcbc"),
        (("cut", 1, 9, b""), b"a"),
        (("splice", 1, 9, b""), b"ayz"),
        (("flip", 2, 1, b""), b"aba"),
    ],
)
def test_a_line_is_changed_in_seven_ways(edit: tuple[str, int, int, bytes], after: bytes) -> None:
    assert edited(b"abc", edit, b"xyz") == after
