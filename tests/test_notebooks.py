"""The notebooks: every code cell runs on a made-up tree, and none is committed with results."""

import json
from pathlib import Path
from typing import Any

import pytest

from etl.demo import write_tree
from tests.sessions import run_sync

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_cells(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notebooks")
    write_tree(folder / "logs", megabytes=0.3, seed=2)
    run_sync(folder / "logs", folder / "lake")
    return folder / "lake"


def test_there_are_notebooks_and_the_readme_lists_them() -> None:
    page = (FOLDER / "README.md").read_text()
    assert NOTEBOOKS
    assert [one.name for one in NOTEBOOKS if f"({one.name})" not in page] == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_shows_something(
    notebook: Path, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCLAKE_WAREHOUSE", str(lake))
    names: dict[str, Any] = {}
    for cell in code_cells(notebook):
        *statements, shown = "".join(cell["source"]).split("\n")
        exec("\n".join(statements), names)  # noqa: S102 - our own notebook
        assert len(eval(shown, names)), shown  # noqa: S307 - our own notebook


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_notebook_is_committed_with_results(notebook: Path) -> None:
    assert [cell for cell in code_cells(notebook) if cell["outputs"]] == []
