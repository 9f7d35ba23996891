"""Logged instants as microseconds since 1970."""

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# A day inside the calendar's ends, so that every time zone has a date for every instant.
_FIRST = (datetime(1, 1, 2, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // _MICROSECOND
# What Claude Code writes. Only this form can be written again from a column, letter for letter.
_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d\.\d{3}Z", re.ASCII)


def micros_of(text: str) -> int | None:
    """Return the instant, or None if the text is none that every time zone can show.

    Without a zone it is taken as UTC.
    """
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    micros = (instant - _EPOCH) // _MICROSECOND
    return micros if _FIRST <= micros <= _LAST else None


def is_canonical(text: str) -> bool:
    """Say whether the column alone gives this very text back."""
    return _CANONICAL.fullmatch(text) is not None


def text_of(micros: int) -> str:
    """Write an instant as Claude Code does."""
    moment = _EPOCH + micros * _MICROSECOND
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
