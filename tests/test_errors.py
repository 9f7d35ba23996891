"""Failures and the exit codes they end in."""

import pytest

from etl.errors import BusyError, CclakeError, StateError, StorageError, UsageError


@pytest.mark.parametrize(
    ("error", "code"),
    [(CclakeError, 1), (UsageError, 2), (BusyError, 3), (StateError, 4), (StorageError, 5)],
)
def test_each_failure_has_its_exit_code(error: type[CclakeError], code: int) -> None:
    assert error("it broke").exit_code == code


@pytest.mark.parametrize("error", [UsageError, BusyError, StateError, StorageError])
def test_every_failure_is_caught_as_one_of_ours(error: type[CclakeError]) -> None:
    with pytest.raises(CclakeError) as caught:
        raise error("no folder 'logs'", hint="name one")
    assert (caught.value.what, caught.value.hint) == ("no folder 'logs'", "name one")
    assert str(caught.value) == "no folder 'logs'"


def test_hint_may_be_left_out() -> None:
    assert StateError("damaged").hint is None
