"""What is in the warehouse and how fresh it is."""

import json
from contextlib import closing

from etl import views
from etl.commit import Warehouse
from etl.tables import LOGICAL

_COUNTS = " union all ".join(  # names from our own declaration
    f"select '{table.name}' as name, count(*) as rows from main.{table.name}"  # noqa: S608
    for table in LOGICAL
)
_FILES = """
select
    count(*) as files,
    count(*) filter (where gone_at is not null) as gone,
    coalesce(sum("offset"), 0)::bigint as bytes_read,
    count(*) filter (where octet_length(pending) > 0) as pending
from source_files
"""


def status_of(warehouse: Warehouse) -> dict[str, object]:
    """Return the warehouse's counts, sizes and last run."""
    with closing(views.connect(warehouse)) as con:
        rows = dict(con.execute(_COUNTS).fetchall())
        files, gone, bytes_read, pending = con.execute(_FILES).fetchall()[0]
        (rejects,) = con.execute("select count(*) from rejects").fetchall()[0]
    state = warehouse.load()
    return {
        "warehouse": str(warehouse.folder),
        "commit": state.number,
        "source_files": files,
        "files_gone": gone,
        "files_pending": pending,
        "log_bytes": bytes_read,
        "warehouse_bytes": sum(file.size for file in state.files),
        "rows": {**rows, "rejects": rejects},
        "last_run": _last_run(warehouse),
    }


def _last_run(warehouse: Warehouse) -> object:
    try:
        return json.loads(warehouse.last_run.read_text())
    except (FileNotFoundError, ValueError):
        return None  # A note for people, not synced to disk: a power cut may take it.
