"""What pricing costs: the daily view over a million responses, beside the same query without it."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from etl import pricing, views
from etl.prices import shipped
from etl.tables import USAGE
from tests.benchmarks.measures import Measure

RESPONSES = 1_000_000
PARTS = 16
THREADS = 2
MOST_SECONDS = 1.0
MOST_TIMES = 3.0
MODELS = (
    "claude-opus-4-5-20251101",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5-20251001",
    "us.anthropic.claude-opus-4-6-v1",
    "claude-sonnet-5",
    "claude-haiku-5-5",
    "claude-opus-5-5",
)
_ADVICE = (
    '[{"piece":"message","model":"claude-sonnet-5","input_tokens":5,"output_tokens":100,'
    '"cache_read_tokens":10,"cache_write_5m_tokens":20,"cache_write_1h_tokens":0,'
    '"is_response":true,"is_charged":true},{"piece":"advisor","model":"claude-opus-5-5",'
    '"input_tokens":900,"output_tokens":100,"cache_read_tokens":0,"cache_write_5m_tokens":0,'
    '"cache_write_1h_tokens":0,"is_response":false,"is_charged":true}]'
)
# One in twenty stands twice, one in a hundred took advice, some are fast, batched or in the US.
_VALUES = {
    "file_id": "'file' || (i // 500)",
    "generation": "0",
    "line_no": "i % 500 * 3",
    "byte_start": "i * 1000",
    "byte_end": "i * 1000 + 1000",
    "object_index": "0",
    "session_id": "md5((i // 500)::varchar)",
    "agent_id": "case when i % 5 = 0 then 'agent' || (i // 100) end",
    "key": "message || ':' || request",
    "response_hash": "md5_number_lower(message) >> 1",
    "message_id": "message",
    "request_id": "request",
    "model": f"{list(MODELS)}[1 + (hash(i // 50) % {len(MODELS)})::bigint]",
    "occurred_at": "timestamptz '2025-11-01 00:00:00+00' + interval (i * 30) second",
    "stop_reason": "'end_turn'",
    "input_tokens": "(hash(i) % 12)::bigint",
    "output_tokens": "(hash(i, 1) % 2000)::bigint",
    "cache_read_tokens": "(hash(i, 2) % 180000)::bigint",
    "cache_write_5m_tokens": "case when i % 3 = 0 then (hash(i, 3) % 9000)::bigint else 0 end",
    "cache_write_1h_tokens": "case when i % 3 > 0 then (hash(i, 3) % 9000)::bigint else 0 end",
    "service_tier": "case when i % 200 = 0 then 'batch' else 'standard' end",
    "speed": "case when i % 70 = 0 then 'fast' else 'standard' end",
    "inference_geo": "case when i % 90 = 0 then 'us' else 'not_available' end",
    "pieces": f"case when i % 100 = 0 then '{_ADVICE}' end",
    "output_is_final": "true",
    "line_count": "3",
    "turn_id": "md5((i // 20)::varchar)",
    "project": "'/home/ada/project' || (i // 5000)",
    "git_branch": "'main'",
    "version": "'2.1.290'",
    "is_warmup": "false",
    "is_sidechain": "i % 5 = 0",
    "is_background": "false",
    "is_forked": "false",
    "session_started_at": "timestamptz '2025-11-01 00:00:00+00' + interval (i // 500) hour",
    "session_ended_at": "timestamptz '2025-11-02 00:00:00+00' + interval (i // 500) hour",
}
_UNPRICED = """
select
    occurred_at::date as day, project, model, count(*) as responses,
    sum(columns('^(input|output|cache_.*)_tokens$'))::bigint
from usage group by all
"""


def measure(place: Path, *, rounds: int) -> Iterator[Measure]:
    """Measure both queries, one after the other, so that they see the same weather."""
    root = _written(place / "responses")
    with closing(_connection(root)) as con:
        pairs = [
            (_seconds(con, _UNPRICED), _seconds(con, "from daily_spend")) for _ in range(rounds)
        ]
    wall, cpu = min(priced for _, priced in pairs)
    times = min(priced[0] / plain[0] for plain, priced in pairs)
    yield Measure(
        f"daily_spend over {RESPONSES:,} responses, {THREADS} threads",
        f"{wall:.2f} s, {cpu:.2f} s CPU",
        f"< {MOST_SECONDS:.0f} s",
        wall < MOST_SECONDS,
    )
    yield Measure(
        "of that, against the same query without cost",
        f"{times:.1f} x of {min(plain for plain, _ in pairs)[0]:.2f} s",
        f"≤ {MOST_TIMES:.0f} x",
        times <= MOST_TIMES,
    )


def _written(root: Path) -> Path:
    folder = root / "usage" / "source=laptop" / "month=2025-11"
    folder.mkdir(parents=True)
    for name, rows in pricing.tables_of(shipped(), MODELS).items():
        (root / name).mkdir()
        pq.write_table(rows, root / name / "all.parquet")
    columns = ", ".join(
        f'({_VALUES.get(column.name, "null")})::{views.sql_type(column.type)} as "{column.name}"'
        for column in USAGE.columns
    )
    with closing(duckdb.connect()) as con:
        for part in range(PARTS):
            first, end = (RESPONSES * edge // PARTS for edge in (part, part + 1))
            rows = (
                f"select {columns} from (select i, 'msg_' || md5((i - (i % 20 = 0)::int)::varchar)"  # noqa: S608 - our own names
                f" as message, 'req_' || message as request from range({first}, {end}) as t (i))"
            )
            con.execute(f"copy ({rows}) to '{folder}/part-{part:04}.parquet' (compression zstd)")
    return root


def _connection(root: Path) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": THREADS})
    con.execute("set timezone = 'Europe/Berlin'")
    for statement in views.statements(root, with_comments=False):
        con.execute(statement)
    return con


def _seconds(con: duckdb.DuckDBPyConnection, query: str) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    con.sql(query).fetchall()
    return time.perf_counter() - wall, time.process_time() - cpu
