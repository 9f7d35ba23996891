"""What a column and a table are, and the columns that several tables share."""

from dataclasses import dataclass
from functools import cache

import pyarrow as pa

STRING = pa.string()
INTEGER = pa.int64()
SMALL = pa.int32()
BOOLEAN = pa.bool_()
INSTANT = pa.timestamp("us", "UTC")
BINARY = pa.binary()


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what it holds and, if it was moved out of the log line, from where.

    `holds` says what of it is content: "text" is left out where only metrics are kept, "words" too,
    but for a fingerprint, by which equal words still find each other.
    """

    name: str
    type: pa.DataType
    meaning: str
    path: tuple[str, ...] = ()
    wide: bool = False
    holds: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its grain, its key and its columns, in order."""

    name: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    def schema(self) -> pa.Schema:
        """Return the Arrow schema, with each column's meaning as field metadata."""
        return _schema_of(self)

    def names(self) -> list[str]:
        """Return the column names in order."""
        return [column.name for column in self.columns]

    def narrow_names(self) -> list[str]:
        """Return the columns that derived tables may read: all but the long texts."""
        return [column.name for column in self.columns if not column.wide]


@cache
def _schema_of(table: Table) -> pa.Schema:
    return pa.schema(
        [
            pa.field(column.name, column.type, metadata={"description": column.meaning})
            for column in table.columns
        ],
        metadata={"table": table.name, "grain": table.grain},
    )


PLACE = (
    Column("file_id", STRING, "The source file, whatever path it moves to."),
    Column("generation", SMALL, "Rises when bytes that were already read have changed."),
    Column("line_no", INTEGER, "Line in the file, from 1, blank lines counted."),
    Column("byte_start", INTEGER, "Where the line begins in the file."),
    Column("byte_end", INTEGER, "Where the line ends, its newline included."),
    Column("object_index", SMALL, "0, or more where JSON objects are glued on one line."),
)
SESSION = Column("session_id", STRING, "The session the file belongs to, told by file and folder.")
AGENT = Column("agent_id", STRING, "The subagent that wrote the line; null in the main thread.")
TURN = Column("turn_id", STRING, "Key of the prompt that began the turn; null before the first.")
MODEL = Column("model", STRING, "Model as logged.", ("message", "model"))
MESSAGE_ID = Column("message_id", STRING, "Response id given by the API.", ("message", "id"))
REQUEST_ID = Column("request_id", STRING, "Request id given by the API.", ("requestId",))
IS_SIDECHAIN = Column("is_sidechain", BOOLEAN, "Written by a subagent.", ("isSidechain",))
KEY = Column("key", STRING, "What makes it the same thing in every copy.")
OWNERSHIP = (
    Column("is_background", BOOLEAN, "Written by a background session."),
    Column("is_forked", BOOLEAN, "The line says that it was copied from another session."),
    Column("session_started_at", INSTANT, "First instant of the session."),
    Column("session_ended_at", INSTANT, "Last instant of the session."),
)
