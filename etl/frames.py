"""The notebooks' door: a table, a view or a query as a polars frame, over one whole snapshot."""

from contextlib import closing
from pathlib import Path

import polars as pl

from etl import views
from etl.commit import Warehouse
from etl.config import warehouse_of


def query(sql: str, *, warehouse: str | Path | None = None, time_zone: str = "UTC") -> pl.DataFrame:
    """Return the result of one query over the views."""
    place = Warehouse(warehouse_of(str(warehouse) if warehouse else None))
    with closing(views.connect(place, time_zone=time_zone)) as con:
        return con.sql(sql).pl()
