"""One query over the views, and its result in the form that was asked for."""

import io
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

import duckdb
import polars as pl
import pyarrow as pa

from etl import engine, views
from etl.commit import Warehouse
from etl.errors import StateError, UsageError
from etl.jsontext import dumps, exact, visible

# What a spreadsheet takes for a formula, also in the wide letters of East Asia.
_FORMULA_BEGINS = tuple("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")
# Control characters but tab and newline, marks of direction, and half letters.
_STEERING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff]"
)
_BATCH_ROWS = 100_000
# As reading a file fails that is not what its name or its commit says.
_OF_FILES = (duckdb.InvalidInputException, duckdb.IOException, duckdb.SerializationException)
# A longer message than this is one that quotes what it cannot read.
_LONGEST, _MOST_LINES = 300, 10
_NEEDS_QUOTES = re.compile(r'[,"\n\t]')


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
        """Return comma-separated text with a header, which no spreadsheet takes for a formula."""
        lines = [[_spreadsheet_text(name) for name in self.names()]]
        lines += [[_cell(value) for value in row] for row in self.rows()]
        return "".join(f"{_record(cells)}\n" for cells in lines)

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
        return answer_of(con, sql)


def statements_in(con: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    """Return the statements of a text one by one."""
    try:
        return [statement.query for statement in con.extract_statements(text)]
    except duckdb.Error as error:
        raise _refusal_of(error) from error
    except ValueError:
        return [text]  # A kind that DuckDB's own module has no name for.


def answer_of(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    *,
    most: int | None = None,
    values: dict[str, object] | None = None,
) -> Answer:
    """Run one query of a connection, and return its result or the first rows of it."""
    try:
        if engine.asks_for_an_extension(con, sql):
            raise _out_of_reach("it installs or loads one")
        relation = con.sql(sql, params=values)
        # A text without a statement, such as a comment, gives no relation at all.
        if relation is None:
            return Answer(pa.table({}))  # type: ignore[unreachable]
        some = relation if most is None else relation.limit(most)
        answer = Answer(some.to_arrow_table())
        answer.rows()
    except duckdb.Error as error:
        raise _refusal_of(error) from error
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"a value of the result is out of range: {error}", hint="cast it to varchar"
        ) from error
    return answer


def stream(
    warehouse: Warehouse, snapshot: Path | None, sql: str, *, time_zone: str | None
) -> Iterator[pl.DataFrame]:
    """Yield the result of one query of ours over one snapshot, frame by frame; one at least."""
    with closing(views.connect_to(warehouse, snapshot, time_zone=time_zone)) as con:
        try:
            batches = con.sql(sql).to_arrow_reader(_BATCH_ROWS)
            yield Answer(batches.schema.empty_table()).frame()
            for batch in batches:
                yield Answer(pa.Table.from_batches([batch])).frame()
        except duckdb.Error as error:
            raise StateError(
                f"'{snapshot}' cannot be read: {error}", hint="ask again: it may have been retired"
            ) from error


def _refusal_of(error: duckdb.Error) -> UsageError:
    problem = str(error).strip()
    if engine.is_out_of_reach(problem):
        return _out_of_reach(problem.splitlines()[0])
    hint = "cclake query 'show tables' lists what there is"
    if type(error) is duckdb.Error or isinstance(error, _OF_FILES):
        hint += "; if the query is right, cclake check --deep tells whether a file is damaged"
    return UsageError(_in_short(problem), hint=hint)


def _in_short(problem: str) -> str:
    """Return DuckDB's own words; it may quote a whole value that it cannot read."""
    lines = problem.split("\n")
    kept = lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], "…"]
    return "\n".join(one if len(one) <= _LONGEST else f"{one[:_LONGEST]}…" for one in kept)


def _out_of_reach(why: str) -> UsageError:
    return UsageError(
        f"a query reaches no network and loads no extension: {why}",
        hint="bring the file to this machine first, and name it by its path",
    )


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


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list | tuple):
        return _spreadsheet_text(dumps(_jsonable(value)).decode())
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value) if isinstance(value, int | float) else _spreadsheet_text(_words(value))


def _spreadsheet_text(text: str) -> str:
    """Return text that is neither a formula nor steers whoever shows it."""
    shown = _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    return f"'{shown}" if text.startswith(_FORMULA_BEGINS) else shown


def _record(cells: list[str]) -> str:
    """Join cells as RFC 4180 has it; a line of one empty cell is no blank line."""
    return '""' if cells == [""] else ",".join(map(_quoted, cells))


def _quoted(cell: str) -> str:
    if not _NEEDS_QUOTES.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def _words(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
