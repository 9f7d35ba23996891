"""The books: the ledger of files, the runs, and the files around the logs."""

import pyarrow as pa

from etl.tables.shape import (
    AGENT,
    BINARY,
    INSTANT,
    INTEGER,
    PLACE,
    SESSION,
    SMALL,
    STRING,
    Column,
    Table,
)

SOURCE_FILES = Table(
    "source_files",
    "one file found, empty ones too: the ledger",
    ("file_id",),
    (
        Column("file_id", STRING, "The source file, whatever path it moves to."),
        Column("source", STRING, "The machine it was read on."),
        Column("root", STRING, "Log folder it was found under."),
        Column("path", STRING, "Path below the root, where it was last seen."),
        Column("kind", STRING, "main, agent, sidecar, history, index, stats or other."),
        Column("layout", STRING, "main, flat, subagents, workflow, sidecar, tool_result or other."),
        SESSION,
        AGENT,
        Column("size", INTEGER, "Size in bytes when last looked at."),
        Column("mtime_ns", INTEGER, "Time of last change, nanoseconds since 1970."),
        Column("ctime_ns", INTEGER, "Time of last change of the inode, nanoseconds since 1970."),
        Column("device", INTEGER, "Device, a hint for moved files."),
        Column("inode", INTEGER, "Inode, a hint for moved files."),
        Column("offset", INTEGER, "Bytes read: up to the last whole line."),
        Column("line_count", INTEGER, "Lines read, blank ones too."),
        Column("blank_bytes", INTEGER, "Bytes in blank lines."),
        Column(
            "pending",
            BINARY,
            "The waiting tail, without its newline; empty beyond 16 MiB, or if not to be kept.",
            holds="text",
        ),
        Column("prefix_hash", STRING, "Hash of the bytes up to offset."),
        Column("generation", SMALL, "Rises when bytes that were already read have changed."),
        Column("part", SMALL, "The part its rows are in; null until a line was read."),
        Column("month", STRING, "The part's month: a place, never an answer."),
        Column("first_seen_at", INSTANT, "When it was first found."),
        Column("gone_at", INSTANT, "When it was first missed; null while it is there."),
    ),
)

PAST_GENERATIONS = Table(
    "past_generations",
    "one generation of a log whose bytes have changed since: how far it was read",
    ("file_id", "generation"),
    (
        Column("file_id", STRING, "The source file, whatever path it moves to."),
        Column("generation", SMALL, "The generation that ended."),
        Column("offset", INTEGER, "Bytes read: up to the last whole line."),
        Column("line_count", INTEGER, "Lines read, blank ones too."),
        Column("blank_bytes", INTEGER, "Bytes in blank lines."),
        Column("prefix_hash", STRING, "Hash of the bytes up to offset."),
        Column("ended_at", INSTANT, "When the change was noticed."),
    ),
)

FORGOTTEN = Table(
    "forgotten",
    "one session or line that was forgotten on request, and is not read again",
    ("kind", "fingerprint"),
    (
        Column("kind", STRING, "session or line."),
        Column("fingerprint", STRING, "Keyed hash of the session's id, or hash of the line."),
        Column("forgotten_at", INSTANT, "When."),
    ),
)

SYNC_RUNS = Table(
    "sync_runs",
    "one run that committed",
    ("run_id",),
    (
        Column("run_id", STRING, "The run."),
        Column("kind", STRING, "sync, upgrade, content, forget or repair."),
        Column("started_at", INSTANT, "When it began."),
        Column("ended_at", INSTANT, "When it was ready to commit."),
        Column("source", STRING, "The machine whose logs it read."),
        Column("files", INTEGER, "Files found."),
        Column("files_read", INTEGER, "Files with something new."),
        Column("bytes", INTEGER, "Bytes read."),
        Column("lines", INTEGER, "Lines read."),
        Column("entries", INTEGER, "Entries stored."),
        Column("rejects", INTEGER, "Lines rejected."),
        Column("events", STRING, "What was odd: files skipped, rewritten, moved, gone; JSON."),
        Column("version", STRING, "Version of cclake."),
        Column("price_book_hash", STRING, "Hash of the price book, own prices included."),
    ),
)

PROMPT_HISTORY = Table(
    "prompt_history",
    "one line of history.jsonl",
    ("file_id", "generation", "line_no"),
    (
        *PLACE,
        Column("occurred_at", INSTANT, "When the prompt was typed.", ("timestamp",)),
        Column("display", STRING, "The prompt as shown.", ("display",), holds="text"),
        Column("project", STRING, "Working directory.", ("project",)),
        Column("session_id", STRING, "Session, where logged.", ("sessionId",)),
        Column("payload", STRING, "All of the line that is in no column, JSON.", holds="text"),
        Column(
            "raw", BINARY, "The line itself, where JSON text cannot give it back.", holds="text"
        ),
    ),
)

SESSION_INDEX = Table(
    "session_index",
    "one entry of sessions-index.json; a row without a session holds the rest of the file",
    ("file_id", "session_id"),
    (
        Column("file_id", STRING, "The index file."),
        Column("session_id", STRING, "Session.", ("sessionId",)),
        Column(
            "first_prompt", STRING, "First prompt, perhaps cut.", ("firstPrompt",), holds="text"
        ),
        Column("message_count", INTEGER, "Messages.", ("messageCount",)),
        Column("created_at", INSTANT, "Start.", ("created",)),
        Column("modified_at", INSTANT, "Last change.", ("modified",)),
        Column("git_branch", STRING, "Git branch.", ("gitBranch",)),
        Column("project", STRING, "Working directory.", ("projectPath",)),
        Column("payload", STRING, "All of the entry that is in no column, JSON.", holds="text"),
    ),
)

DAILY_STATS = Table(
    "daily_stats",
    "one day of stats-cache.json; the row without a day holds the rest of the file",
    ("file_id", "day"),
    (
        Column("file_id", STRING, "The cache file."),
        Column("day", pa.date32(), "The day, in the zone of the machine that wrote it."),
        Column("message_count", INTEGER, "Messages.", ("messageCount",)),
        Column("session_count", INTEGER, "Sessions.", ("sessionCount",)),
        Column("tool_call_count", INTEGER, "Calls.", ("toolCallCount",)),
        Column("tokens_by_model", STRING, "Tokens by model, JSON."),
        Column("payload", STRING, "All that is in no column, JSON."),
    ),
)
