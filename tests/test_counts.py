"""Numbers and what they count, as people say it."""

import pytest

from etl.counts import counted


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 entries"), (1, "1 entry"), (2, "2 entries"), (12345, "12,345 entries")],
)
def test_one_is_one_and_all_else_are_many(count: int, said: str) -> None:
    assert counted(count, "entry", "entries") == said


def test_most_things_take_an_s() -> None:
    assert [counted(count, "log") for count in (1, 3)] == ["1 log", "3 logs"]
