"""One step: fresh files stand in for those of their place, all others stay."""

from pathlib import Path

import pytest

from etl import step, views, write
from etl.build import PartResult
from etl.chain import State
from etl.commit import Warehouse
from etl.errors import StateError
from etl.parts import Slot
from etl.step import RunSummary
from etl.tables import DAILY_STATS, PROMPT_HISTORY, SYNC_RUNS, USAGE


def a_run(kind: str = "sync") -> RunSummary:
    return RunSummary("r", "laptop", step.now(), kind=kind)


@pytest.fixture
def warehouse(lake: Path) -> Warehouse:
    place = Warehouse(lake)
    place.create_folders()
    return place


def part_of(warehouse: Warehouse, number: int, source: str = "") -> PartResult:
    result = PartResult(Slot(number, "2026-03"), source=source)
    empty = USAGE.schema().empty_table()
    result.written.append((0, 0, write.write_table(USAGE, empty, warehouse.staging)))
    return result


def test_a_part_that_was_written_again_replaces_itself_and_no_other(warehouse: Warehouse) -> None:
    results = [part_of(warehouse, number) for number in (1, 2)]
    first = step.commit(warehouse, State(), results, {}, a_run())
    second = step.commit(warehouse, first, [part_of(warehouse, 2)], {}, a_run())
    names = [{file.part: file.name for file in state.files} for state in (first, second)]
    assert names[0][1] == names[1][1]
    assert names[0][2] != names[1][2]


def test_a_result_may_be_of_another_source_than_the_run(warehouse: Warehouse) -> None:
    results = [part_of(warehouse, 1), part_of(warehouse, 2, "desk")]
    state = step.commit(warehouse, State(), results, {}, a_run())
    assert {file.part: file.source for file in state.files if file.part} == {1: "laptop", 2: "desk"}


def test_every_step_adds_its_run_and_books_that_are_not_given_stay(warehouse: Warehouse) -> None:
    stats = DAILY_STATS.schema().empty_table()
    first = step.commit(warehouse, State(), [], {DAILY_STATS.name: stats}, a_run())
    prompts = PROMPT_HISTORY.schema().empty_table()
    state = step.commit(warehouse, first, [], {PROMPT_HISTORY.name: prompts}, a_run("forget"))
    assert {file.table for file in state.files} == {"daily_stats", "prompt_history", "sync_runs"}
    (runs,) = step.stored_books(warehouse, state, (SYNC_RUNS,)).values()
    assert runs.column("kind").to_pylist() == ["sync", "forget"]


def test_a_book_that_is_not_as_it_was_written_is_refused(warehouse: Warehouse) -> None:
    state = step.commit(warehouse, State(), [], {}, a_run())
    (file,) = state.files
    content = bytearray((warehouse.files / file.name).read_bytes())
    content[len(content) // 2] ^= 1
    (warehouse.files / file.name).write_bytes(content)
    with pytest.raises(StateError, match="is damaged"):
        step.stored_books(warehouse, state, (SYNC_RUNS,))


def test_showing_that_fails_is_a_problem_of_a_run_that_is_safe(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run()
    state = step.commit(warehouse, State(), [], {}, run)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(views, "refresh", full)
    step.show(warehouse, state, run)
    assert run.exit_code() == 1
    ((_, told),) = run.problems
    assert "commit 1 is safe" in told
    assert "No space left" in told
