"""Every field of every kind may be null, of a wrong type or missing: read, kept, never fatal."""

import json
import re
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etl import sessions, sqlfiles
from etl.commit import Warehouse
from etl.facts import Facts
from etl.normalise import known
from etl.restore import restore
from etl.tables import ENTRIES, FACTS
from etl.tables.shape import BOOLEAN, INTEGER, STRING
from tests.kinds import SPECIMENS
from tests.normalise.reader import canonical, facts_of, rebuilt_lines
from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    ask_everything,
    encoded,
    rows,
    run_sync,
    write_log,
)

Path_ = tuple[str | int, ...]

ABSENT = object()
WRONG: tuple[object, ...] = (None, 7, "x", [], {}, True, 1.5, ABSENT)
PYTHON_TYPES = {STRING: str, INTEGER: int, BOOLEAN: bool}
LIFTED = [column for column in ENTRIES.columns if column.path and column.type in PYTHON_TYPES]

integers = st.integers(-(1 << 63), (1 << 63) - 1)
words = st.text(max_size=8)
scalars = st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False)
keys = words | st.sampled_from(["type", "text", "content", "usage", "id", "~content"])
anything = st.just(ABSENT) | st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=4,
)


def paths_in(value: object, above: Path_ = ()) -> Iterator[Path_]:
    """Yield the path of everything below a value, however deep."""
    members: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    for key, member in members:
        yield (*above, key)
        yield from paths_in(member, (*above, key))


def changed(line: Line, path: Path_, value: object) -> Line:
    """Return a copy of a line with another value at a path, or with none."""
    copy = deepcopy(line)
    holder: Any = copy
    for key in path[:-1]:
        holder = holder[key]
    if value is ABSENT:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return copy


def all_changes_of(line: Line) -> list[Line]:
    return [changed(line, path, value) for path in paths_in(line) for value in WRONG]


def name_of(line: Line) -> str:
    return str(line.get("uuid", line["type"]))


def value_at(line: Line, path: tuple[str, ...], kind: type) -> object:
    """Return what stands at a path if it is of exactly this type, else None."""
    found: object = line
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if type(found) is kind else None


def assert_read_in_full(lines: list[Line]) -> None:
    """Check that tables are typed, right values in their columns, and every line comes back."""
    facts = facts_of(encoded(lines))
    for table in FACTS:
        facts[table.name].validate(full=True)
        assert facts[table.name].schema == table.schema()
    assert facts["rejects"].num_rows == 0
    assert_lifted(lines, facts)
    assert list(map(canonical, rebuilt_lines(facts))) == list(map(canonical, lines))


def assert_lifted(lines: list[Line], facts: Facts) -> None:
    """A value of its column's type is in the column; under any other the column is null."""
    for column in LIFTED:
        kind = PYTHON_TYPES[column.type]
        found = facts["entries"].column(column.name).to_pylist()
        assert found == [value_at(line, column.path, kind) for line in lines], column.name


# ---- Line by line.


def test_the_specimens_have_every_field_that_is_known() -> None:
    messages = [line["message"] for line in SPECIMENS if "message" in line]
    usages = [message["usage"] for message in messages if "usage" in message]
    assert set().union(*SPECIMENS) == known.TOP
    assert set().union(*messages) >= known.MESSAGE
    assert set().union(*usages) == known.USAGE


@pytest.mark.parametrize("line", SPECIMENS, ids=name_of)
def test_any_field_may_be_null_or_missing_or_of_a_wrong_type(line: Line) -> None:
    assert_read_in_full([line, *all_changes_of(line)])


@st.composite
def damaged_lines(draw: st.DrawFn) -> Line:
    """Change a specimen in up to three places, to anything that JSON can say."""
    line = draw(st.sampled_from(SPECIMENS))
    for _ in range(draw(st.integers(1, 3))):
        if paths := list(paths_in(line)):
            line = changed(line, draw(st.sampled_from(paths)), draw(anything))
    return line


@settings(deadline=None, max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(damaged_lines(), min_size=1, max_size=4))
def test_any_fields_may_be_anything_at_all(lines: list[Line]) -> None:
    assert_read_in_full(lines)


# ---- Through a whole sync.

AGENT = f"{PROJECT}/{SESSION}/subagents/agent-ab12.jsonl"


def assert_synced_in_full(folder: Path, main: list[Line], agent: list[Line]) -> None:
    """Sync a session and its agent, ask all that can be asked, and bring both files back."""
    logged = {f"{PROJECT}/{SESSION}.jsonl": main, AGENT: agent}
    for path, lines in logged.items():
        write_log(folder / "logs", lines, path)
    run = run_sync(folder / "logs", folder / "lake")
    assert (run.problems, run.rejects, run.entries) == ([], 0, len(main) + len(agent))
    assert ask_everything(folder / "lake") == []
    assert [one["session_id"] for one in sessions.found(Warehouse(folder / "lake"))] == [SESSION]
    for file in restore(Warehouse(folder / "lake"), SESSION, folder / "back"):
        back = (folder / "back" / file.path).read_bytes().splitlines()
        lines = logged.pop(file.path)
        assert [canonical(json.loads(line)) for line in back] == list(map(canonical, lines))
    assert logged == {}


def test_the_specimens_are_of_all_known_kinds_and_of_no_other(tmp_path: Path) -> None:
    assert_synced_in_full(tmp_path, SPECIMENS, SPECIMENS)
    # A message that was spread letter by letter has keys that nobody can know.
    ask = "select name from format_drift order by all"
    assert rows(tmp_path / "lake", ask) == [("message.0",), ("message.1",)]
    drift = next(one.query for one in sqlfiles.load("views") if one.name == "format_drift")
    listed = set(re.findall(r"'([\w-]+)'", " ".join(re.findall(r"not in \(([^)]*)\)", drift))))
    assert len(listed) > 100
    logged = encoded(SPECIMENS).decode()
    assert {kind for kind in listed if f'type":"{kind}"' not in logged} == set()


def test_a_log_of_every_change_to_every_field_is_synced_in_full(tmp_path: Path) -> None:
    changes = [new for line in SPECIMENS for new in all_changes_of(line)]
    assert_synced_in_full(tmp_path, changes, SPECIMENS)


@settings(deadline=None, max_examples=3, suppress_health_check=[HealthCheck.too_slow])
@given(*[st.lists(damaged_lines(), min_size=1, max_size=40)] * 2)
@pytest.mark.slow
def test_a_log_of_damaged_lines_is_synced_in_full(main: list[Line], agent: list[Line]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_synced_in_full(Path(folder), main, agent)
