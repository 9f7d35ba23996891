"""Lines to begin with, and the ways to change them."""

import json

from hypothesis import strategies as st

from tests.faults.test_hostile_lines import BYTES, SHAPES
from tests.kinds import SPECIMENS
from tests.sessions import encoded

LONGEST_SEED = 20_000
TOKENS = [
    *(b'{"a":1}', b'{"', b'"}', b"[", b"]", b"{", b"}", b":", b",", b'"', b"\\", b"\n", b"\r"),
    *(b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-0", b"-0.0", b"1E+2", b"0.1", b"01"),
    *(b"9007199254740993", b"9223372036854775808", b"18446744073709551616", b"9" * 30, b"9" * 401),
    *(b"\\ud83d", b"\\ude00", b"\\u0000", b"\\u0022", b"\\/", b"\0", b"\xef\xbb\xbf", b"\xff"),
    *(b"\xed\xa0\x80", "\u2028".encode(), "\U0001f600".encode(), b" ", b"\t", b"\x0b", b"\x85"),
    *(b'"type":"text"', b'"type":"tool_result"', b'"type":"tool_use"', b'"~content":[]'),
    *(b'"content":[', b'"text":7', b'"text":"', b'"usage":{', b'"message":', b'"timestamp":'),
    *(b'"2026-02-30T25:61:61.999Z"', b'"9999-12-31T23:59:59.999Z"', b'"input":{', b'"id":[]'),
    *(
        b'"message":{"content":""}',
        b'"toolUseResult":{}',
        b"<task-notification>",
        b"<command-name>",
    ),
]


def seeds() -> list[bytes]:
    """Return a line of every known kind, in several spellings, and the bad ones of the tests."""
    plain = [encoded([line]).rstrip(b"\n") for line in SPECIMENS]
    spaced = [json.dumps(line).encode() for line in SPECIMENS]
    bad = [case.line for case in (BYTES | SHAPES).values() if len(case.line) <= LONGEST_SEED]
    return [*plain, *spaced, *bad]


Edit = tuple[str, int, int, bytes]  # what to do, where, how long, with what

_EDITS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "replace", "delete", "repeat", "cut", "splice", "flip"]),
        st.integers(0, 1 << 30),
        st.integers(1, 40),
        st.sampled_from(TOKENS) | st.binary(max_size=4),
    ),
    min_size=1,
    max_size=6,
)


@st.composite
def changed_lines(draw: st.DrawFn, lines: list[bytes]) -> bytes:
    """Draw a line and change it in a few places."""
    line, other = draw(st.sampled_from(lines)), draw(st.sampled_from(lines))
    for edit in draw(_EDITS):
        line = edited(line, edit, other)
    return line


def edited(line: bytes, edit: Edit, other: bytes) -> bytes:
    """Return a line after one change; a splice goes on with another line."""
    kind, where, length, token = edit
    at = where % (len(line) + 1)
    before, stretch, after = line[:at], line[at : at + length], line[at + length :]
    return (
        before
        + {
            "insert": token + stretch + after,
            "replace": token + after,
            "delete": after,
            "repeat": stretch * length + after,
            "cut": b"",
            "splice": other[where % (len(other) + 1) :],
            "flip": bytes(byte ^ 1 << length % 8 for byte in stretch[:1]) + stretch[1:] + after,
        }[kind]
    )
