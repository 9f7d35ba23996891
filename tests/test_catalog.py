"""The data dictionary: the page that `make docs` writes."""

from pathlib import Path

from etl import catalog, sqlfiles
from etl.tables import ALL_TABLES

TOP = Path(__file__).resolve().parent.parent


def section(name: str) -> str:
    """Return the page's part on one table or view."""
    _, _, rest = catalog.page().partition(f"\n### {name}\n")
    return rest.partition("\n### ")[0]


def test_the_page_in_the_repository_is_the_one_made_from_the_declarations() -> None:
    written = (TOP / "sql" / "README.md").read_text()
    assert written == catalog.page(), "run make docs"


def test_every_table_is_there_with_grain_key_and_all_columns() -> None:
    for table in ALL_TABLES:
        found = section(table.name)
        assert f"Grain: {table.grain}. Key: `{'`, `'.join(table.key)}`." in found
        for column in table.columns:
            assert f"| `{column.name}` | " in found
            assert f" | {column.meaning} |" in found


def test_every_view_is_there_with_its_summary_and_columns() -> None:
    tables = {table.name for table in ALL_TABLES}
    named = [view for view in sqlfiles.load("views") if view.name not in tables]
    assert {"turns", "daily_spend", "work_agents", "warmup_agents"} <= {one.name for one in named}
    for view in named:
        found = section(view.name)
        assert view.summary in found
        assert f"Grain: {view.grain}." in found
        for name, meaning in view.columns.items():
            assert f"| `{name}` | {meaning} |" in found


def test_no_table_or_view_stands_twice() -> None:
    heads = [line for line in catalog.page().splitlines() if line.startswith("### ")]
    assert len(set(heads)) == len(heads)


def test_types_are_those_of_duckdb() -> None:
    assert "| `occurred_at` | timestamptz | " in section("entries")
    assert "| `raw` | blob | " in section("rejects")
    assert "| `generation` | integer | " in section("usage")
