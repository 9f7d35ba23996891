"""One query over the views, and its result in the form that was asked for."""

import csv
import io
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from typing import BinaryIO

import duckdb
import polars as pl
import pyarrow as pa

from etl import engine, views
from etl.commit import Warehouse
from etl.errors import UsageError
from etl.jsontext import dumps, exact, visible


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a query."""

    table: pa.Table

    def names(self) -> list[str]:
        """Return the columns in select order."""
        names: list[str] = self.table.column_names
        return names

    def rows(self) -> list[tuple[object, ...]]:
        """Return the rows as Python values; a sum of integers is an integer."""
        columns = [map(_plain, column.to_pylist()) for column in self.table.columns]
        return list(zip(*columns, strict=True))

    def json(self) -> str:
        """Return an array of objects, a line each, integers as numbers."""
        names = self.names()
        objects = [dict(zip(names, map(_jsonable, row), strict=True)) for row in self.rows()]
        lines = [dumps(one).decode() for one in objects]
        return visible("[" + ",\n ".join(lines) + "]")

    def csv(self) -> str:
        """Return comma-separated text with a header; lists and structs as JSON."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.names())
        writer.writerows([_cell(value) for value in row] for row in self.rows())
        return text.getvalue()

    def frame(self) -> pl.DataFrame:
        """Return the result as a polars frame."""
        try:
            frame = pl.from_arrow(self.table)
        except pl.exceptions.ComputeError as error:
            raise UsageError(
                f"no frame can hold this result: {error}", hint="cast the column to varchar"
            ) from error
        return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()

    def write_parquet(self, sink: BinaryIO) -> None:
        """Write the result as Parquet."""
        buffer = io.BytesIO()
        self.frame().write_parquet(buffer)
        sink.write(buffer.getvalue())


def ask(warehouse: Warehouse, sql: str, *, time_zone: str | None) -> Answer:
    """Run one query over one whole snapshot."""
    with closing(views.connect(warehouse, time_zone=time_zone)) as con:
        try:
            relation = con.sql(sql)
            # A text without a statement, such as a comment, gives no relation at all.
            answer = Answer(pa.table({}) if relation is None else relation.to_arrow_table())  # type: ignore[redundant-expr]
            answer.rows()
        except duckdb.Error as error:
            raise _refusal_of(str(error).strip()) from error
        except (ValueError, OverflowError) as error:
            raise UsageError(
                f"a value of the result is out of range: {error}", hint="cast it to varchar"
            ) from error
        return answer


def _refusal_of(problem: str) -> UsageError:
    if engine.is_out_of_reach(problem):
        return UsageError(
            f"a query reaches no network and loads no extension: {problem.splitlines()[0]}",
            hint="bring the file to this machine first, and name it by its path",
        )
    return UsageError(problem, hint="cclake query 'show tables' lists what there is")


def _plain(value: object) -> object:
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return int(value)  # duckdb sums integers as HUGEINT, which Arrow knows as a decimal
    return value


def _jsonable(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int | Decimal):
        return exact(value)
    return _words(value)


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list | tuple):
        return dumps(_jsonable(value)).decode()
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value if value is None or isinstance(value, int | float) else _words(value)


def _words(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
