"""A file of own prices, as the command meets it: taken with the next sync, or refused whole."""

import json
import os
from decimal import Decimal
from pathlib import Path

import platformdirs
import pytest
from click.testing import CliRunner, Result

from etl.cli import main
from etl.prices import shipped
from tests.sessions import assistant, rows, run_sync, user, write_log

ALIAS = '[[alias]]\nname = "gateway/big"\nmodel = "claude-opus-5"\n'
MEANT = "select model from model_names"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a person without any other file keeps own prices."""
    for name in ("CCLAKE_PRICES", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = platformdirs.user_config_path("cclake", appauthor=False) / "prices.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def priced(logs: Path, lake: Path) -> Path:
    """A warehouse whose one response is logged under a name of somebody's own."""
    write_log(logs, [user("hi"), assistant(model="gateway/big")])
    run_sync(logs, lake)
    return lake


def cclake(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def sync(logs: Path, lake: Path) -> Result:
    return cclake("sync", "--source", "laptop", "--json", "--logs", logs, "--warehouse", lake)


def test_a_changed_file_is_taken_with_the_next_sync(own: Path, logs: Path, priced: Path) -> None:
    assert rows(priced, MEANT) == [(None,)]
    own.write_text(ALIAS)
    run = json.loads(sync(logs, priced).stdout)
    assert (run["is_committed"], run["entries"], run["commit"]) == (True, 0, 2)
    assert run["price_book_hash"] != shipped().content_hash
    assert run["events"] == [["price book", "changed"]]
    assert rows(priced, MEANT) == [("claude-opus-5",)]
    assert json.loads(sync(logs, priced).stdout)["is_committed"] is False
    own.unlink()
    assert json.loads(sync(logs, priced).stdout)["price_book_hash"] == shipped().content_hash
    assert rows(priced, MEANT) == [(None,)]


def test_what_was_logged_before_costs_what_the_file_says(
    own: Path, logs: Path, priced: Path
) -> None:
    spend = "select cost_usd, cost_status, unpriced_tokens from token_spend"
    assert rows(priced, spend) == [(None, "unpriced_model", 1113)]
    own.write_text('[[price]]\nmodel = "Gateway/Big"\ninput = "1"\noutput = "2"\n')
    sync(logs, priced)
    assert rows(priced, spend) == [(None, "unpriced_component", 1113)]
    # 3 of input, 10 of output, 100 written to the cache and 1,000 read from it.
    own.write_text(own.read_text() + 'cache_write_5m = "3"\ncache_read = "1000"\n')
    sync(logs, priced)
    assert rows(priced, spend) == [(Decimal("1.000323"), "priced", 0)]


def test_a_broken_file_refuses_the_sync_before_anything_is_written(
    own: Path, logs: Path, lake: Path
) -> None:
    write_log(logs, [user("hi")])
    own.write_text(ALIAS + '\n[[price]]\nmodel = "claude-opus-5"\ninput = 0.3\n')
    result = sync(logs, lake)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f'cclake: {own}, line 7: input: a price is written as text, such as "0.30", not 0.3\n'
        'hint: README.md, section "Prices", shows how they are written\n'
    )
    assert not lake.exists()


@pytest.mark.parametrize("command", [("query", MEANT), ("status",), ("sessions",)])
def test_a_broken_file_leaves_the_warehouse_of_use(
    own: Path, priced: Path, command: tuple[str, ...]
) -> None:
    own.write_text("[[price\n")
    result = cclake(*command, "--warehouse", priced)
    assert (result.exit_code, result.stderr) == (0, "")
    for refused in (("prices",), ("prices", "explain", "claude-opus-5")):
        assert (cclake(*refused).exit_code, cclake(*refused).stdout) == (2, "")


def test_a_named_file_that_is_not_there_is_exit_2(
    logs: Path, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCLAKE_PRICES", str(tmp_path / "gone.toml"))
    result = sync(logs, lake)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"cannot read own prices at '{tmp_path}/gone.toml': No such file" in result.stderr
    assert not lake.exists()


def test_no_test_meets_the_prices_of_whoever_runs_it() -> None:
    assert os.environ["CCLAKE_PRICES"] == os.devnull
