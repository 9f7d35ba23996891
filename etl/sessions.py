"""Find sessions: all of them, those of a directory, or one by its id. Never reads a log."""

from pathlib import Path

import duckdb

from etl import views
from etl.commit import Warehouse
from etl.errors import UsageError

Session = dict[str, object]

_SESSIONS = """
select * from sessions
where $ids is null or list_contains($ids::varchar[], session_id)
order by ended_at desc nulls last, session_id
"""
_BY_BEGINNING = """
select distinct session_id from source_files where starts_with(session_id, $wanted) order by 1
"""
_DIRECTORIES = """
select session_id, project from sessions where project is not null
union
select session_id, json_extract_string(state, '$.relocatedCwd') from raw.entries
where type = 'relocated'
order by all
"""


def found(
    warehouse: Warehouse, *, beginning: str | None = None, cwd: Path | None = None
) -> list[Session]:
    """Return sessions, the last first: by how their id begins, or by where they began."""
    with views.opened(warehouse) as con:
        ids = None
        if cwd is not None:
            ids = _near(con, cwd)
        elif beginning is not None:
            ids = ids_of(con, beginning)
        rows: list[Session] = con.sql(_SESSIONS, params={"ids": ids}).to_arrow_table().to_pylist()
        return rows


def ids_of(con: duckdb.DuckDBPyConnection, beginning: str) -> list[str]:
    """Return the ids that begin so, by the ledger alone; none begins with what is no text."""
    try:
        beginning.encode()
    except UnicodeEncodeError:
        return []
    return _ids(con, _BY_BEGINNING, beginning)


def only(con: duckdb.DuckDBPyConnection, beginning: str) -> str:
    """Return the one session whose id begins so, or say that there is none or several."""
    found = ids_of(con, beginning)
    if beginning in found or len(found) == 1:
        return beginning if beginning in found else found[0]
    if not found:
        raise UsageError(f"no session '{beginning}'", hint="cclake sessions lists them")
    raise UsageError(
        f"{len(found)} sessions begin with '{beginning}'", hint=f"name one: {', '.join(found[:5])}"
    )


def _near(con: duckdb.DuckDBPyConnection, cwd: Path) -> list[str]:
    """Walk up from a directory to the first one that sessions began in, as Claude Code does."""
    began: dict[str, list[str]] = {}
    for session, directory in con.execute(_DIRECTORIES).fetchall():
        began.setdefault(str(directory).rstrip("/"), []).append(str(session))
    for folder in (cwd, *cwd.parents):
        if ids := began.get(str(folder).rstrip("/")):
            return ids
    return []


def _ids(con: duckdb.DuckDBPyConnection, sql: str, wanted: str) -> list[str]:
    return [str(row[0]) for row in con.execute(sql, {"wanted": wanted}).fetchall()]
