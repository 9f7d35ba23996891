"""Bugs to plant, each of which would lose a line, double one, or show a reader another answer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from etl import derive, follow
from etl.chain import State
from etl.commit import Warehouse
from etl.discover import FoundFile
from etl.follow import FileOutcome
from etl.ledger import LedgerRow
from etl.read import LogReader

Plant = Callable[[pytest.MonkeyPatch], None]
MUTANTS: dict[str, Plant] = {}


def mutant(plant: Plant) -> Plant:
    MUTANTS[plant.__name__] = plant
    return plant


@mutant
def offset_past_the_torn_line(patch: pytest.MonkeyPatch) -> None:
    real = follow._follow  # noqa: SLF001 - the step that is spoiled

    def spoiled(*arguments: Any) -> FileOutcome:  # noqa: ANN401 - as the step
        outcome = real(*arguments)
        return replace(outcome, offset=outcome.offset + len(outcome.pending), pending=b"")

    patch.setattr(follow, "_follow", spoiled)


@mutant
def generation_not_raised(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("etl.follow.replace", lambda origin, **_: origin)


@mutant
def prefix_never_looked_at(patch: pytest.MonkeyPatch) -> None:
    real = LogReader.prefix_matches

    def spoiled(self: LogReader, offset: int, prefix_hash: str) -> bool:
        return real(self, min(offset, self.size), prefix_hash) or True

    patch.setattr(LogReader, "prefix_matches", spoiled)


@mutant
def a_size_tells_all(patch: pytest.MonkeyPatch) -> None:
    def spoiled(file: FoundFile, row: LedgerRow) -> bool:
        return file.size != row.size

    patch.setattr("etl.resume.needs_look", spoiled)


@mutant
def no_move_is_seen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("etl.pipeline._is_moved", lambda *_: False)


@mutant
def a_hint_is_a_move(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("etl.follow.LogReader.prefix_matches", lambda *_: True)


@mutant
def a_part_keeps_only_what_is_new(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("etl.build._PartBuilder._merged", only_what_is_new)


def only_what_is_new(builder: Any, name: str) -> Any:  # noqa: ANN401 - as the builder's step
    return pa.concat_tables([facts[name] for facts in builder._fresh])  # noqa: SLF001 - as above


@mutant
def recovery_drops_a_named_file(patch: pytest.MonkeyPatch) -> None:
    real = Warehouse.recover

    def spoiled(self: Warehouse, state: State) -> None:
        real(self, state)
        for file in state.files[:1]:
            (self.files / file.name).unlink()

    patch.setattr(Warehouse, "recover", spoiled)


@mutant
def old_trees_are_dropped_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("etl.commit.KEPT_SECONDS", -1)
    patch.setattr("etl.commit.KEPT_COMMITS", 1)


@mutant
def every_tail_is_taken_for_a_line(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("etl.read.LogReader.chunks", chunks_with_the_tail)


def chunks_with_the_tail(reader: Any) -> Any:  # noqa: ANN401 - as the reader's step
    for block in reader._blocks(reader.offset, reader.size):  # noqa: SLF001 - as above
        yield reader._chunk(block + b"\n" * (not block.endswith(b"\n")))  # noqa: SLF001 - as above


@mutant
def derived_from_what_is_not_first(patch: pytest.MonkeyPatch) -> None:
    real = derive.derive

    def spoiled(facts: Any, *more: Any) -> Any:  # noqa: ANN401 - as derive
        later = {name: rows.slice(min(1, rows.num_rows)) for name, rows in facts.items()}
        return real(later, *more)

    patch.setattr(derive, "derive", spoiled)


@mutant
def a_waiting_tail_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("etl.peek.with_pending", lambda row, *_: row)
