"""A copy of a log, of whatever kind and in whatever order, changes no total."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from etl import views
from etl.commit import Warehouse
from tests.ruins import copy_of
from tests.sessions import (
    PROJECT,
    SESSION,
    Line,
    assistant,
    encoded,
    rows,
    run_sync,
    user,
    write_log,
)
from tests.trees import MAINS, TREE

NEW = "99999999-9999-4999-8999-999999999999"
TOTALS = """
select
    (select (count(*), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
        sum(cache_write_5m_tokens), sum(cache_write_1h_tokens)) from usage)::varchar as usage,
    (select (count(*), count(answered_at), count_if(is_error), sum(result_chars),
        sum(duration_ms)) from tool_calls)::varchar as tool_calls,
    (select (count(*), sum(api_calls), sum(tool_calls), sum(output_tokens), sum(duration_ms),
        sum(agents), sum(compactions)) from turns)::varchar as turns,
    (select (count(*), sum(pre_tokens), sum(summary_chars)) from compactions)::varchar as folded,
    (select list(d order by d)::varchar from daily_spend as d) as days,
    (select count(*) from messages) as messages,
    (select count(*) from entries) as entries,
    (select count(*) from content_blocks) as blocks
"""


def totals_of(warehouse: Path) -> dict[str, object]:
    with closing(views.connect(Warehouse(warehouse), time_zone="UTC")) as con:
        return dict(con.sql(TOTALS).pl().row(0, named=True))


def resumed(line: Line) -> Line:
    """`--fork-session` and old resumes: the same lines under a new session id."""
    return line | {"sessionId": NEW}


def in_background(line: Line) -> Line:
    return line | {"sessionId": NEW, "sessionKind": "bg"}


def branched(line: Line) -> Line:
    origin = {"sessionId": line["sessionId"], "messageUuid": line["uuid"]}
    return line | {"sessionId": NEW, "forkedFrom": origin}


def forked_by_sdk(line: Line) -> Line:
    """Every uuid is new; only the ids of the API, and forkedFrom, tell what it was."""
    parent = line.get("parentUuid")
    return branched(line) | {
        "uuid": f"sdk-{line['uuid']}",
        "parentUuid": parent and f"sdk-{parent}",
        "isSidechain": False,
    }


def replayed_aside(line: Line) -> Line:
    """A side thread that repeats the history under request ids of its own."""
    again = {"requestId": f"again-{line['requestId']}"} if "requestId" in line else {}
    return line | {"sessionId": NEW, "isSidechain": True} | again


def copy_of_log(content: bytes, change: Callable[[Line], Line]) -> bytes:
    """Copy the lines that are conversation, as every kind of copy does."""
    found = []
    for line in content.split(b"\n"):
        try:
            found.append(change(json.loads(line)))
        except (ValueError, AttributeError, TypeError, KeyError):
            assert not line.startswith(b'{"parentUuid"') or b"}{" in line, line
    return encoded(found)


def write(logs: Path, path: str, content: bytes) -> None:
    target = logs / "projects" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def write_all(logs: Path) -> None:
    for path, content in TREE.items():
        write(logs, path, content)


@dataclass(frozen=True, slots=True)
class Known:
    """Logs that were synced, their warehouse, and its totals."""

    logs: Path
    lake: Path
    totals: dict[str, object]

    def with_more(self, path: str, content: bytes, lake: Path) -> dict[str, object]:
        """Return the totals of a copy of the warehouse after a sync with one more log."""
        copy_of(self.lake, lake)
        write(self.logs, path, content)
        try:
            assert run_sync(self.logs, lake).bytes > 0
        finally:
            (self.logs / "projects" / path).unlink()
        return totals_of(lake)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    folder = tmp_path_factory.mktemp("known")
    write_all(folder)
    run_sync(folder, folder / "lake")
    return Known(folder, folder / "lake", totals_of(folder / "lake"))


@pytest.mark.parametrize("path", [path for path in TREE if path.endswith("l") and TREE[path]])
def test_a_byte_copy_of_any_file_in_another_folder_changes_no_total(
    path: str, known: Known, lake: Path
) -> None:
    place = f"-home-ada-a-copy/{path.split('/', 1)[1]}"
    assert known.with_more(place, TREE[path], lake) == known.totals


CHANGES = (resumed, in_background, branched, forked_by_sdk, replayed_aside)
COPY = f"-home-ada-kiln/{NEW}.jsonl"


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("path", [MAINS[0], MAINS[2]], ids=["long", "short"])
def test_a_copy_of_any_kind_changes_no_total(
    path: str, change: Callable[[Line], Line], known: Known, lake: Path
) -> None:
    assert known.with_more(COPY, copy_of_log(TREE[path], change), lake) == known.totals


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("path", [MAINS[0], MAINS[2]], ids=["long", "short"])
def test_a_copy_of_any_kind_that_comes_first_changes_no_total(
    path: str, change: Callable[[Line], Line], known: Known, tmp_path: Path
) -> None:
    write(tmp_path, COPY, copy_of_log(TREE[path], change))
    run_sync(tmp_path, tmp_path / "lake")
    write_all(tmp_path)
    run_sync(tmp_path, tmp_path / "lake")
    assert totals_of(tmp_path / "lake") == known.totals


@pytest.mark.parametrize("fork", ["00000000-fork", "ffffffff-fork"])
@pytest.mark.parametrize("keeps_id", [True, False], ids=["resumed", "forked"])
def test_the_original_keeps_what_a_later_copy_repeats_whatever_it_is_called(
    tmp_path: Path, fork: str, *, keeps_id: bool
) -> None:
    history = [user("Hi"), assistant(output=10, stop="end_turn")]
    write_log(tmp_path, history)
    copied = [line if keeps_id else {**line, "sessionId": fork} for line in history]
    more = [
        user("And?", "u2", 60, sessionId=fork),
        assistant(uuid="a2", second=61, message_id="m2", request="r2", sessionId=fork),
    ]
    write_log(tmp_path, [*copied, *more], f"{PROJECT}/{fork}.jsonl")
    run_sync(tmp_path, tmp_path / "lake")
    sql = "select session_id, turns, responses, is_empty, goal, forked_from from sessions"
    assert sorted(rows(tmp_path / "lake", sql)) == sorted(
        [(SESSION, 1, 1, True, "Hi", None), (fork, 1, 1, False, "And?", SESSION)]
    )
