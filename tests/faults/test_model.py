"""The model test: any lives of logs, any syncs, any kills, and the promise after each step.

That it can fail is shown by mutants: bugs that could be, each planted for one test.
"""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from etl.errors import CclakeError
from tests.faults.life_mutants import MUTANTS
from tests.faults.machine import LivesOfLogs
from tests.faults.tally import Tally

patient = settings(
    deadline=None, suppress_health_check=list(HealthCheck), database=None, print_blob=False
)


def lived(tally: Tally, how: settings) -> None:
    counted = type("LivesOfLogs", (LivesOfLogs,), {"tally": tally})
    run_state_machine_as_test(counted, settings=how)


def test_no_life_of_a_log_and_no_kill_breaks_the_promise(tally: Tally) -> None:
    lived(tally, settings(patient, max_examples=3, stateful_step_count=20))


@pytest.mark.slow
def test_no_life_of_a_log_and_no_kill_breaks_the_promise_ever(tally: Tally) -> None:
    lived(tally, settings(patient, max_examples=200, stateful_step_count=30))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_bug_that_is_planted_is_found(
    mutant: str, monkeypatch: pytest.MonkeyPatch, tally: Tally
) -> None:
    tally.mutants_planted += 1
    MUTANTS[mutant](monkeypatch)
    how = settings(patient, max_examples=60, stateful_step_count=30, phases=[Phase.generate])
    with pytest.raises((AssertionError, CclakeError, OSError)):
        lived(Tally(), settings(how, derandomize=True, report_multiple_bugs=False))
    tally.mutants_caught += 1
