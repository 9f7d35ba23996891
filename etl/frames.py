"""The notebooks' door: a query over the views as a polars frame, over one whole snapshot."""

from pathlib import Path

import polars as pl

from etl import answers
from etl.commit import Warehouse
from etl.config import warehouse_of


def query(
    sql: str, *, warehouse: str | Path | None = None, time_zone: str | None = None
) -> pl.DataFrame:
    """Return the result of one query over the views; days are those of the reader's own zone."""
    place = Warehouse(warehouse_of(str(warehouse) if warehouse else None))
    return answers.ask(place, sql, time_zone=time_zone).frame()
