"""What a fault test did, in numbers, and the one table of all of them."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields


@dataclass(slots=True)
class Tally:
    """The counts that one fault test keeps while it runs; `+` sums them."""

    injected: int = 0
    ended: int = 0  # runs that the fault ended
    violations: int = 0
    mutants_planted: int = 0
    mutants_caught: int = 0
    commits_lost: int = 0  # acknowledged ones
    bytes_unaccounted: int = 0
    bad_inputs: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        mine, others = asdict(self), asdict(other)
        return Tally(**{name: mine[name] + others[name] for name in mine})


@dataclass(slots=True)
class Group:
    """One row of the table: the tests of a group, and what they counted together."""

    tests: int = 0
    passed: int = 0
    tally: Tally = field(default_factory=Tally)

    def add(self, other: "Group") -> None:
        self.tests += other.tests
        self.passed += other.passed
        self.tally += other.tally


COLUMNS = (
    "group",
    "tests",
    "passed",
    "faults",
    "runs ended",
    "violations",
    "mutants caught",
    "commits lost",
    "bytes unaccounted",
    "bad inputs",
)


def group_of(node_id: str) -> str:
    """Name a test's group: the first word of its module, as in `make faults GROUP=power`."""
    found = re.search(r"test_([a-z]+)\w*\.py", node_id)
    return found.group(1) if found else node_id


def tally_from(stated: object) -> Tally:
    """Take a tally back out of a test report, where it is a dictionary."""
    assert isinstance(stated, dict)
    return Tally(**{one.name: int(stated[one.name]) for one in fields(Tally)})


def table_of(groups: dict[str, Group]) -> list[str]:
    """Return the table's lines: a row a group and their sum."""
    total = Group()
    for group in groups.values():
        total.add(group)
    rows = [_row(name, groups[name]) for name in sorted(groups)]
    return list(_aligned([COLUMNS, *rows, _row("all", total)]))


def _row(name: str, group: Group) -> tuple[str, ...]:
    tally = group.tally
    numbers = (group.tests, group.passed, tally.injected, tally.ended, tally.violations)
    mutants = f"{tally.mutants_caught} of {tally.mutants_planted}"
    rest = (tally.commits_lost, tally.bytes_unaccounted, tally.bad_inputs)
    return (name, *(f"{one:,}" for one in numbers), mutants, *(f"{one:,}" for one in rest))


def _aligned(rows: list[tuple[str, ...]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        name, *numbers = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join([name.strip().ljust(widths[0]), *numbers])
