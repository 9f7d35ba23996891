"""What a warehouse says about a demo tree, in the words of its truth.json."""

from collections.abc import Mapping

from etl import frames

TOKENS = (
    "responses, input_tokens, output_tokens, cache_read_tokens,"
    " cache_write_5m_tokens, cache_write_1h_tokens"
)
COUNTS = """
select
    (select sum(line_count)::bigint from source_files where part is not null) as all_lines,
    (select count(*) from raw.entries) as entries,
    (select count(*) from rejects) as rejects,
    (select count(*) from turns) as human_turns,
    (select count(*) from usage) as responses,
    (select count(*) from tool_calls) as tool_calls,
    (select count(*) from tool_calls where is_error) as tool_errors,
    (select count(*) from tool_calls where answered_at is null) as unanswered_tool_calls,
    (select count(*) from agents) as agents,
    (select count(*) from warmup_agents) as warmup_agents,
    (select count(*) from compactions) as compactions,
    (select count(*) from source_files where octet_length(pending) > 0) as pending_files,
    (select count(*) from source_files where kind = 'main') as main_files,
    (select count(*) from source_files where kind = 'agent') as agent_files,
    (select count(*) from source_files where kind = 'sidecar') as sidecar_files,
    (select count(*) from prompt_history) as history_lines
"""
BY = """
select {name}, {sums} from daily_spend group by all
"""


def account_of(warehouse: str) -> dict[str, object]:
    """Return the counts and the tokens by model and by day that the views give."""
    account: dict[str, object] = dict(frames.query(COUNTS, warehouse=warehouse).row(0, named=True))
    sums = ", ".join(f"sum({name.strip()})::bigint as {name.strip()}" for name in TOKENS.split(","))
    for key, name in (("tokens_by_model", "model"), ("tokens_by_day", "day::varchar as day")):
        rows = frames.query(BY.format(name=name, sums=sums), warehouse=warehouse).rows(named=True)
        column = name.split()[-1]
        account[key] = {str(row.pop(column)): row for row in rows}
    return account


def expected_of(truth: Mapping[str, object]) -> dict[str, object]:
    """Return what the same account must be, by the tree's truth."""
    files = truth["files"]
    assert isinstance(files, dict)
    expected = {
        name: truth[name]
        for name in [
            "entries",
            "rejects",
            "human_turns",
            "responses",
            "tool_calls",
            "tool_errors",
            "unanswered_tool_calls",
            "agents",
            "warmup_agents",
            "compactions",
            "pending_files",
            "history_lines",
            "tokens_by_model",
            "tokens_by_day",
        ]
    }
    expected["all_lines"] = int(str(truth["lines"])) + int(str(truth["blank_lines"]))
    expected |= {f"{kind}_files": files[kind] for kind in ("main", "agent", "sidecar")}
    return expected
