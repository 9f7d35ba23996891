"""A prompt of our own: statements over several lines, answered as a query is, on one snapshot."""

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import duckdb

from etl import __version__, answers, keyboard, output, stopping, views
from etl.commit import Warehouse
from etl.counts import counted
from etl.errors import UsageError

_PATIENCE_SECONDS = 0.1
_READY, _MORE = "cclake> ", "   ...> "
_HELP = """\
Statements end with ; and may take several lines. Ctrl-C drops one, Ctrl-D ends.
.tables        what can be asked
.schema NAME   its columns, and what they mean
.quit          end
The tables with copies taken out are in main; all rows, as they were logged, are in raw."""
# What may hold a semicolon that ends nothing.
_QUOTED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$""", re.DOTALL
)
_OPEN = re.compile(r"""['"]|/\*|\$\w*\$""")
_TABLES = """
select name, regexp_extract(coalesce(comment, ''), '^(.*?)( \\(grain\\))?[.:]( |$)', 1) as meaning
from (
    select view_name as name, comment
    from duckdb_views()
    where not internal and schema_name = 'main'
    union all
    select table_name, comment from duckdb_tables()
)
order by name
"""
_COLUMNS = """
select column_name as "column", lower(data_type) as type, coalesce(comment, '') as meaning
from duckdb_columns()
where not internal and concat_ws('.', schema_name, table_name) in ($name, 'main.' || $name)
order by column_index
"""
_WORDS = """
select distinct word
from (
    select table_name as word, schema_name from duckdb_columns()
    union all
    select 'raw.' || table_name, 'main' from duckdb_columns() where schema_name = 'raw'
    union all
    select column_name, schema_name from duckdb_columns()
)
where schema_name = 'main'
order by word
"""


class Typed:
    """What was typed since the last statement."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._lines: list[str] = []

    def is_begun(self) -> bool:
        """Say whether a statement has begun."""
        return bool(self._lines)

    def add(self, line: str) -> str | None:
        """Take a line, and return what is to be done once it is whole."""
        if not self._lines and (not line.strip() or line.lstrip().startswith(".")):
            return line.strip() or None
        self._lines.append(line)
        return self.rest() if ";" in line and is_whole("\n".join(self._lines)) else None

    def rest(self) -> str:
        """Return what was typed, whole or not, and begin again."""
        text = "\n".join(self._lines)
        self._lines = []
        return text


def is_whole(text: str) -> bool:
    """Say whether a text ends with a semicolon that is in no quote and no comment."""
    left = _QUOTED.sub(" ", text)
    return left.rstrip().endswith(";") and not _OPEN.search(left)


class Shell:
    """One snapshot of a warehouse, and what is asked of it."""

    def __init__(self, warehouse: Warehouse, con: duckdb.DuckDBPyConnection, *, limit: int) -> None:
        """Begin on the newest commit."""
        self._warehouse = warehouse
        self._con = con
        self._limit = limit
        self._snapshot = warehouse.snapshot()
        self.failures = 0

    def words(self) -> list[str]:
        """Return the names of all that can be asked, to complete what is begun."""
        return [str(word) for (word,) in self._con.execute(_WORDS).fetchall()]

    def take(self, text: str) -> bool:
        """Do what was typed; say whether that was to end."""
        name, _, rest = text.partition(" ")
        if name in {".quit", ".exit"}:
            return True
        try:
            if name.startswith("."):
                self._command(name, rest.strip().rstrip(";"))
            else:
                self._ask(text)
        except UsageError as error:
            self.failures += 1
            output.say(error.what)
        except KeyboardInterrupt:
            self.failures += 1
            output.say("interrupted")
        return False

    def _command(self, name: str, rest: str) -> None:
        if name == ".help":
            output.say(_HELP)
        elif name == ".tables":
            self._show(answers.answer_of(self._con, _TABLES))
        elif name == ".schema" and rest:
            answer = answers.answer_of(self._con, _COLUMNS, values={"name": rest.lower()})
            if not answer.rows():
                raise UsageError(
                    f"there is no '{output.printable(rest)}'; .tables lists what there is"
                )
            self._show(answer)
        else:
            raise UsageError(f"'{name}' is no command here; .help lists them")

    def _ask(self, text: str) -> None:
        self._follow()
        for statement in answers.statements_in(self._con, text):
            self._show(self._answer_to(statement), most=self._limit)

    def _answer_to(self, statement: str) -> answers.Answer:
        """Ask in a thread of its own: this one has to hear Ctrl-C, which DuckDB does not."""
        with stopping.noted() as is_told, ThreadPoolExecutor(1) as asking:
            # One row more than is shown tells whether there are more.
            asked = asking.submit(answers.answer_of, self._con, statement, most=self._limit + 1)
            while not asked.done():
                wait([asked], timeout=_PATIENCE_SECONDS)
                if is_told.is_set():  # Again and again: what has not quite begun does not hear it.
                    self._con.interrupt()
            return asked.result()

    def _show(self, answer: answers.Answer, *, most: int | None = None) -> None:
        rows = answer.rows()
        if not answer.names():
            return
        output.show_table(answer.names(), rows[:most])
        count = len(rows)
        if most is not None and count > most:
            output.say(f"the first {counted(most, 'row')}; --limit shows more")
        else:
            output.say(counted(count, "row"))

    def _follow(self) -> None:
        """Go on with the newest commit if the one that was asked has been let go meanwhile."""
        if self._snapshot is None or self._snapshot.is_dir():
            return
        self._snapshot = self._warehouse.snapshot()
        views.lead(self._con, self._snapshot)
        output.say("that commit is gone after later syncs; this is the newest")


def at_a_terminal(
    warehouse: Warehouse, *, time_zone: str | None, limit: int, history: Path
) -> None:
    """Ask what is typed, until that is enough."""
    with _opened(warehouse, time_zone) as con:
        shell = Shell(warehouse, con, limit=limit)
        output.say(f"cclake {__version__}, commit {warehouse.load().number}; .help says more")
        with stopping.raised(), keyboard.remembered(history, shell.words):
            _prompt(shell)


def of_lines(
    warehouse: Warehouse, lines: Iterable[str], *, time_zone: str | None, limit: int
) -> int:
    """Ask what stands in lines, as in a file; return how much of it failed."""
    typed = Typed()
    with _opened(warehouse, time_zone) as con:
        shell = Shell(warehouse, con, limit=limit)
        try:
            wholes = (text for line in lines if (text := typed.add(line.rstrip("\n"))))
            if any(shell.take(text) for text in wholes):
                return shell.failures
        except UnicodeDecodeError as error:
            raise UsageError("what is to be asked is no text", hint="save it as UTF-8") from error
        if (text := typed.rest()).strip():
            shell.take(text)
        return shell.failures


def _opened(warehouse: Warehouse, time_zone: str | None) -> "closing[duckdb.DuckDBPyConnection]":
    return closing(views.connect(warehouse, time_zone=time_zone, with_comments=True))


def _prompt(shell: Shell) -> None:
    typed = Typed()
    while True:
        try:
            line = input(_MORE if typed.is_begun() else _READY)
            if (text := typed.add(line)) and shell.take(text):
                return
        except KeyboardInterrupt:
            typed.rest()
            output.say("")
        except EOFError:
            output.say("")
            return
