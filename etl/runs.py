"""The list of runs that committed, one row each, kept whole in every commit."""

from collections.abc import Mapping

import pyarrow as pa

from etl.jsontext import dumps
from etl.tables import SYNC_RUNS


def with_run(earlier: pa.Table | None, summary: Mapping[str, object], version: str) -> pa.Table:
    """Return the earlier runs and this one."""
    row: dict[str, object] = {
        name: summary.get(name) for name in SYNC_RUNS.names() if name in summary
    }
    row["events"] = dumps([summary["events"], summary["problems"]])
    row["version"] = version
    schema = SYNC_RUNS.schema()
    arrays = [pa.array([row.get(field.name)], type=field.type) for field in schema]
    own = pa.Table.from_arrays(arrays, schema=schema)
    return own if earlier is None else pa.concat_tables([earlier, own])
