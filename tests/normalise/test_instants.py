"""Instants: read from any ISO form, written as Claude Code writes them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etl.normalise.instants import is_canonical, micros_of, text_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR = 3_600_000_000
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 31))  # noqa: DTZ001 - zones follow


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00.000Z", 0),
        ("1970-01-01T00:00:00.001Z", 1_000),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("1969-12-31T23:59:59.999Z", -1_000),
        ("1970-01-01T01:00:00Z", HOUR),
        ("1970-01-01T02:00:00+01:00", HOUR),
        ("1970-01-01T00:00:00-01:00", HOUR),
        ("1970-01-01T01:00:00", HOUR),
        ("1970-01-01 01:00:00", HOUR),
        ("1970-01-02", 24 * HOUR),
    ],
)
def test_an_iso_text_is_an_instant_and_without_a_zone_in_utc(text: str, micros: int) -> None:
    assert micros_of(text) == micros


@pytest.mark.parametrize(
    "text", ["", "yesterday", "1772445600000", "2026-02-30T08:00:00.000Z", "2026-03-01T25:00:00Z"]
)
def test_any_other_text_is_none(text: str) -> None:
    assert micros_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "9999-12-31T23:59:59.999Z",
        "9999-12-31T23:59:59.999-12:00",
        "0001-01-01T00:00:00.000Z",
        "0001-01-01T00:00:00.000+12:00",
    ],
)
def test_an_instant_for_which_some_time_zone_has_no_date_is_none(text: str) -> None:
    assert micros_of(text) is None


@given(moments.map(lambda moment: moment.replace(tzinfo=UTC)))
def test_every_instant_is_exact_to_the_microsecond(moment: datetime) -> None:
    assert micros_of(moment.isoformat()) == (moment - EPOCH) // timedelta(microseconds=1)


@given(moments)
def test_what_claude_code_writes_comes_back_letter_for_letter(moment: datetime) -> None:
    text = f"{moment.isoformat(timespec='milliseconds')}Z"
    micros = micros_of(text)
    assert is_canonical(text)
    assert micros is not None
    assert text_of(micros) == text


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T08:00:00Z",
        "2026-03-01T08:00:00.000000Z",
        "2026-03-01T08:00:00.000+00:00",
        "2026-03-01 08:00:00.000Z",
        "2026-03-01T08:00:00.000z",
        " 2026-03-01T08:00:00.000Z",
        "2026-03-01T08:00:00.000Z\n",
        "2026-03-01T24:00:00.000Z",
        "२०२६-03-01T08:00:00.000Z",
    ],
)
def test_no_other_spelling_is_canonical(text: str) -> None:
    assert not is_canonical(text)


@given(st.text(alphabet="0123456789-:.TZ+ ", max_size=30) | st.text(max_size=30))
def test_no_text_makes_it_raise(text: str) -> None:
    micros = micros_of(text)
    assert micros is None or isinstance(micros, int)
