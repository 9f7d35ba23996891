"""What an answer takes: every view over one warehouse, in one open connection, first and warm.

Every row and column is fetched as Arrow, batch by batch, and thrown away: of a mere count DuckDB
would leave out all that the count does not need.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import click
import duckdb

from etl import sqlfiles, views
from etl.commit import Warehouse
from tests.benchmarks.measures import Measure, show

# Wall time, warm, at a gigabyte of logs.
AIMS = {"daily_spend": 0.3, "turns": 1.0, "sessions": 1.0}
MOST_SECONDS = 2.0
BATCH_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class Fetched:
    """One answer: what it took, and how many rows came."""

    rows: int
    wall_seconds: float
    cpu_seconds: float

    def shown(self) -> str:
        """Return the times, wall and CPU of all threads."""
        return f"{self.wall_seconds:.2f} s ({self.cpu_seconds:.2f} CPU)"


@click.command()
@click.argument("lake", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
def main(lake: Path, rounds: int) -> None:
    """Measure the answers of one warehouse."""
    show(list(measure(lake, rounds=rounds)))


def measure(lake: Path, *, rounds: int) -> Iterator[Measure]:
    """Measure how long a warehouse takes to open, then each view: first, and the best of rounds."""
    started = time.perf_counter()
    with closing(views.connect(Warehouse(lake), time_zone="UTC")) as con:
        opened = time.perf_counter() - started
        yield Measure("opening a warehouse", f"{opened:.2f} s")
        for view in sqlfiles.load("views"):
            yield _answer(con, view.name, rounds)


def _answer(con: duckdb.DuckDBPyConnection, name: str, rounds: int) -> Measure:
    first = _fetched(con, name)
    warm = min((_fetched(con, name) for _ in range(rounds)), key=lambda one: one.wall_seconds)
    aim = AIMS.get(name, MOST_SECONDS)
    return Measure(
        f"view {name}, {first.rows:,} rows",
        f"first {first.shown()}, warm {warm.shown()}",
        f"< {aim:g} s warm",
        warm.wall_seconds < aim,
    )


def _fetched(con: duckdb.DuckDBPyConnection, name: str) -> Fetched:
    wall, cpu = time.perf_counter(), time.process_time()
    batches = con.sql(f"from {name}").to_arrow_reader(BATCH_ROWS)
    rows = sum(batch.num_rows for batch in batches)
    return Fetched(rows, time.perf_counter() - wall, time.process_time() - cpu)


if __name__ == "__main__":
    main()
