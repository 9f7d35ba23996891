"""The terms a warehouse keeps content on, and warehouses that older versions wrote."""

import shutil
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from etl import chain, frames, views
from etl.check import check
from etl.commit import Warehouse
from etl.errors import StateError, UsageError
from etl.tables import LOGICAL, PART_TABLES
from tests.searching import places_of
from tests.sessions import (
    PROJECT,
    assistant,
    rows,
    run_sync,
    text,
    tool_result,
    tool_use,
    user,
    value,
    write_log,
)
from tests.trees import MAINS, TREE

OLD = Path(__file__).parent / "warehouses" / "format-1.tar.gz"
WORDS = "the kiln burns at noon"
KEEPS_METRICS = (
    "written anew in commit 2: keeps metrics only from now on, and no words of what was there"
)


def old_warehouse(folder: Path) -> Path:
    """Unpack what the first format's version wrote of TREE, one log of it rewritten since."""
    with tarfile.open(OLD) as packed:
        packed.extractall(folder, filter="data")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return folder


def tree_at(logs: Path, *, is_rewritten: bool) -> None:
    for path, content in TREE.items():
        target = logs / "projects" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    if is_rewritten:
        log = logs / "projects" / MAINS[2]
        log.write_bytes(TREE[MAINS[2]].replace(b"Allein", b"Zu zweit"))


def rows_of_parts(lake: Path) -> dict[str, list[str]]:
    logical = {table.name for table in LOGICAL}
    with closing(views.connect(Warehouse(lake), time_zone="UTC")) as con:
        return {
            table.name: sorted(map(repr, con.sql(f"from {place}{table.name}").pl().rows()))
            for table in PART_TABLES
            for place in ["raw." if table.name in logical else ""]
        }


def test_an_older_warehouse_says_that_the_next_sync_upgrades_it(tmp_path: Path) -> None:
    lake = old_warehouse(tmp_path / "lake")
    with pytest.raises(StateError, match="older cclake") as caught:
        frames.query("select 1", warehouse=lake)
    assert caught.value.hint == "run cclake sync, which upgrades it"


def test_the_next_sync_upgrades_an_older_warehouse_in_one_commit(
    logs: Path, tmp_path: Path
) -> None:
    lake = old_warehouse(tmp_path / "lake")
    run = run_sync(logs, lake)
    assert (run.exit_code(), run.commit) == (0, 3)
    told = "written anew in commit 3: upgraded from an older format"
    assert (str(lake), told) in run.events
    assert Warehouse(lake).load().format == chain.FORMAT
    assert value(lake, "select kind from sync_runs order by started_at desc limit 1") == "upgrade"
    assert (told,) in rows(lake, "select what from sync_events")
    assert check(Warehouse(lake)).findings == []
    assert not run_sync(logs, lake).is_committed


def test_an_upgraded_warehouse_has_the_rows_of_one_that_is_made_today(
    logs: Path, tmp_path: Path
) -> None:
    upgraded, fresh = old_warehouse(tmp_path / "old"), tmp_path / "fresh"
    run_sync(logs, upgraded)
    tree_at(logs, is_rewritten=False)
    run_sync(logs, fresh)
    tree_at(logs, is_rewritten=True)
    run_sync(logs, fresh)
    before, after = rows_of_parts(fresh), rows_of_parts(upgraded)
    assert {name for name in before if before[name] != after[name]} == set()
    assert all(before[table] for table in ("entries", "usage", "rejects", "sidecars"))


def test_an_upgraded_warehouse_goes_on_where_it_was(logs: Path, tmp_path: Path) -> None:
    lake = old_warehouse(tmp_path / "lake")
    tree_at(logs, is_rewritten=True)
    run = run_sync(logs, lake)
    ask = "select count(*) - count(distinct (file_id, generation, byte_start, object_index))"
    assert value(lake, f"{ask} from raw.entries") == 0
    assert (run.problems, run.is_committed) == ([], True)
    assert check(Warehouse(lake)).findings == []


def test_a_run_that_dies_in_an_upgrade_leaves_the_old_warehouse(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = old_warehouse(tmp_path / "lake")
    monkeypatch.setattr("os.link", _no_space)
    with pytest.raises(Exception, match="No space"):
        run_sync(logs, lake)
    monkeypatch.undo()
    assert Warehouse(lake).load().format == 1
    assert run_sync(logs, lake).exit_code() == 0


def _no_space(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


# ---- Metrics: every count, time and cost, and not a word.


def talk(logs: Path) -> None:
    write_log(
        logs,
        [
            user(WORDS, "u1", 0),
            assistant(
                text(f"I see: {WORDS}"),
                tool_use("toolu_1", command=f"echo {WORDS}"),
                uuid="a1",
                stop="tool_use",
                output=70,
            ),
            tool_result("toolu_1", WORDS, uuid="r1", second=4, is_error=True),
            {"type": "custom-title", "customTitle": WORDS, "sessionId": "x"},
            {"type": "agent-name", "agentName": WORDS, "sessionId": "x"},
            f"no json, {WORDS}\n".encode(),
            assistant(uuid="a2", second=6, message_id="msg_2", request="req_2", output=7),
            f'{{"torn":"{WORDS}'.encode(),
        ],
    )
    (logs / "history.jsonl").write_text(f'{{"display":"{WORDS}","timestamp":1772352000000}}\n')
    write_log(
        logs,
        [{"version": 1, "entries": [{"sessionId": "s", "firstPrompt": WORDS}]}],
        f"{PROJECT}/sessions-index.json",
    )


COUNTS = """
select
    (
        select list_sort(list((day, project, model, responses, output_tokens, cost_usd)))
        from daily_spend
    ),
    (
        select list_sort(list((turn_id, api_calls, tool_calls, tool_errors, duration_ms, cost_usd)))
        from turns
    ),
    (select list_sort(list((tool_name, is_error, result_chars, duration_ms))) from tool_calls),
    (select list_sort(list((role, text_chars, text_blocks, tool_use_blocks))) from messages),
    (select list_sort(list((type, line_no, byte_start, byte_end))) from raw.entries),
    (select list_sort(list((reason, byte_end))) from rejects),
    (select count(*) from prompt_history)
"""


def test_metrics_keep_every_count_and_not_a_word(logs: Path, tmp_path: Path) -> None:
    talk(logs)
    full, lake = tmp_path / "full", tmp_path / "lake"
    run_sync(logs, full)
    run_sync(logs, lake, content="metrics")
    assert rows(lake, COUNTS) == rows(full, COUNTS)
    assert check(Warehouse(lake)).findings == []
    assert places_of(full, WORDS) != []
    assert places_of(lake, WORDS) == []


def test_a_warehouse_stays_on_its_terms(logs: Path, lake: Path) -> None:
    talk(logs)
    run_sync(logs, lake, content="metrics")
    write_log(logs, [user(WORDS, "v1", 0)], f"{PROJECT}/another.jsonl")
    run_sync(logs, lake)
    assert Warehouse(lake).load().content == "metrics"
    assert value(lake, "select count(*) from raw.entries where session_id = 'another'") == 1
    assert places_of(lake, WORDS) == []


def test_terms_hold_from_a_first_sync_that_finds_nothing(logs: Path, lake: Path) -> None:
    run_sync(logs, lake, content="metrics")
    talk(logs)
    run_sync(logs, lake)
    assert places_of(lake, WORDS) == []


def test_a_full_warehouse_that_is_to_keep_metrics_lets_go_of_all_words_at_once(
    logs: Path, lake: Path, tmp_path: Path
) -> None:
    talk(logs)
    run_sync(logs, lake)
    run_sync(logs, lake)
    shutil.rmtree(logs / "projects")
    (logs / "projects").mkdir()
    run = run_sync(logs, lake, content="metrics")
    assert (str(lake), KEEPS_METRICS) in run.events
    assert places_of(lake, WORDS) == []
    talk(logs)
    run_sync(logs, tmp_path / "anew", content="metrics")
    assert rows(lake, COUNTS) == rows(tmp_path / "anew", COUNTS)


def test_what_was_left_out_cannot_be_asked_back(logs: Path, lake: Path) -> None:
    talk(logs)
    run_sync(logs, lake, content="metrics")
    with pytest.raises(UsageError, match="keeps metrics only"):
        run_sync(logs, lake, content="full")


def test_warmups_are_told_without_words_too(logs: Path, lake: Path) -> None:
    warm = [user("Warmup", "w1", 0, isSidechain=True, agentId="warm")]
    work = [user("Work!", "w2", 0, isSidechain=True, agentId="work")]
    write_log(logs, [user("hi")])
    write_log(logs, warm, f"{PROJECT}/agent-warm.jsonl")
    write_log(logs, work, f"{PROJECT}/agent-work.jsonl")
    run_sync(logs, lake, content="metrics")
    assert rows(lake, "select agent_id, is_warmup from agents order by all") == [
        ("warm", True),
        ("work", False),
    ]


# ---- Known secrets.


def keys(logs: Path) -> str:
    """Log a made-up key in every place that keeps words, and return it."""
    key = "ghp_" + "a1B2" * 9
    write_log(
        logs,
        [
            user(f"use {key}", "u1", 0),
            assistant(tool_use("toolu_1", command=f"curl -H {key}"), uuid="a1", output=70),
            tool_result("toolu_1", f"{key}\nok", uuid="r1", second=4, is_error=True),
            {"type": "custom-title", "customTitle": key, "sessionId": "x", key: 1},
            f'{{"type":"user","uuid":"d1","a":"{key}","a":1}}\n'.encode(),
            f"no json, {key}\n".encode(),
            f'{{"torn":"{key}'.encode(),
        ],
    )
    (logs / "history.jsonl").write_text(f'{{"display":"{key}","timestamp":1772352000000}}\n')
    sidecar = f"{PROJECT}/11111111-1111-4111-8111-111111111111/subagents/agent-x.meta.json"
    write_log(logs, [{"agentType": "Explore", "description": key}], sidecar)
    return key


def test_known_secrets_are_nowhere_and_every_count_stays(logs: Path, tmp_path: Path) -> None:
    key = keys(logs)
    full, lake = tmp_path / "full", tmp_path / "lake"
    run_sync(logs, full)
    run_sync(logs, lake, redact="known")
    assert places_of(full, key) != []
    assert places_of(lake, key) == places_of(lake, key[:20]) == []
    counts = "select count(*), sum(output_tokens)::bigint from usage"
    assert rows(lake, counts) == rows(full, counts)
    assert check(Warehouse(lake), deep=True).findings == []


def test_a_hidden_secret_still_joins_with_itself(logs: Path, lake: Path) -> None:
    keys(logs)
    run_sync(logs, lake, redact="known")
    marks = "select distinct regexp_extract(text, '\\[redacted:[^]]*\\]') from content_blocks"
    told = [mark for (mark,) in rows(lake, f"{marks} where text is not null")]
    assert len(told) == 1
    assert told[0].startswith("[redacted:github:")
    flaws = "select distinct flaws from raw.entries order by all"
    assert rows(lake, flaws) == [("duplicate_keys, redacted",), ("redacted",)]


def test_secrets_that_were_kept_are_hidden_when_that_is_asked_for(logs: Path, lake: Path) -> None:
    key = keys(logs)
    run_sync(logs, lake)
    run_sync(logs, lake)
    shutil.rmtree(logs / "projects")
    (logs / "projects").mkdir()
    run = run_sync(logs, lake, redact="known")
    assert places_of(lake, key) == places_of(lake, key[:20]) == []
    assert check(Warehouse(lake)).findings == []
    off = run_sync(logs, lake, redact="off")
    (hides, *_), (stays,) = run.events, off.events
    assert "hides known secrets from now on, and in what was there" in hides[1]
    assert "hides no secrets from now on; what was hidden stays so" in stays[1]
