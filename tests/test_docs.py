"""README.md: it names every command, and only targets that exist."""

import re
from pathlib import Path

import click
import pytest

from etl import frames
from etl.cli import main
from etl.demo import write_tree
from etl.prices import shipped
from etl.prices.overrides import with_overrides
from tests.sessions import run_sync

TOP = Path(__file__).resolve().parent.parent
README = TOP / "README.md"
TARGETS = set(re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(), re.MULTILINE))


def words_of_code(page: str) -> str:
    """Return what stands as code on the page: blocks and spans."""
    blocks = re.findall(r"^```.*?\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    return "\n".join([*blocks, *re.findall(r"`([^`\n]+)`", rest)])


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_appears_in_the_readme(command: str) -> None:
    assert re.search(rf"\bcclake {command}\b", words_of_code(README.read_text()))


def test_the_readme_names_only_commands_that_exist() -> None:
    named = set(re.findall(r"\bcclake ([a-z]+)\b", words_of_code(README.read_text())))
    assert named <= set(main.commands)


def test_every_make_target_in_the_readme_exists() -> None:
    named = set(re.findall(r"\bmake ([a-z]+)\b", words_of_code(README.read_text())))
    assert named
    assert named <= TARGETS


def test_every_make_target_has_a_line_of_help_and_is_phony() -> None:
    makefile = (TOP / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony
    assert set(phony.group(1).split()) == TARGETS
    assert set(re.findall(r"^([a-z-]+):[^#\n]*## \S", makefile, re.MULTILINE)) == TARGETS


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_explains_itself_with_an_example(name: str) -> None:
    command = main.commands[name]
    assert isinstance(command, click.Command)
    assert command.help
    assert f"Example: cclake {name}" in command.help


def test_every_query_in_the_readme_has_an_answer(tmp_path: Path) -> None:
    write_tree(tmp_path / "logs", megabytes=0.2, seed=1)
    run_sync(tmp_path / "logs", tmp_path / "lake")
    queries = re.findall(r"^```sql\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    assert queries
    for sql in queries:
        assert len(frames.query(sql, warehouse=tmp_path / "lake")), sql


def test_the_prices_in_the_readme_are_read_as_they_stand() -> None:
    (text,) = re.findall(r"^```toml\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    book = with_overrides(shipped(), text, "README.md")
    assert book.aliases["gateway/big"] == "claude-opus-4-8"
    assert book.models() - shipped().models() == {"gateway/glow-1"}


def test_code_on_a_page_is_told_from_words() -> None:
    page = "make sense\n```sh\nmake run\n```\nand `make test` too\n"
    assert words_of_code(page).split("\n") == ["make run", "", "make test"]
