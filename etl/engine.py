"""How DuckDB is opened: without network or extensions, and where it puts what memory cannot hold.

Its own default for that is `.tmp` in whatever directory a command runs in, open to everybody.
"""

import os
import re
import shutil
import weakref
from pathlib import Path
from tempfile import mkdtemp
from threading import get_ident

import duckdb

_OFFLINE: dict[str, str | bool] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "extension_directory": "/dev/null",  # `install` fails on it, before it asks the network
}
_NO_NETWORK = ("set allowed_directories = ['/']", "set enable_external_access = false")
_OUT_OF_REACH = re.compile(
    r"file system operations are disabled|extensions is disabled|external access is disabled"
    r'|(?:requires|exists in) the \w+ extension|requires the extension \w+|directory "/dev/null"'
)
_ROOMY = "/var/tmp"  # noqa: S108 - a folder of its own is made in it, for the owner alone


def worker() -> duckdb.DuckDBPyConnection:
    """Open an engine for SQL of ours: one thread, and nothing on disk unless `spill_below` says."""
    return duckdb.connect(config={**_OFFLINE, "threads": 1, "temp_directory": ""})


def for_questions() -> duckdb.DuckDBPyConnection:
    """Open an engine for anybody's SQL: it reads the files of this machine and nothing else."""
    folder = private_folder()
    con = duckdb.connect(config={**_OFFLINE, "temp_directory": f"{folder}/spill"})
    weakref.finalize(con, shutil.rmtree, folder, ignore_errors=True)
    for statement in _NO_NETWORK:
        con.execute(statement)
    return con


def settings_for_questions(folder: Path) -> list[str]:
    """Return as statements what `for_questions` sets, for another client of DuckDB."""
    settings: dict[str, str | bool] = {**_OFFLINE, "temp_directory": f"{folder}/spill"}
    spelled = {name: str(value).replace("'", "''") for name, value in settings.items()}
    return [*(f"set {name} = '{value}'" for name, value in spelled.items()), *_NO_NETWORK]


def private_folder() -> Path:
    """Make a folder for the owner alone, where there is room for what memory cannot hold."""
    return Path(mkdtemp(prefix="cclake-", dir=_place_for_large_files()))


def spill_below(con: duckdb.DuckDBPyConnection, folder: Path) -> Path:
    """Let an engine put below a folder what memory cannot hold, and return where."""
    place = folder / f"spill-{os.getpid()}-{get_ident()}"
    now = con.execute("select current_setting('temp_directory')").fetchall()
    if now != [(str(place),)]:
        quoted = str(place).replace("'", "''")
        con.execute(f"set temp_directory = '{quoted}'")
    return place


def asks_for_an_extension(con: duckdb.DuckDBPyConnection, sql: str) -> bool:
    """Say whether one of the statements installs or loads an extension."""
    try:
        kinds = {statement.type for statement in con.extract_statements(sql)}
    except (
        ValueError
    ):  # A kind that DuckDB's own module has no name for, such as `update extensions`.
        return False
    return duckdb.StatementType.LOAD in kinds


def is_out_of_reach(problem: str) -> bool:
    """Say whether a query failed because it asked for the network or for an extension."""
    return bool(_OUT_OF_REACH.search(problem))


def _place_for_large_files() -> str | None:
    """Return a folder on disk: `/tmp` lies in memory on many machines. $TMPDIR is obeyed."""
    is_told = bool(os.environ.get("TMPDIR"))
    return None if is_told or not os.access(_ROOMY, os.W_OK | os.X_OK) else _ROOMY
