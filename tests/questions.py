"""`python -m tests.questions`: answer the questions of sql/QUESTIONS.md anew, on a made-up tree."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from etl.cli import main
from etl.demo import write_tree
from tests.sessions import run_sync

PAGE = Path(__file__).resolve().parent.parent / "sql" / "QUESTIONS.md"
TREE_MB, SEED, ZONE = 5, 1, "UTC"
_QUESTION = re.compile(
    r"^## (?P<title>[^\n]+)\n(?P<words>(?:(?!^## |^```).*\n)*)"
    r"```sql\n(?P<sql>(?:(?!```).*\n)*)```\n\n```text\n(?P<answer>(?:(?!```).*\n)*)```\n",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the page: its title, the words and the SQL below it, and its answer."""

    title: str
    words: str
    sql: str
    answer: str


def questions_of(page: str) -> list[Question]:
    """Return the questions of a page in order."""
    return [Question(**found.groupdict()) for found in _QUESTION.finditer(page)]


def made_up(folder: Path) -> Path:
    """Write the tree that the page names below a folder, sync it, and return the warehouse."""
    write_tree(folder / "logs", megabytes=TREE_MB, seed=SEED)
    run_sync(folder / "logs", folder / "lake")
    return folder / "lake"


def answer_to(sql: str, lake: Path) -> str:
    """Return what `cclake query` prints."""
    asked = ["query", sql, "--tz", ZONE, "--warehouse", str(lake)]
    result = CliRunner().invoke(main, asked, catch_exceptions=False)
    if result.exit_code:
        raise ValueError(f"no answer to:\n{sql}\n{result.stderr}")
    return result.stdout


def answered(page: str, lake: Path) -> str:
    """Return the page with the answers that a warehouse gives."""

    def anew(found: re.Match[str]) -> str:
        head, _, _ = found[0].rpartition("```text\n")
        return f"{head}```text\n{answer_to(found['sql'], lake)}```\n"

    return _QUESTION.sub(anew, page)


def write() -> None:
    """Write the page with the answers of the made-up tree."""
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(answered(PAGE.read_text(), made_up(Path(folder))))


if __name__ == "__main__":
    write()
