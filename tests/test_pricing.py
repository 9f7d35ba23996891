"""The price book in the warehouse: its rates, the names that are logged, and when they change."""

from pathlib import Path

from etl import pricing
from etl.commit import Warehouse
from etl.prices import shipped
from etl.prices.book import ANTHROPIC
from etl.prices.overrides import with_overrides
from tests.sessions import append, assistant, rows, run_sync, user, write_log

REGIONAL = "us.anthropic.claude-opus-4-6-v1"
NAMES = "select name, model, is_regional, speed from model_names order by name"


def test_the_tables_hold_every_model_and_every_name() -> None:
    tables = pricing.tables_of(shipped(), ["claude-opus-4-5-20251101", "glow-1", "glow-1"])
    rates = tables["rate_cards"].to_pylist()
    assert {row["model"] for row in rates} == shipped().models(ANTHROPIC)
    assert all(row["source"] and row["web_search_pico_usd"] == 10_000_000_000 for row in rates)
    assert tables["model_names"].to_pylist() == [
        {
            "name": "claude-opus-4-5-20251101",
            "model": "claude-opus-4-5",
            "is_regional": False,
            "speed": None,
        },
        {"name": "glow-1", "model": None, "is_regional": False, "speed": None},
    ]


def test_of_other_vendors_only_the_models_that_are_logged_have_rates() -> None:
    tables = pricing.tables_of(shipped(), ["z-ai/glm-4.6", "GLM-4.6", "glm-4.6:free"])
    rates = [row for row in tables["rate_cards"].to_pylist() if row["provider"] != ANTHROPIC]
    assert [(row["model"], row["provider"], row["evidence"]) for row in rates] == [
        ("zai/glm-4.6", "zai", "fallback")
    ]
    assert rates[0]["web_search_pico_usd"] is None
    meant = {row["name"]: row["model"] for row in tables["model_names"].to_pylist()}
    assert meant == {"GLM-4.6": "zai/glm-4.6", "glm-4.6:free": None, "z-ai/glm-4.6": "zai/glm-4.6"}


def test_a_new_name_is_matched_when_it_is_first_logged(tmp_path: Path) -> None:
    log = write_log(tmp_path, [user("Hi"), assistant()])
    run_sync(tmp_path, tmp_path / "lake")
    known = ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", False, None)
    assert rows(tmp_path / "lake", NAMES) == [known]
    usage = {"iterations": [{"type": "advisor_message", "model": REGIONAL}]}
    append(log, assistant(uuid="a2", message_id="m2", request="r2", model="glow-1", usage=usage))
    run_sync(tmp_path, tmp_path / "lake")
    assert rows(tmp_path / "lake", NAMES) == [
        known,
        ("glow-1", None, False, None),
        (REGIONAL, "claude-opus-4-6", True, None),
    ]


def test_the_book_is_kept_with_every_run_and_makes_none_by_itself(tmp_path: Path) -> None:
    write_log(tmp_path, [user("Hi"), assistant()])
    run_sync(tmp_path, tmp_path / "lake")
    assert run_sync(tmp_path, tmp_path / "lake").is_committed is False
    runs = rows(tmp_path / "lake", "select price_book_hash from sync_runs")
    assert runs == [(shipped().content_hash,)]


def test_an_empty_folder_gets_no_commit_for_its_prices(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    run_sync(tmp_path, tmp_path / "lake")
    assert Warehouse(tmp_path / "lake").commit_numbers() == []


def test_own_prices_hold_with_the_next_sync_and_end_with_the_one_after(tmp_path: Path) -> None:
    write_log(tmp_path, [user("Hi"), assistant(model="gateway/big")])
    run_sync(tmp_path, tmp_path / "lake")
    text = '[[price]]\nmodel = "claude-opus-5"\ninput = "4"\n'
    text += '[[alias]]\nname = "Gateway/Big"\nmodel = "claude-opus-5"\n'
    book = with_overrides(shipped(), text, "prices.toml")
    assert [run_sync(tmp_path, tmp_path / "lake", book=book).commit for _ in "ab"] == [2, 2]
    assert rows(tmp_path / "lake", NAMES) == [("gateway/big", "claude-opus-5", False, None)]
    own = "select model, input_pico_usd from rate_cards where evidence = 'own'"
    assert rows(tmp_path / "lake", own) == [("claude-opus-5", 4_000_000)]
    run_sync(tmp_path, tmp_path / "lake")
    assert rows(tmp_path / "lake", NAMES) == [("gateway/big", None, False, None)]
    assert rows(tmp_path / "lake", own) == []
    hashes = rows(tmp_path / "lake", "select price_book_hash from sync_runs order by ended_at")
    assert hashes == [(one.content_hash,) for one in (shipped(), book, shipped())]
