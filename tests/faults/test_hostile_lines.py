"""Every kind of bad line in one log: a row or a reject each, its bytes kept, and never a crash."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from etl import restore, views
from etl.commit import Warehouse
from tests.faults.tally import Tally
from tests.normalise.reader import canonical
from tests.sessions import ask_everything, assistant, encoded, rows, run_sync, user, write_log

EXACT = ""  # no flaw: the object comes back from its columns, and its bytes are not kept
MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Case:
    """A bad line, and what becomes of it: rows with these flaws, or a reject for this reason."""

    line: bytes
    flaws: str | None = None
    reason: str | None = None
    objects: int = 1


def deep(before: str, after: str, depth: int, pair: tuple[str, str]) -> bytes:
    """A line that is so deep in all: as many pairs of brackets as are left for them."""
    depth -= before.count("[") + before.count("{")
    return (
        before + pair[0] * depth + "1" * (pair[0][-1] == ":") + pair[1] * depth + after
    ).encode()


PAIRS = {"lists": ("[", "]"), "objects": ('{"a":', "}")}
FIELDS = {
    "unknown": ('{"a":', "}"),
    "content": ('{"type":"user","message":{"content":[', "]}}"),
    "usage": ('{"type":"assistant","message":{"usage":{"iterations":', "}}}"),
    "result": ('{"type":"user","toolUseResult":', "}"),
    "input": (
        '{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"x":',
        "}}]}}",
    ),
}
NESTED = {
    f"{depth} {kind} in {field}": Case(
        deep(*ends, depth, pair), *((EXACT, None) if depth <= 512 else (None, "too_deep"))
    )
    for depth in (128, 512, 513, 1000, 10_000, 100_000)
    for field, ends in FIELDS.items()
    for kind, pair in PAIRS.items()
}
MILLION = {
    f"a million {kind}": Case(deep('{"a":', "}", 1_000_000, pair), reason="too_deep")
    for kind, pair in PAIRS.items()
}

NUMBERS = {
    "2^53": EXACT,
    "2^53 + 1": EXACT,
    "2^63 - 1": EXACT,
    "2^63": EXACT,
    "2^64 - 1": EXACT,
    "2^64": "big_integer",
    "-2^63": EXACT,
    "-2^63 - 1": "big_integer",
}
SPELLED = {
    "-0": EXACT,
    "-0.0": EXACT,
    "1E5": EXACT,
    "9" * 400: "big_integer",
    "9" * 401: "huge_integer",
    "9" * 5000: "huge_integer",
    "1e400": "infinite_number",
    "-1e400": "infinite_number",
    "0." + "1" * 5000: "long_number",
    "5e-324": EXACT,
    "1e-400": "long_number",
    "NaN": "NaN",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
}


def counted(number: str) -> bytes:
    """A response whose every count is this number."""
    usage = dict.fromkeys(("input_tokens", "output_tokens", "cache_read_input_tokens"), "N")
    line = encoded(
        [assistant(usage={**usage, "cache_creation": {"ephemeral_5m_input_tokens": "N"}})]
    )
    return line.rstrip(b"\n").replace(b'"N"', number.encode())


COUNTS = (
    {
        name: Case(counted(str(eval(name.replace("^", "**")))), flaws)  # noqa: S307 - our own numbers
        for name, flaws in NUMBERS.items()
    }
    | {name[:12] + str(len(name)): Case(counted(name), flaws) for name, flaws in SPELLED.items()}
)

BYTES = {
    "mark inside": Case(b'{"a":"' + MARK + b'"}', EXACT),
    "mark between": Case(b'{"a":1}' + MARK + b'{"b":2}', "byte_order_mark", objects=2),
    "mark before a colon": Case(b'{"a"' + MARK + b":1}", reason="invalid_json"),
    "utf-16": Case('{"a":1}'.encode("utf-16-le"), reason="invalid_json"),
    "crlf": Case(b'{"a":1}\r', EXACT),
    "cr between": Case(b'{"a":1}\r{"b":2}', EXACT, objects=2),
    "cr inside": Case(b'{"a":"\r"}', reason="invalid_json"),
    "tab inside": Case(b'{"a":"\t"}', reason="invalid_json"),
    "separators inside": Case('{"a":"\u2028\u2029\x85"}'.encode(), EXACT),
    "a line separator alone": Case("\u2028".encode(), reason="invalid_json"),
    "next line alone": Case("\x85".encode(), reason="invalid_json"),
    "byte 85 alone": Case(b"\x85", reason="invalid_json"),
    "tab of feeds between": Case(b'{"a":1}\x0b{"b":2}', reason="invalid_json"),
    "zeros": Case(b"\0" * 100_000, reason="not_an_object"),
    "zeros inside": Case(b'{"a":"\0\0"}', reason="invalid_json"),
    "zeros over the middle": Case(b'{"a":1,' + b"\0" * 4096 + b'"b":2}', reason="invalid_json"),
    "an escaped zero": Case(
        b'{"type":"user","cwd":"\\u0000","message":{"content":"\\u0000"}}', EXACT
    ),
    "cesu": Case(b'{"cwd":"\xed\xa0\xbd\xed\xb8\x80"}', "invalid_utf8"),
    "overlong": Case(b'{"cwd":"\xc0\xaf\xe0\x80\xaf"}', "invalid_utf8"),
    "beyond unicode": Case(b'{"cwd":"\xf4\x90\x80\x80\xf8\x88\x80\x80\x80"}', "invalid_utf8"),
    "cut character": Case('{"cwd":"é"}'.encode().replace(b"\xa9", b""), "invalid_utf8"),
    "invalid in a key": Case(b'{"\xff":1,"\xfe":2}', "duplicate_keys, invalid_utf8"),
    "low half first": Case(b'{"cwd":"\\udc00\\ud800"}', "lone_surrogate"),
    "halves that meet in keys": Case(b'{"\\ud800":1,"\\udbff":2}', "lone_surrogate"),
    "half in a block": Case(
        b'{"message":{"content":[{"type":"text","text":"\\ud800"}]}}', "lone_surrogate"
    ),
}
SHAPES = {
    "same key": Case(b'{"uuid":"a","uuid":"b"}', "duplicate_keys"),
    "same key by escape": Case(b'{"uuid":"a","\\u0075uid":"b"}', "duplicate_keys"),
    "same key below": Case(
        b'{"message":{"usage":{"input_tokens":1,"input_tokens":2}}}', "duplicate_keys"
    ),
    "null": Case(b"null", reason="not_an_object"),
    "a number": Case(b"17", reason="not_an_object"),
    "a text": Case(b'"text"', reason="not_an_object"),
    "a list": Case(b"[{}]", reason="not_an_object"),
    "nothing in it": Case(b"{}", EXACT),
    "two": Case(b'{"a":1}{"b":2}', EXACT, objects=2),
    "two with a comma": Case(b'{"a":1},{"b":2}', reason="invalid_json"),
    "two and a flaw": Case(b'{"a":NaN}{"b":2}', "NaN", objects=2),
    "an object and a number": Case(b"{}1", reason="not_an_object"),
    "trailing comma": Case(b'{"a":1,}', reason="invalid_json"),
    "trailing comma in a list": Case(b'{"a":[1,]}', reason="invalid_json"),
    "one bracket too many": Case(b'{"a":1}}', reason="invalid_json"),
    "brackets that cross": Case(b'{"a":[}]', reason="invalid_json"),
    "python": Case(b"{'a': None}", reason="invalid_json"),
    "a comment": Case(b'{"a":1} // b', reason="invalid_json"),
    "no name": Case(b'{"":{"":[]}}', EXACT),
    "names of objects": Case(b'{"__proto__":1,"constructor":2,"~content":[3]}', EXACT),
    "two million backslashes": Case(b'{"a":"' + b"\\" * 2_000_000 + b'"}', EXACT),
    "an odd backslash": Case(b'{"a":"' + b"\\" * 99_999 + b'"}', reason="invalid_json"),
    "a text without end": Case(b'{"a":"' + b"[{" * 100_000, reason="invalid_json"),
    "a flaw and a text without end": Case(
        b'{"b":NaN,"a":"' + b'\\"' * 100_000, reason="invalid_json"
    ),
}
WHOLE = encoded([assistant()]).rstrip(b"\n")
CUT = {f"cut at {at}": Case(WHOLE[:at], reason="invalid_json") for at in range(1, len(WHOLE), 7)}
CASES = NESTED | MILLION | COUNTS | BYTES | SHAPES | CUT
BLANK = [b"", b" ", b"\r", b"\t \r", b"\x0b\x0c"]


@dataclass(frozen=True, slots=True)
class Read:
    """What the warehouse says of one line."""

    entries: list[tuple[Any, ...]]
    rejects: list[tuple[Any, ...]]
    restored: bytes


@pytest.fixture(scope="module")
def lake() -> Iterator[Path]:
    """One sync of a log with every bad line, a good one and a blank one after each."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder) / "logs"
        good = [encoded([user("sound", f"u{number}")]) for number in range(len(CASES))]
        blank = [BLANK[number % len(BLANK)] + b"\n" for number in range(len(CASES))]
        bad = [case.line + b"\n" for case in CASES.values()]
        write_log(logs, [line for three in zip(bad, good, blank, strict=True) for line in three])
        run = run_sync(logs, Path(folder) / "lake")
        assert (run.exit_code(), run.problems, run.lines) == (0, [], 3 * len(CASES))
        again = run_sync(logs, Path(folder) / "lake")
        assert (again.exit_code(), again.is_committed, again.bytes) == (0, False, 0)
        yield Path(folder) / "lake"


@pytest.fixture(scope="module")
def read(lake: Path) -> dict[str, Read]:
    """What became of each line, by its name."""
    with closing(views.connect(Warehouse(lake), time_zone="UTC")) as con:
        ((file_id,),) = con.execute("select file_id from source_files").fetchall()
        lines = list(restore.lines_of(con, file_id, 0))
    entries = rows(
        lake, "select line_no, flaws, raw from raw.entries order by line_no, object_index"
    )
    rejects = rows(lake, "select line_no, reason, raw from rejects")
    return {
        name: Read(
            [row[1:] for row in entries if row[0] == 3 * at + 1],
            [row[1:] for row in rejects if row[0] == 3 * at + 1],
            lines[3 * at],
        )
        for at, name in enumerate(CASES)
    }


@pytest.mark.parametrize("name", CASES)
def test_a_bad_line_is_rows_or_a_reject_and_comes_back(
    read: dict[str, Read], name: str, tally: Tally
) -> None:
    case, found = CASES[name], read[name]
    tally.bad_inputs += 1
    if case.reason:
        assert (found.entries, found.rejects) == ([], [(case.reason, case.line)])
    else:
        kept = [case.line if case.flaws else None, *[None] * (case.objects - 1)]
        assert found.entries == [(case.flaws or None, raw) for raw in kept]
        assert found.rejects == []
    if case.reason or case.flaws:
        assert found.restored == case.line
    else:
        assert objects_in(found.restored) == objects_in(case.line)


def objects_in(line: bytes) -> list[str]:
    """The objects on a line as Python's own reader finds them, each as canonical text."""
    text, found, at = line.decode().strip(), [], 0
    while at < len(text):
        value, at = json.JSONDecoder().raw_decode(text, at)
        found.append(canonical(value))
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def test_the_lines_around_bad_ones_are_read_and_every_view_answers(lake: Path) -> None:
    ask = "select count(*) from raw.content_blocks where text = 'sound'"
    assert rows(lake, ask) == [(len(CASES),)]
    assert rows(lake, "select line_count from source_files") == [(3 * len(CASES),)]
    ask_everything(lake)
