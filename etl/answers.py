"""One query over the views, and its result in the form that was asked for."""

import io
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

import duckdb
import polars as pl

from etl import views
from etl.commit import Warehouse
from etl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a query."""

    frame: pl.DataFrame

    def names(self) -> list[str]:
        """Return the columns in select order."""
        return self.frame.columns

    def rows(self) -> list[tuple[object, ...]]:
        """Return the rows as Python values."""
        return self.frame.rows()

    def json(self) -> str:
        """Return an array of objects, integers as numbers."""
        return self.frame.write_json()

    def csv(self) -> str:
        """Return comma-separated text with a header."""
        return self.frame.write_csv()

    def write_parquet(self, sink: BinaryIO) -> None:
        """Write the result as Parquet."""
        buffer = io.BytesIO()
        self.frame.write_parquet(buffer)
        sink.write(buffer.getvalue())


def ask(warehouse: Warehouse, sql: str, *, time_zone: str | None) -> Answer:
    """Run one query over one whole snapshot."""
    with closing(views.connect(warehouse, time_zone=time_zone)) as con:
        try:
            relation = con.sql(sql)
            # A statement without rows, such as SET, gives no relation at all.
            return Answer(pl.DataFrame() if relation is None else relation.pl())  # type: ignore[redundant-expr]
        except duckdb.Error as error:
            raise UsageError(
                str(error).strip(), hint="cclake query 'show tables' lists what there is"
            ) from error
