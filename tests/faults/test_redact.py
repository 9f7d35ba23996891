"""Secrets are found in whatever form they may have, in time in proportion to the text."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etl.redact import SHAPES, Redactor, Shape
from tests.faults.tally import Tally
from tests.made_up_secrets import samples

REDACTOR = Redactor(b"a key that only this test knows.")
RUNS = (b"a", b"0", b"aA-", b"-", b"/", b"\\", b" ", b"\\n", b'"', b"eyJ.", b"a:")

every_shape = pytest.mark.parametrize(
    "shape", SHAPES, ids=[f"{n}-{shape.kind}" for n, shape in enumerate(SHAPES)]
)


def opening_of(shape: Shape) -> bytes:
    """Return how a secret of this shape begins, and a little more."""
    pattern = re.compile(shape.context + shape.start + shape.rest)
    for sample in samples():
        if sample.kind == shape.kind and pattern.search(f'x"{sample.text}"'.encode()):
            return (sample.before + sample.secret[:8]).replace("\n", "\\n").encode()
    raise AssertionError(shape)


def false_beginnings(opening: bytes) -> Iterator[bytes]:
    """What looks like a secret again and again and is none, so that every look is in vain."""
    for end in (b"", b"-", b"\\n-", b" ", b'"', b"a" * 12, b"a" * 12 + b"-"):
        yield opening + end


def cpu_seconds(work: Callable[[bytes], bytes], text: bytes) -> float:
    start = time.process_time()
    work(text)
    return time.process_time() - start


@every_shape
def test_a_few_kilobytes_of_false_beginnings_take_no_time(shape: Shape, tally: Tally) -> None:
    opening = opening_of(shape)
    texts = [
        b"".join(unit * (1_000 // len(unit)) for unit in false_beginnings(opening)),
        *(opening + run * (20_000 // len(run)) for run in RUNS if len(run) == 1),
    ]
    tally.bad_inputs += len(texts)
    for text in texts:
        assert cpu_seconds(REDACTOR.redact, text) < 0.2, text[:60]
        assert cpu_seconds(REDACTOR.redact_tail, text) < 0.2, text[:60]


@pytest.mark.slow
@every_shape
def test_four_times_as_much_text_takes_about_four_times_as_long(shape: Shape, tally: Tally) -> None:
    opening = opening_of(shape)
    for unit in (opening + b"-", *RUNS):
        spent = [
            cpu_seconds(REDACTOR.redact, opening + unit * (size // len(unit)))
            for size in (1 << 18, 1 << 20)
        ]
        tally.bad_inputs += len(spent)
        assert spent[1] <= 10 * spent[0] + 0.1, unit  # sixteen times would be quadratic


@pytest.mark.slow
def test_lines_without_secrets_cost_little() -> None:
    line = b'{"type":"user","uuid":"0f8e-4a1b","message":{"content":"a task for today"}}\n'
    text = line * (20_000_000 // len(line))

    assert cpu_seconds(REDACTOR.redact, text) < 2  # a tenth of what is usual, for a busy machine


@pytest.mark.slow
@every_shape
def test_whatever_a_shape_describes_is_found(shape: Shape, tally: Tally) -> None:
    pattern = shape.context + shape.start + shape.rest
    for around, inside in ((rb":(?<=[A-Za-z0-9]:)", b"s:"), (rb"(?=@[\w\[])", b"@h")):
        pattern = pattern.replace(around, inside)

    @settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(pattern, fullmatch=True))
    def hidden(secret: bytes) -> None:
        tally.bad_inputs += 1
        assert b"[redacted:" in REDACTOR.redact(b' "' + secret + b'"')

    hidden()
