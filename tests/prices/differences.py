"""`python -m tests.prices.differences`: our Claude book beside the data of two libraries.

Every difference has a reason in known_differences.toml, or the exit code is 1.
"""

import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import click

from etl.output import say, show_table
from etl.prices import shipped
from tests.prices import wheels
from tests.prices.beside import GENAI, LITELLM, Row, genai_rows, litellm_rows, shown

KNOWN = Path(__file__).parent / "known_differences.toml"
UNEXPLAINED = "UNEXPLAINED"
AGREES = "agrees"


@dataclass(frozen=True, slots=True)
class Known:
    """A difference that somebody has looked into: where it is, what they say, who is right."""

    library: str
    features: frozenset[str]
    theirs: str
    reason: str
    models: frozenset[str] = frozenset()
    before: date = date.max

    def explains(self, row: Row) -> bool:
        """Say whether a row is this difference; another price of theirs is another one."""
        return (
            (self.library, self.theirs) == (row.library, row.compared())
            and row.feature in self.features
            and (not self.models or row.model in self.models)
            and (row.since or date.min) < self.before
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """A row, and whether it agrees, or why not."""

    row: Row
    verdict: str


def known_in(text: str) -> list[Known]:
    """Read the differences that are known."""
    return [
        Known(
            entry["library"],
            frozenset(entry["features"]),
            entry["theirs"],
            entry["reason"],
            frozenset(entry.get("models", ())),
            entry.get("before", date.max),
        )
        for entry in tomllib.loads(text)["difference"]
    ]


def judged(rows: Iterable[Row], known: Sequence[Known]) -> list[Judged]:
    """Say of every row whether it agrees, and if not, why."""
    return [Judged(row, _verdict(row, known)) for row in rows]


def _verdict(row: Row, known: Sequence[Known]) -> str:
    if row.agrees():
        return AGREES
    return next((each.reason for each in known if each.explains(row)), UNEXPLAINED)


def unseen(rows: Sequence[Row], known: Sequence[Known]) -> list[Known]:
    """Return the known differences that are no longer there."""
    return [each for each in known if not any(each.explains(row) for row in rows)]


def report(rows: Sequence[Row], known: Sequence[Known]) -> int:
    """Print all rows and what they come to; return 1 if a difference has no reason, else 0."""
    lines = judged(rows, known)
    names = ["library", "model", "feature", "since", "ours", "theirs", "verdict"]
    show_table(names, [[*_cells(line.row), line.verdict] for line in lines])
    click.echo()
    counts = Counter((line.row.library, line.verdict) for line in lines)
    show_table(["library", "verdict", "rows"], [[*key, n] for key, n in sorted(counts.items())])
    for each in unseen(rows, known):
        say(f"no longer seen: {each.library}, {', '.join(sorted(each.features))}: {each.reason}")
    return int(any(line.verdict == UNEXPLAINED for line in lines))


def _cells(row: Row) -> list[object]:
    return [row.library, row.model, row.feature, row.since, shown(row.ours), shown(row.theirs)]


@click.command()
@click.option("--wheels", "folder", type=click.Path(path_type=Path), help="Download nothing.")
def main(folder: Path | None) -> None:
    """Compare the book with the newest wheels of both libraries, or with those in a folder."""
    with wheels.wheel_of(GENAI, None, folder) as wheel:
        rows = genai_rows(shipped(), wheels.text_in(wheel, "genai_prices/data.py"))
    with wheels.wheel_of(LITELLM, None, folder) as wheel:
        table = wheels.text_in(wheel, "litellm/model_prices_and_context_window_backup.json")
        rows += litellm_rows(shipped(), table)
    sys.exit(report(rows, known_in(KNOWN.read_text("utf-8"))))


if __name__ == "__main__":
    main()
