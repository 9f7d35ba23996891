"""Golden cases: a small log tree, the questions asked of it, and the answers a person checked.

A folder of tests/golden holds the tree in `logs/`, the questions in `ask.sql` (one select each,
below a line that names it) and the answers in `expect.txt`, which `make golden` writes again.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from etl import views
from etl.commit import Warehouse
from tests.sessions import run_sync

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(folder.name for folder in GOLDEN.iterdir())


def questions_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield each question with the line above it."""
    for question in text.strip().removesuffix(";").split(";\n"):
        title, _, query = question.strip().partition("\n")
        yield title, query


def shown(value: object) -> str:
    """Write one value so that it stays on its line and can be told from every other."""
    match value:
        case None | True | False:
            return {None: "-", True: "true", False: "false"}[value]
        case datetime():
            return f"{value:%H:%M:%S.%f}"[:-3]
        case bytes():
            return repr(value)[2:-1]
        case list():
            return "[" + ", ".join(map(shown, value)) + "]"
        case str():
            return value.replace("\n", "\\n") or "''"
        case _:
            return str(value)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def table_of(frame: pl.DataFrame) -> str:
    return aligned([frame.columns, *([shown(value) for value in row] for row in frame.rows())])


def answers_of(case: Path, warehouse: Path) -> str:
    """Sync the case's logs and answer its questions."""
    run_sync(case / "logs", warehouse)
    with closing(views.connect(Warehouse(warehouse), time_zone="UTC")) as con:
        answers = [
            f"{title}\n{table_of(con.sql(query).pl())}\n"
            for title, query in questions_of((case / "ask.sql").read_text())
        ]
    return "\n".join(answers)


@pytest.mark.parametrize("case", CASES)
def test_the_answers_are_those_that_a_person_checked(
    case: str, tmp_path: Path, *, rewrite_golden: bool
) -> None:
    found = answers_of(GOLDEN / case, tmp_path / "warehouse")
    expected = GOLDEN / case / "expect.txt"
    if rewrite_golden:
        expected.write_text(found)
    assert found == expected.read_text()


@pytest.mark.parametrize("case", CASES)
def test_every_question_of_a_case_has_a_name_and_is_one_select(case: str) -> None:
    questions = list(questions_of((GOLDEN / case / "ask.sql").read_text()))
    assert all(title.startswith("-- ") for title, _ in questions)
    assert all(query.startswith("select ") and "\n-- " not in query for _, query in questions)
