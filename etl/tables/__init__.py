"""The one declaration of every table: columns, types, meanings, keys and grain.

The Arrow schemas, the Parquet field metadata, the comments in DuckDB, `sql/README.md`, the typed
empty views and the tests are all made from it.
"""

from etl.tables.books import (
    DAILY_STATS,
    FORGOTTEN,
    PAST_GENERATIONS,
    PROMPT_HISTORY,
    SESSION_INDEX,
    SOURCE_FILES,
    SYNC_RUNS,
)
from etl.tables.derived import (
    AGENTS,
    COMPACTIONS,
    MESSAGES,
    SESSION_MARKS,
    TOOL_CALLS,
    TURN_TIMES,
    USAGE,
)
from etl.tables.facts import CONTENT_BLOCKS, ENTRIES, REJECTS, SIDECARS
from etl.tables.pricing import MODEL_NAMES, RATE_CARDS
from etl.tables.shape import Column, Table

__all__ = [
    "AGENTS",
    "ALL_TABLES",
    "AROUND_TABLES",
    "BOOKS",
    "COMPACTIONS",
    "CONTENT_BLOCKS",
    "COUNTED",
    "DAILY_STATS",
    "DERIVED",
    "ENTRIES",
    "FACTS",
    "FORGOTTEN",
    "LEDGER_TABLES",
    "LOGICAL",
    "MESSAGES",
    "MODEL_NAMES",
    "PART_TABLES",
    "PAST_GENERATIONS",
    "PRICE_TABLES",
    "PROMPT_HISTORY",
    "RATE_CARDS",
    "REJECTS",
    "SESSION_INDEX",
    "SESSION_MARKS",
    "SIDECARS",
    "SOURCE_FILES",
    "SYNC_RUNS",
    "TOOL_CALLS",
    "TURN_TIMES",
    "USAGE",
    "Column",
    "Table",
]

FACTS = (ENTRIES, CONTENT_BLOCKS, REJECTS, SIDECARS)
DERIVED = (MESSAGES, USAGE, TOOL_CALLS, AGENTS, COMPACTIONS, TURN_TIMES, SESSION_MARKS)
PART_TABLES = FACTS + DERIVED
LEDGER_TABLES = (SOURCE_FILES, PAST_GENERATIONS, FORGOTTEN, SYNC_RUNS)
AROUND_TABLES = (PROMPT_HISTORY, SESSION_INDEX, DAILY_STATS)
PRICE_TABLES = (RATE_CARDS, MODEL_NAMES)
BOOKS = LEDGER_TABLES + AROUND_TABLES + PRICE_TABLES
ALL_TABLES = PART_TABLES + BOOKS

# These appear in schema main with copies taken out; their physical rows are in schema raw.
COUNTED = (ENTRIES, MESSAGES, CONTENT_BLOCKS, TOOL_CALLS, AGENTS, COMPACTIONS, USAGE)
# And these, which views are made of: what they would otherwise compute with every question.
LOGICAL = (*COUNTED, TURN_TIMES, SESSION_MARKS)
