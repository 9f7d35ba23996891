"""The data dictionary: every table and view with its grain and columns, as one page."""

from collections.abc import Iterator

from etl import sqlfiles, views
from etl.sqlfiles import SqlFile
from etl.tables import ALL_TABLES, LOGICAL, Table

_HEAD = """\
# Tables and views

Made by `make docs` from `etl/tables/` and the headers of `sql/views/*.sql`; do not edit by hand.

Tables stand in schema `main`. {logical} appear there with copies taken out over all files; their
physical rows are in schema `raw`. A null means unknown unless its line says otherwise. Instants are
UTC; a day is a day in the reader's time zone. Ten questions that people ask, each with its SQL and
its answer: [QUESTIONS.md](QUESTIONS.md).
"""


def page() -> str:
    """Return `sql/README.md`."""
    names = ", ".join(f"`{table.name}`" for table in LOGICAL)
    lines = [_HEAD.format(logical=names)]
    lines += ["## Views\n"]
    shown = {table.name for table in LOGICAL}
    for view in sqlfiles.load("views"):
        if view.name not in shown:
            lines += _view(view)
    lines += ["## Tables\n"]
    for table in ALL_TABLES:
        lines += _table(table)
    return "\n".join(lines)


def _view(view: SqlFile) -> Iterator[str]:
    yield f"### {view.name}\n\n{view.summary}\n\nGrain: {view.grain}.\n"
    if not view.columns:
        yield "Columns: those of the table it reads.\n"
        return
    yield "| column | meaning |\n|---|---|"
    yield from (f"| `{name}` | {meaning} |" for name, meaning in view.columns.items())
    yield ""


def _table(table: Table) -> Iterator[str]:
    key = ", ".join(f"`{name}`" for name in table.key)
    yield f"### {table.name}\n\nGrain: {table.grain}. Key: {key}.\n"
    yield "| column | type | meaning |\n|---|---|---|"
    for column in table.columns:
        yield f"| `{column.name}` | {views.sql_type(column.type)} | {column.meaning} |"
    yield ""
