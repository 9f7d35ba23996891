"""A session as its reader sees it: as text, as Markdown and as one object."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from etl import reading
from etl.cli import main
from etl.commit import Warehouse
from etl.pages import text
from etl.pages.lines import columns_of
from tests.pages.kiln import FORK, write_kiln
from tests.sessions import SESSION, run_sync

HERE = Path(__file__).parent
PAGES = {
    "kiln.txt": (SESSION[:4], "--thinking"),
    "kiln_tools.txt": (SESSION[:4], "--tools", "--no-agents"),
    "kiln.md": (SESSION, "--format", "markdown", "--thinking"),
    "kiln.json": (SESSION, "--format", "json"),
    "fork.txt": (FORK[:4],),
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the session and its fork."""
    folder = tmp_path_factory.mktemp("pages")
    write_kiln(folder / "logs")
    run_sync(folder / "logs", folder / "lake")
    return folder / "lake"


def shown(lake: Path, *arguments: str) -> str:
    asked = ["show", *arguments, "--tz", "UTC", "--warehouse", str(lake)]
    result = CliRunner().invoke(main, asked)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_one_that_a_person_has_looked_at(
    lake: Path, name: str, *, rewrite_golden: bool
) -> None:
    page = shown(lake, *PAGES[name])
    if rewrite_golden:
        (HERE / name).write_text(page)
    assert page == (HERE / name).read_text()


def test_in_a_terminal_lines_are_wrapped_and_styled(lake: Path) -> None:
    conversation = reading.conversation_of(Warehouse(lake), SESSION, time_zone="UTC")
    lines = list(text.page_of(conversation, text.Look(60)))
    widths = [sum(columns_of(words) for words, _ in line) for line in lines]
    assert 50 < max(widths) <= 60
    styles = {style for line in lines for _, style in line}
    assert styles == {"", "bold", "dim", "bad"}


def test_a_call_is_one_line_whose_target_gives_way(lake: Path) -> None:
    conversation = reading.conversation_of(Warehouse(lake), SESSION, time_zone="UTC")
    lines = text.page_of(conversation, text.Look(44))
    (call,) = [line for line in lines if line and line[0].words == "• Edit"]
    assert [words for words, _ in call] == ["• Edit", "  /home/ada…", "  ok · 1.0 s · +2 -1 lines"]


def test_what_reads_only_the_beginning_ends_it_quietly(lake: Path) -> None:
    command = [sys.executable, "-m", "etl", "show", SESSION, "--warehouse", str(lake)]
    for form in ("text", "markdown", "json"):
        reader = subprocess.Popen(
            [*command, "--format", form], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert reader.stdout
        assert reader.stderr
        reader.stdout.close()
        assert reader.stderr.read() == ""
        assert reader.wait() == 1
        reader.stderr.close()


def test_json_has_all_of_it_once(lake: Path) -> None:
    tree = json.loads(shown(lake, SESSION, "--format", "json"))
    assert set(tree) == {"session", "turns", "agents"}
    agents = list(every(tree, "agent_type"))
    assert sorted(agent["agent_id"] for agent in agents) == ["lost", "rusty", "scratch", "warm"]
    calls = [one["tool_use_id"] for one in every(tree, "outcome")]
    assert len(calls) == len(set(calls)) == 8
    alone = json.loads(shown(lake, SESSION, "--format", "json", "--no-agents"))
    assert [one["agent_id"] for one in every(alone, "agent_type")] == ["rusty"]
    assert not any("messages" in one for one in every(alone, "agent_type"))


def every(node: object, mark: str) -> Iterator[dict[str, Any]]:
    """Yield every object below a node that has a member of that name."""
    if isinstance(node, dict):
        if mark in node:
            yield node
        node = list(node.values())
    for inside in node if isinstance(node, list) else ():
        yield from every(inside, mark)
