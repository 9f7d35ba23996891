"""The account of real logs: it comes out on a made-up tree, and says so when it does not."""

from pathlib import Path

from click.testing import CliRunner

from etl.demo import write_tree
from tests import real


def test_the_account_of_a_made_up_tree_comes_out(tmp_path: Path) -> None:
    truth = write_tree(tmp_path / "logs", megabytes=0.3, seed=3)
    result = CliRunner().invoke(real.main, [str(tmp_path / "logs")])
    assert result.exit_code == 0
    told = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines()[2:])
    assert told["lines rebuilt otherwise"] == told["bytes not accounted for"] == "0"
    assert told["objects"] == f"{truth['entries']:,}"
    assert told["rejects"] == f"{truth['rejects']:,}"
    assert told["check: every_byte_is_accounted_for"] == "silent"
