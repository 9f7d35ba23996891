"""What is left of rows where only metrics are kept, or secrets are hidden."""

from dataclasses import replace

import pyarrow as pa
import pytest

from etl.content import KNOWN, METRICS, Keeping, stripped
from etl.facts import FactBatch
from etl.follow import Origin, Tally
from etl.tables import ENTRIES, FACTS, PROMPT_HISTORY
from tests.sessions import Line, assistant, encoded, text, tool_result, tool_use, user

KEY = bytes(range(32))
METRICS_ONLY = Keeping(METRICS, key=KEY.hex())
ORIGIN = Origin("f", 0, "s", None, "main")


def facts_of(keeping: Keeping, *lines: Line) -> dict[str, list[dict[str, object]]]:
    batch = FactBatch(keeping)
    batch.add_lines(ORIGIN, 0, encoded(lines), Tally())
    return {name: rows.to_pylist() for name, rows in batch.take().items()}


def test_equal_words_have_equal_fingerprints_and_no_others() -> None:
    lines = [user(words, f"u{at}") for at, words in enumerate(["go", "stay", "go"])]
    first, second, third = (
        one["preview"] for one in facts_of(METRICS_ONLY, *lines)["content_blocks"]
    )
    assert first == third != second
    assert str(first).startswith("[words:")
    other_key = replace(METRICS_ONLY, key="11" * 32)
    assert facts_of(other_key, *lines)["content_blocks"][0]["preview"] != first


def test_lengths_names_and_ids_stay_where_words_go() -> None:
    call = tool_use("toolu_1", "Read", file_path="/home/ada/letter.txt")
    answer = tool_result("toolu_1", "Dear Ada", toolUseResult={"stdout": "Dear Ada", "lines": 3})
    kept = facts_of(METRICS_ONLY, assistant(text("Let me see"), call), answer)
    said, called, answered = kept["content_blocks"]
    assert (said["text"], said["text_chars"]) == (None, 10)
    assert (called["tool_name"], called["tool_use_id"], called["input"]) == (
        "Read",
        "toolu_1",
        None,
    )
    assert (answered["text"], answered["text_chars"]) == (None, 8)
    meta = str(kept["entries"][1]["result_meta"])
    assert '"lines":3' in meta
    assert "Ada" not in repr(kept)


@pytest.mark.parametrize(
    ("state", "is_kept"),
    [
        ({"type": "cost-state", "totalCostUSD": 1.5}, True),
        ({"type": "pr-link", "prUrl": "https://example.com/1"}, True),
        ({"type": "custom-title", "customTitle": "mine"}, False),
        ({"type": "summary", "summary": "mine"}, False),
        ({"type": "never-seen", "anything": "mine"}, False),
    ],
    ids=lambda value: str(value["type"]) if isinstance(value, dict) else "",
)
def test_of_state_records_only_what_was_done_is_kept(state: Line, *, is_kept: bool) -> None:
    (entry,) = facts_of(METRICS_ONLY, state)["entries"]
    assert (entry["state"] is not None) == is_kept


NAMES = """
    agent_id agent_type api_error attachment_type block_type compact_trigger cwd denial
    echoed_message_id effort entrypoint fallback_credit file_id flaws forked_from_session_id
    forked_from_uuid form git_branch inference_geo iterations layout linked_tool_use_id
    logged_agent_id logged_session_id logical_parent_uuid message_id model name output_file
    parent_agent_id parent_uuid permission_mode project prompt_id prompt_kind prompt_rule
    reason request_id role service_tier session_id session_kind slug source_uuid
    spawned_agent_id spawned_run_id speed stop_reason subtype tool_name tool_use_id type
    unknown_fields user_type uuid version workflow_run_id
"""


def test_every_column_that_may_hold_content_says_so() -> None:
    """A new column of free text has to say what becomes of it; these are names, ids and kinds."""
    free = {
        (table.name, column.name)
        for table in (*FACTS, PROMPT_HISTORY)
        for column in table.columns
        if column.type in {pa.string(), pa.binary()} and not column.holds
    }
    assert {name for _, name in free} == set(NAMES.split())


def test_rows_without_content_stay_as_they_are() -> None:
    facts = FactBatch(Keeping()).take()
    assert stripped(ENTRIES, facts["entries"], KEY).equals(facts["entries"])


def test_a_tail_is_kept_whole_only_where_everything_is() -> None:
    assert Keeping().tail(b'{"half') == b'{"half'
    assert METRICS_ONLY.tail(b'{"half') == b""


def test_a_forgotten_session_is_known_by_its_mark_alone() -> None:
    keeping = Keeping(key=KEY.hex())
    mark = keeping.mark_of("s1")
    forgetful = replace(keeping, forgotten_sessions=frozenset({mark}))
    assert (forgetful.forgets("s1"), forgetful.forgets("s2"), forgetful.forgets(None)) == (
        True,
        False,
        False,
    )
    assert "s1" not in mark


def test_hiding_more_is_told_from_hiding_less() -> None:
    full, redacted = Keeping(key=KEY.hex()), Keeping(redact=KNOWN, key=KEY.hex())
    assert METRICS_ONLY.hides_more_than(full)
    assert redacted.hides_more_than(full)
    assert not full.hides_more_than(redacted)
    assert not full.hides_more_than(full)
