"""The worked questions: their answers are what a person gets, and what the tree's truth says."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from etl import frames
from tests import questions

PAGE = questions.PAGE.read_text()
ASKED = questions.questions_of(PAGE)
TOP = questions.PAGE.parent.parent
# What changes while nobody writes a log, and views' columns that are made of it.
CLOCKS = re.compile(r"\b(?:now|today|current_\w+|is_active|status)\b", re.IGNORECASE)
COST, EXPENSIVE, OVERHEAD, TOOLS, AGENTS, CACHE, TIMES, BRANCHES, HOURS, LEFT_OUT = range(10)


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("questions")
    questions.made_up(folder)
    return folder


@pytest.fixture(scope="module")
def truth(made_up: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((made_up / "logs" / "truth.json").read_text())
    return told


def answer(made_up: Path, question: int) -> pl.DataFrame:
    sql = ASKED[question].sql
    return frames.query(sql, warehouse=made_up / "lake", time_zone=questions.ZONE)


def total(frame: pl.DataFrame, *columns: str) -> dict[str, int]:
    return {column: int(frame[column].sum()) for column in columns}


# ---- The page.


def test_there_are_ten_questions_each_with_words_sql_and_an_answer() -> None:
    heads = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert [one.title for one in ASKED] == heads
    assert [title.split(". ")[0] for title in heads] == [str(n) for n in range(1, 11)]
    assert [one.title for one in ASKED if not one.title.endswith("?")] == []
    assert [one.title for one in ASKED if not (one.words.strip() and one.answer)] == []


def test_the_answers_on_the_page_are_those_that_cclake_gives(made_up: Path) -> None:
    assert questions.answered(PAGE, made_up / "lake") == PAGE, "run make docs"


def test_the_page_names_the_tree_its_answers_are_of() -> None:
    assert f"--mb {questions.TREE_MB} --seed {questions.SEED}\n" in PAGE
    assert f"--tz {questions.ZONE} " in PAGE


@pytest.mark.parametrize("one", ASKED, ids=lambda one: one.title)
def test_no_answer_depends_on_the_clock(one: questions.Question) -> None:
    assert CLOCKS.findall(one.sql) == []


@pytest.mark.parametrize("page", ["README.md", "sql/README.md"])
def test_the_page_is_linked(page: str) -> None:
    assert "QUESTIONS.md)" in (TOP / page).read_text()


def test_a_question_that_has_no_answer_says_so(made_up: Path) -> None:
    broken = PAGE.replace("from monthly_spend", "from yearly_spend")
    with pytest.raises(ValueError, match="yearly_spend does not exist"):
        questions.answered(broken, made_up / "lake")


# ---- The truth.


def test_tokens_and_responses_by_model_are_the_trees(
    made_up: Path, truth: Mapping[str, Any]
) -> None:
    counts = ["responses", "output_tokens", "cache_read_tokens"]
    found = answer(made_up, COST).group_by("model").agg(pl.col(counts).sum())
    by_model = {row.pop("model"): row for row in found.iter_rows(named=True)}
    expected = truth["tokens_by_model"]
    assert by_model == {
        model: {count: tokens[count] for count in counts} for model, tokens in expected.items()
    }
    cache = answer(made_up, CACHE).select("model", "cache_read_tokens").rows()
    assert dict(cache) == {model: tokens["cache_read_tokens"] for model, tokens in expected.items()}


@pytest.mark.parametrize("question", [COST, OVERHEAD, BRANCHES])
def test_what_is_divided_adds_up_to_all_responses(
    made_up: Path, truth: Mapping[str, Any], question: int
) -> None:
    output = sum(tokens["output_tokens"] for tokens in truth["tokens_by_model"].values())
    assert total(answer(made_up, question), "responses", "output_tokens") == {
        "responses": truth["responses"],
        "output_tokens": output,
    }


def test_calls_and_their_errors_are_the_trees(made_up: Path, truth: Mapping[str, Any]) -> None:
    assert total(answer(made_up, TOOLS), "calls", "errors", "unanswered") == {
        "calls": truth["tool_calls"],
        "errors": truth["tool_errors"],
        "unanswered": truth["unanswered_tool_calls"],
    }


def test_agents_are_the_trees_without_its_warm_ups(made_up: Path, truth: Mapping[str, Any]) -> None:
    assert total(answer(made_up, AGENTS), "agents") == {
        "agents": truth["agents"] - truth["warmup_agents"]
    }


@pytest.mark.parametrize("question", [TIMES, HOURS])
def test_turns_are_the_trees(made_up: Path, truth: Mapping[str, Any], question: int) -> None:
    assert total(answer(made_up, question), "turns") == {"turns": truth["human_turns"]}


def test_the_most_expensive_turns_have_the_largest_costs(made_up: Path) -> None:
    found = answer(made_up, EXPENSIVE)
    costs = frames.view("turns", warehouse=made_up / "lake").top_k(10, by="cost_usd").collect()
    assert found["cost_usd"].to_list() == [
        cost.quantize(found["cost_usd"][0]) for cost in sorted(costs["cost_usd"], reverse=True)
    ]


def test_what_is_left_out_is_what_the_tree_broke(made_up: Path, truth: Mapping[str, Any]) -> None:
    found = dict(answer(made_up, LEFT_OUT).select("reason", "things").rows())
    assert {name: found[name] for name in ("rejected_line", "unanswered_call", "waiting_tail")} == {
        "rejected_line": truth["rejects"],
        "unanswered_call": truth["unanswered_tool_calls"],
        "waiting_tail": truth["pending_files"],
    }
