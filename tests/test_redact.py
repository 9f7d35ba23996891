"""Secrets of known kinds are hidden in raw lines, and nothing else is touched."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etl.redact import KINDS, SHAPES, Redactor, Shape
from tests.made_up_secrets import Sample, drawn, pem, samples

KEY = b"a key that only this test knows."
REDACTOR = Redactor(KEY)
SAMPLES = samples()
MARKER = re.compile(r"\[redacted:([a-z_]+):([0-9a-f]{16})\]")

every_sample = pytest.mark.parametrize(
    "sample", SAMPLES, ids=[f"{n}-{sample.kind}" for n, sample in enumerate(SAMPLES)]
)

every_shape = pytest.mark.parametrize(
    "shape", SHAPES, ids=[f"{n}-{shape.kind}" for n, shape in enumerate(SHAPES)]
)


def as_line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def places_for(text: str) -> dict[str, object]:
    """Where a secret may stand in a log line."""
    return {
        "text": {"type": "user", "message": {"content": f"the key is {text}, keep it"}},
        "whole value": {"token": text},
        "tool input": {"input": {"command": f"export KEY={text}\necho $KEY"}},
        "after an escape": {"out": [f"one\n{text}", f"two\t{text}\r\n", f"é{text}"]},
        "coloured": {"out": f"\x1b[0;32m{text}\x1b[0m"},
        "in an address": {"out": f"/?token%3D{text}&a=b"},
        "in a diff": {"lines": [f"-{text}", f"+{text}", f"@@\n-{text}\n+{text}"]},
        "json in json": {"out": json.dumps({"a": f"b\n{text}", "c": [text]})},
        "json in json in json": {"out": json.dumps(json.dumps([f"b\n{text}\n"]))},
        "key of an object": {text: 1, "b": {f"k {text}": [text]}},
        "end of the line": ["a", text],
        "twice": {"a": f"{text} {text}", "b": f"{text},{text}"},
        "quoted": {"a": f"'{text}' `{text}` <{text}> ({text}) “{text}”"},
    }


def skeleton(value: object) -> object:
    """What of a value may not change: everything but its texts."""
    if isinstance(value, dict):
        return [skeleton(item) for item in value.values()]
    if isinstance(value, list):
        return [skeleton(item) for item in value]
    return "" if isinstance(value, str) else value


def left_of(secret: str, text: str, length: int = 12) -> list[str]:
    pieces = {secret[at : at + length] for at in range(len(secret) - length + 1)}
    return sorted(piece for piece in pieces or {secret} if piece in text)


def all_texts(value: object) -> str:
    """Return every text in a value with all escaping undone, also that of JSON in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\\", "")


def only_letters(text: str) -> str:
    return re.sub(r"\s+", "", text)


@every_sample
def test_a_secret_is_hidden_wherever_it_stands_and_the_line_keeps_its_form(sample: Sample) -> None:
    for place, value in places_for(sample.text).items():
        for line in (as_line(value), as_line(value).replace(b"/", rb"\/")):
            redacted = REDACTOR.redact(line)

            found = json.loads(redacted)
            texts = all_texts(found)
            assert not left_of(only_letters(sample.secret), only_letters(texts)), place
            assert {kind for kind, _ in MARKER.findall(texts)} == {sample.kind}, place
            assert len({fingerprint for _, fingerprint in MARKER.findall(texts)}) == 1, place
            assert skeleton(found) == skeleton(value), place
            assert REDACTOR.redact(redacted) is redacted, place


def test_every_kind_is_listed() -> None:
    assert {shape.kind for shape in SHAPES} == set(KINDS)
    assert list(KINDS) == sorted(KINDS)


@every_shape
def test_every_shape_has_a_sample(shape: Shape) -> None:
    lines = [as_line(sample.text) for sample in SAMPLES if sample.kind == shape.kind]
    assert any(re.search(shape.context + shape.start + shape.rest, line) for line in lines)


def test_equal_secrets_have_equal_fingerprints_and_no_others() -> None:
    others = samples(seed=1)
    line = as_line([sample.text for sample in [*SAMPLES, *others, *SAMPLES]])

    found = json.loads(REDACTOR.redact(line))
    marks = [match[0] for text in found if (match := MARKER.search(text))]

    first, other, again = (marks[n * len(SAMPLES) : (n + 1) * len(SAMPLES)] for n in range(3))
    assert len(marks) == 3 * len(SAMPLES)
    assert first == again
    assert not set(first) & set(other)


def test_a_fingerprint_cannot_be_told_without_the_key() -> None:
    line = as_line([sample.text for sample in SAMPLES])

    one = MARKER.findall(REDACTOR.redact(line).decode())
    other = MARKER.findall(Redactor(KEY[::-1]).redact(line).decode())

    assert [kind for kind, _ in one] == [kind for kind, _ in other]
    assert not {mark for _, mark in one} & {mark for _, mark in other}


def test_a_secret_has_the_same_fingerprint_in_whatever_form_it_is_written() -> None:
    token = next(sample.secret for sample in SAMPLES if sample.kind == "github")
    slashed = "Account" + "Key=" + drawn(20) + "/" + drawn(64, seed=1) + "=="

    one = REDACTOR.redact(as_line([token, f"https://ada:{token}@example.org"])).decode()
    other = REDACTOR.redact(as_line(slashed) + as_line(slashed).replace(b"/", rb"\/")).decode()

    assert [kind for kind, _ in MARKER.findall(one)] == ["github", "url_password"]
    assert len({mark for _, mark in MARKER.findall(one)}) == 1
    assert len(MARKER.findall(other)) == 2
    assert len({mark for _, mark in MARKER.findall(other)}) == 1


@pytest.mark.parametrize("between", [" ", ",", "\n", "\t", '"', "|", "; "])
def test_two_secrets_side_by_side_are_both_hidden(between: str) -> None:
    for one, other in pairwise([*SAMPLES, SAMPLES[0]]):
        line = as_line({"a": one.text + between + other.text})

        text = json.loads(REDACTOR.redact(line))["a"]

        assert [kind for kind, _ in MARKER.findall(text)] == [one.kind, other.kind]
        for sample in (one, other):
            assert not left_of(only_letters(sample.secret), only_letters(text))


def test_nothing_is_left_of_secrets_that_run_into_each_other() -> None:
    tokens = ["gh" + "p_" + drawn(36, seed=1), "ya" + "29." + drawn(80, seed=2)]
    tokens += ["gh" + "p_" + drawn(36, seed=3)] * 2

    text = REDACTOR.redact(as_line(f"{tokens[0]}-{tokens[1]} {tokens[2]}{tokens[3]}")).decode()

    assert not any(left_of(token, text) for token in tokens)
    assert [kind for kind, _ in MARKER.findall(text)][:2] == ["github", "google"]


# ---- What stays.

JSON_TEXT = st.text() | st.sampled_from(
    ["sk-", "://a:", "-----BEGIN", "_key_", "eyJ", "\\n", "ghp_"]
)


@given(st.lists(st.lists(JSON_TEXT), max_size=5), st.binary())
def test_text_without_secrets_comes_back_as_the_same_object(
    values: list[list[str]], noise: bytes
) -> None:
    for text in (b"".join(map(as_line, values)), noise):
        assert REDACTOR.redact(text) is text


@pytest.mark.parametrize(
    "text",
    [
        "a task-force, a disk-based risk-averse desk-job; sk-learn, sk-spinner-fading-circle",
        "task-" + drawn(60),
        "ghp_short ghp_" + drawn(20),
        "not_gh" + "p_" + drawn(36),
        "xgh" + "p_" + drawn(36),
        "AKI" + "A" + "SHORT",
        "AKI" + "A" + "X" * 30,
        "BAKI" + "A" + "X" * 16,
        "sk-" + "ant-api03-…",
        "sk-" + "ant-your-key-here",
        "xoxb-your-token-here",
        "npm_config_cache=/tmp npm_lifecycle_event",
        "secret_scanning_push_protection_is_disabled_here",
        "secret_" + drawn(80),
        "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.",
        "https://example.org:8080/a@b http://localhost:3000 git@example.org:a/b.git",
        "postgres://ada:$PASSWORD@db postgres://ada:${PASSWORD}@db mysql://{u}:{p}@h x://u:***@h",
        "if '-----BEGIN RSA PRIVATE KEY-----' in text: refuse(text)",
        "-----BEGIN PUBLIC KEY-----\n" + drawn(64) + "\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\n" + drawn(64) + "\n-----END CERTIFICATE-----",
        # Behind a newline these begin with the letter of its escape.
        "pm_" + drawn(40),
        "tn_" + drawn(50),
        "AC" + drawn(32, "0123456789abcdef"),
        "ctx.branch.get_branch_last_commit_of_the_whole_repository(x)",
        "AccountKey=<your key> whsec_ hvs. dp.pt. SG.a.b r8_ hf_ dapi",
        "1234567890:AAA and 12:34:56",
    ],
)
def test_a_near_miss_stays_as_it_is(text: str) -> None:
    for value in places_for(text).values():
        line = as_line(value)
        assert REDACTOR.redact(line) is line


def test_base64_is_no_secret() -> None:
    image = drawn(300_000, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    line = as_line({"source": {"type": "base64", "data": image}})
    assert REDACTOR.redact(line) is line


@given(st.lists(st.sampled_from(SAMPLES) | st.text(), max_size=8), st.data())
def test_it_does_not_matter_how_lines_come_in_batches(
    parts: list[Sample | str], data: st.DataObject
) -> None:
    lines = [as_line({"a": part.text if isinstance(part, Sample) else part}) for part in parts]
    cut = data.draw(st.integers(0, len(lines)))

    whole = REDACTOR.redact(b"".join(lines))

    batches = (b"".join(lines[:cut]), b"".join(lines[cut:]))
    assert whole == b"".join(map(REDACTOR.redact, batches))
    assert whole.count(b"\n") == len(lines)


# ---- Private keys: many lines, and many ways to show them.

BEGIN, BODY, END = pem("")
KEY_LINES = [BEGIN, *BODY.strip().split("\n"), END]


@pytest.mark.parametrize(
    "shown",
    [
        "\n".join(KEY_LINES),
        "\r\n".join(KEY_LINES),
        " ".join(KEY_LINES),
        "".join(KEY_LINES),
        "\\n".join(KEY_LINES),
        "\n".join(KEY_LINES[:4]),
        "\n".join(KEY_LINES[:-1]),
        "\n".join(f"  {n}→{line}" for n, line in enumerate(KEY_LINES)),
        "\n".join(f"{n}\t{line}" for n, line in enumerate(KEY_LINES)),
        "\n".join(f"-{line}" for line in KEY_LINES),
        KEY_LINES,
        [f"+{line}" for line in KEY_LINES],
        "\n".join(
            [BEGIN, "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0A", "", *KEY_LINES[1:]]
        ),
        {"private_key": BEGIN + BODY + END, "client": "me"},
        json.dumps({"private_key": BEGIN + BODY + END, "client": "me"}, indent=1),
    ],
)
def test_a_private_key_is_hidden_however_it_is_shown(shown: object) -> None:
    for line in (as_line({"a": shown}), json.dumps({"a": shown}).encode() + b"\n"):
        redacted = REDACTOR.redact(line)

        text = all_texts(json.loads(redacted))
        assert not any(left_of(line, text, 8) for line in BODY.split())
        assert [kind for kind, _ in MARKER.findall(text)] == ["private_key"]
        assert skeleton(json.loads(redacted)) == skeleton(json.loads(line))
        assert REDACTOR.redact(redacted) is redacted


def test_a_private_key_has_one_fingerprint_however_it_is_shown() -> None:
    numbered = [f"  {n}→{line}" for n, line in enumerate(KEY_LINES)]
    shown = ["\n".join(KEY_LINES), "\\n".join(KEY_LINES), "\n".join(numbered), KEY_LINES]
    redacted = REDACTOR.redact(as_line(shown)).decode()
    marks = MARKER.findall(redacted)
    assert len(marks) == 4
    assert len(set(marks)) == 1


def test_a_private_key_that_was_cut_off_takes_no_prose_with_it() -> None:
    line = as_line("\n".join([*KEY_LINES[:3], "and so on, said the file", "Done."]))

    text = json.loads(REDACTOR.redact(line))

    assert text.endswith("and so on, said the file\nDone.")


def test_a_private_key_in_a_log_that_is_no_json_keeps_its_newlines() -> None:
    text = "\n".join(KEY_LINES).encode() + b"\n"

    redacted = REDACTOR.redact(text)

    assert redacted.count(b"\n") == text.count(b"\n")
    assert not left_of(only_letters(BODY), only_letters(redacted.decode()), 8)


# ---- Torn lines.


def opening_of(sample: Sample) -> int:
    """How much of a secret says what it is, and nothing else."""
    starts = [re.match(s.start, sample.secret.encode()) for s in SHAPES if s.kind == sample.kind]
    return max(start.end() for start in starts if start)


@every_sample
def test_no_beginning_of_a_secret_is_left_at_a_torn_end(sample: Sample) -> None:
    line = as_line({"a": "é", "key": f"x {sample.text}"})[: -len(sample.after) - 3]
    start = line.index(as_line(sample.secret)[1:6])
    for cut in range(start + opening_of(sample) + 8, len(line) + 1):
        redacted = REDACTOR.redact_tail(line[:cut])

        assert b"[redacted:" in redacted
        assert redacted.startswith(b'{"a":"\xc3\xa9"')
        assert REDACTOR.redact_tail(redacted) is redacted


def test_a_torn_line_without_secrets_comes_back_as_the_same_object() -> None:
    line = as_line({"a": "task-force at http://localhost:8080/app, ghp_ and sk-learn", "b": [1]})
    for cut in range(len(line)):
        text = line[:cut]
        assert REDACTOR.redact_tail(text) is text


# ---- The key.


@pytest.mark.parametrize("length", [0, 15, 65])
def test_a_key_that_is_too_short_or_too_long_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=f"16 to 64 bytes, not {length}"):
        Redactor(b"k" * length)
