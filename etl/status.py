"""What is in the warehouse and how fresh it is."""

from datetime import UTC, datetime

from etl import freshness, views
from etl.commit import Warehouse
from etl.tables import COUNTED

_COUNTS = " union all ".join(  # names from our own declaration
    f"select '{table.name}' as name, count(*) as rows from main.{table.name}"  # noqa: S608
    for table in COUNTED
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
    with views.opened(warehouse) as con:
        rows = dict(con.execute(_COUNTS).fetchall())
        files, gone, bytes_read, pending = con.execute(_FILES).fetchall()[0]
        (rejects,) = con.execute("select count(*) from rejects").fetchall()[0]
    state, fresh = warehouse.load(), freshness.freshness_of(warehouse)
    return {
        "warehouse": str(warehouse.folder),
        "commit": state.number,
        "source_files": files,
        "files_gone": gone,
        "files_pending": pending,
        "log_bytes": bytes_read,
        "warehouse_bytes": sum(file.size for file in state.files),
        "rows": {**rows, "rejects": rejects},
        "last_success_at": _instant(fresh.last_success_at),
        "cleanup_days": fresh.cleanup_days,
        "is_stale": fresh.is_stale(),
        "advice": fresh.words(),
        "last_run": freshness.last_run(warehouse),
    }


def _instant(micros: int | None) -> str | None:
    return None if micros is None else datetime.fromtimestamp(micros / 1e6, tz=UTC).isoformat()
