"""`python -m tests.benchmarks [MB]`: one table; exit code 1 if a measure does not hold."""

import click

from etl.output import say
from tests.benchmarks import answers, measures, pricing, trees
from tests.benchmarks import kills as struck

MOST_KILL_MB = 200.0


@click.command()
@click.argument("megabytes", type=float, default=float(measures.TARGET_MB))
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--kills", type=click.IntRange(min=0), default=20, show_default=True)
@click.option("--kill-mb", type=float, help="Tree of the kills (default: MB, at most 200).")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the kills' moments.")
def main(megabytes: float, rounds: int, kills: int, kill_mb: float | None, seed: int) -> None:
    """Measure cclake on a made-up tree of so many MEGABYTES, kept in .bench."""
    if megabytes < measures.TARGET_MB:
        say(f"targets are set for {measures.TARGET_MB} MB; a small tree is mostly start-up time")
    tree = trees.tree_of(megabytes)
    smaller = trees.tree_of(kill_mb or min(megabytes, MOST_KILL_MB))
    with trees.workplace() as place:
        found = list(measures.measures(tree, place, rounds=rounds))
        found += answers.measure(place / "lake", rounds=rounds)
        found += pricing.measure(place, rounds=rounds)
        if kills:
            found += struck.measure(smaller, place, kills=kills, seed=seed)
    measures.show(found)


if __name__ == "__main__":
    main()
