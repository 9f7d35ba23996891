"""The table of `make faults`: it sums up what tests counted, and does not let a skip pass."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.tally import Group, Tally, group_of, table_of

TOP = Path(__file__).resolve().parents[2]
MODULE = """
import pytest
from tests.faults.tally import Tally

def test_one(tally: Tally) -> None:
    tally.injected += 3
    tally.mutants_planted += 1

def test_two(tally: Tally) -> None:
    tally.injected += 4
    assert False

@pytest.mark.skipif("{skips}" == "yes", reason="no such gear here")
def test_three(tally: Tally) -> None:
    tally.bad_inputs += 1
"""


def run_pytest(folder: Path, *options: str, skips: str = "yes") -> tuple[int, list[str]]:
    """Run a module of fault tests of its own, below a folder that is named like this one."""
    tests = folder / "tests" / "faults"
    tests.mkdir(parents=True)
    (tests / "test_made_up.py").write_text(MODULE.format(skips=skips))
    options = ("-c", os.devnull, "--rootdir", str(folder), "-p", "tests.faults.conftest", *options)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, str(tests)],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def test_the_table_sums_up_what_every_process_counted_and_names_each_skip(tmp_path: Path) -> None:
    _, lines = run_pytest(tmp_path, "-n", "2")
    (row,) = [line.split() for line in lines if line.startswith("made ")]
    assert row == ["made", "3", "1", "7", "0", "0", "0", "of", "1", "0", "0", "0"]
    (skip,) = [line for line in lines if line.startswith("not run: ")]
    assert skip.endswith("test_three: no such gear here")


@pytest.mark.parametrize(("skips", "exit_code"), [("yes", 1), ("no", 0)])
def test_a_skip_counts_as_not_passed_where_that_is_asked_for(
    skips: str, exit_code: int, tmp_path: Path
) -> None:
    code, _ = run_pytest(tmp_path, "-k", "not two", "--skips-fail", skips=skips)
    assert code == exit_code


def test_a_group_is_the_first_word_of_its_module() -> None:
    assert group_of("tests/faults/test_hostile_lines.py::test_a[1]") == "hostile"
    assert group_of("tests/faults/test_power.py::test_b") == "power"


def test_the_last_row_is_the_sum() -> None:
    one = Group(2, 2, Tally(injected=1200, mutants_planted=2, mutants_caught=1))
    other = Group(1, 0, Tally(injected=1, bytes_unaccounted=5))
    head, *rows = table_of({"power": one, "life": other})
    assert head.split("  ")[0] == "group"
    assert [row.split()[:4] for row in rows] == [
        ["life", "1", "0", "1"],
        ["power", "2", "2", "1,200"],
        ["all", "3", "2", "1,201"],
    ]
    assert "1 of 2" in rows[-1]
