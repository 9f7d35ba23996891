"""A log grows, moves, is rewritten and goes away: its rows stay, once."""

import os
from pathlib import Path

from etl.config import Settings
from etl.pipeline import sync
from tests.sessions import (
    PROJECT,
    SESSION,
    append,
    assistant,
    encoded,
    rows,
    run_sync,
    user,
    value,
    write_log,
)

OTHER = "22222222-2222-4222-8222-222222222222"


def test_a_vanished_log_keeps_its_rows_and_is_marked_gone(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi"), assistant()])
    run_sync(logs, lake)
    log.unlink()
    run = run_sync(logs, lake)
    assert run.is_committed
    assert [what for _, what in run.events] == ["gone"]
    assert value(lake, "select epoch_us(gone_at) from source_files") == run.started_at
    assert value(lake, "select count(*) from entries") == 2
    assert value(lake, "select output_tokens from usage") == 10
    assert not run_sync(logs, lake).is_committed


def test_a_log_that_comes_back_is_no_longer_gone_and_adds_no_row(logs: Path, lake: Path) -> None:
    lines = [user("hi"), assistant()]
    log = write_log(logs, lines)
    run_sync(logs, lake)
    log.unlink()
    run_sync(logs, lake)
    write_log(logs, lines)
    run_sync(logs, lake)
    assert rows(lake, "select gone_at, generation from source_files") == [(None, 0)]
    assert value(lake, "select count(*) from raw.entries") == 2


def test_a_moved_log_keeps_its_file_id_and_adds_no_row(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi"), assistant()])
    run_sync(logs, lake)
    before = value(lake, "select file_id from source_files")
    target = logs / "projects" / "-home-ada-elsewhere" / log.name
    target.parent.mkdir()
    log.rename(target)
    run = run_sync(logs, lake)
    assert [what for _, what in run.events] == ["moved"]
    assert rows(lake, "select file_id, path, generation, gone_at from source_files") == [
        (before, f"-home-ada-elsewhere/{log.name}", 0, None)
    ]
    assert value(lake, "select count(*) from raw.entries") == 2


def test_a_session_called_as_one_that_is_gone_keeps_its_name(logs: Path, lake: Path) -> None:
    title = [b'{"customTitle":"Kiln"}']
    write_log(logs, [user("hi")])
    first = write_log(logs, title, f"{PROJECT}/{SESSION}/custom-title.json")
    run_sync(logs, lake)
    first.unlink()
    write_log(logs, [user("ho", "u2", sessionId=OTHER)], f"{PROJECT}/{OTHER}.jsonl")
    write_log(logs, title, f"{PROJECT}/{OTHER}/custom-title.json")
    assert [what for _, what in run_sync(logs, lake).events] == ["gone"]
    assert sorted(rows(lake, "select session_id, custom_title from sidecars")) == [
        (SESSION, "Kiln"),
        (OTHER, "Kiln"),
    ]


def test_a_hard_link_that_sorts_first_is_the_same_file(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi")])
    run_sync(logs, lake)
    log.with_name("000.jsonl").hardlink_to(log)
    run = run_sync(logs, lake)
    assert [what.partition(" '")[0] for _, what in run.events] == ["same file as", "moved"]
    assert rows(lake, "select path, gone_at from source_files") == [(f"{PROJECT}/000.jsonl", None)]
    assert value(lake, "select count(*) from raw.entries") == 1


def test_a_log_that_is_renamed_before_its_first_newline_has_its_line_once(
    logs: Path, lake: Path
) -> None:
    log = write_log(logs, [encoded([user("hi")])[:-1]])
    run_sync(logs, lake)
    log = log.rename(log.with_name("renamed.jsonl"))
    run_sync(logs, lake)
    append(log, b"\n")
    run_sync(logs, lake)
    assert rows(lake, "select line_no, generation from raw.entries") == [(1, 0)]
    assert value(lake, "select count(*) from source_files") == 1


def test_a_moved_log_goes_on_where_it_was_read_to(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi")])
    run_sync(logs, lake)
    target = logs / "projects" / "-home-ada-elsewhere" / log.name
    target.parent.mkdir()
    log.rename(target)
    append(target, encoded([assistant()]))
    run = run_sync(logs, lake)
    assert run.lines == 1
    assert rows(lake, "select line_no, generation from raw.entries order by all") == [
        (1, 0),
        (2, 0),
    ]


def test_a_rewritten_log_gets_a_generation_and_old_usage_stays_billed(
    logs: Path, lake: Path
) -> None:
    write_log(logs, [user("first"), assistant(output=70)])
    run_sync(logs, lake)
    write_log(
        logs,
        [user("second", "u2"), assistant(uuid="a2", message_id="msg_2", request="req_2", output=5)],
    )
    run = run_sync(logs, lake)
    assert [what for _, what in run.events] == ["rewritten"]
    assert value(lake, "select generation from source_files") == 1
    assert rows(lake, "select generation, uuid from raw.entries order by all") == [
        (0, "a1"),
        (0, "u1"),
        (1, "a2"),
        (1, "u2"),
    ]
    assert rows(lake, "select message_id, output_tokens from usage order by all") == [
        ("msg_1", 70),
        ("msg_2", 5),
    ]


def test_a_truncated_log_is_read_again_and_billed_once(logs: Path, lake: Path) -> None:
    first = [user("hi"), assistant(output=70)]
    more = [assistant(uuid="a2", second=4, message_id="msg_2", request="req_2", output=5)]
    write_log(logs, [*first, *more])
    run_sync(logs, lake)
    write_log(logs, first)
    run_sync(logs, lake)
    assert rows(lake, "select generation, line_count from source_files") == [(1, 2)]
    assert value(lake, "select count(*) from raw.entries") == 5
    assert rows(lake, "select message_id, output_tokens from usage order by all") == [
        ("msg_1", 70),
        ("msg_2", 5),
    ]


def test_a_rewrite_of_the_same_size_with_its_time_put_back_is_noticed(
    logs: Path, lake: Path
) -> None:
    log = write_log(logs, [user("one")])
    run_sync(logs, lake)
    before = log.stat()
    log.write_bytes(encoded([user("two")]))
    os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = log.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    run_sync(logs, lake)
    assert rows(lake, "select generation, text from raw.content_blocks order by all") == [
        (0, "one"),
        (1, "two"),
    ]


def test_several_roots_are_read_into_one_warehouse(tmp_path: Path, lake: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write_log(one, [user("hi")])
    write_log(two, [user("ho", "u2", sessionId=OTHER)], f"{PROJECT}/{OTHER}.jsonl")
    run = sync(Settings((one / "projects", two / "projects"), lake, "laptop", 1))
    assert run.files == 2
    assert rows(lake, "select root from source_files order by root") == [
        (str(one / "projects"),),
        (str(two / "projects"),),
    ]
    assert rows(lake, "select uuid from entries order by uuid") == [("u1",), ("u2",)]


def test_a_root_that_is_not_walked_has_no_file_gone(tmp_path: Path, lake: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    write_log(one, [user("hi")])
    write_log(two, [user("ho", "u2", sessionId=OTHER)], f"{PROJECT}/{OTHER}.jsonl")
    sync(Settings((one / "projects", two / "projects"), lake, "laptop", 1))
    run_sync(one, lake)
    assert value(lake, "select count(*) from source_files where gone_at is not null") == 0


def test_a_tail_that_is_a_whole_object_becomes_an_entry_when_its_file_is_gone(
    logs: Path, lake: Path
) -> None:
    whole = encoded([assistant(stop="end_turn")]).rstrip(b"\n")
    log = write_log(logs, [user("hi"), whole])
    run_sync(logs, lake)
    assert value(lake, "select count(*) from usage") == 0
    log.unlink()
    run = run_sync(logs, lake)
    assert (run.exit_code(), run.entries) == (0, 1)
    ask = 'select pending, "offset", size, line_count, gone_at is not null from source_files'
    ((pending, offset, size, lines, is_gone),) = rows(lake, ask)
    assert (pending, offset, lines, is_gone) == (b"", size, 2, True)
    assert rows(lake, "select message_id, line_no from usage") == [("msg_1", 2)]
    assert not run_sync(logs, lake).is_committed


def test_a_file_that_never_had_a_newline_is_read_when_it_is_gone(tmp_path: Path) -> None:
    log = write_log(tmp_path, [encoded([user("Hi")]).rstrip(b"\n")])
    flat = write_log(tmp_path, [encoded([user("Go")]).rstrip(b"\n")], f"{PROJECT}/agent-a.jsonl")
    run_sync(tmp_path, tmp_path / "lake")
    assert value(tmp_path / "lake", "select count(*) from entries") == 0
    log.unlink()
    flat.unlink()
    run_sync(tmp_path, tmp_path / "lake")
    sql = "select session_id, agent_id from raw.entries order by all"
    assert rows(tmp_path / "lake", sql) == [(SESSION, "a"), (SESSION, None)]
    assert run_sync(tmp_path, tmp_path / "lake").is_committed is False


def test_a_torn_tail_of_a_file_that_is_gone_waits_on(logs: Path, lake: Path) -> None:
    log = write_log(logs, [user("hi"), b'{"torn'])
    run_sync(logs, lake)
    log.unlink()
    assert run_sync(logs, lake).entries == 0
    assert value(lake, "select pending from source_files") == b'{"torn'


def test_a_file_that_comes_back_with_its_newline_counts_nothing_twice(
    logs: Path, lake: Path
) -> None:
    whole = encoded([assistant(stop="end_turn")]).rstrip(b"\n")
    log = write_log(logs, [user("hi"), whole])
    run_sync(logs, lake)
    log.unlink()
    run_sync(logs, lake)
    write_log(logs, [user("hi"), whole, b"\n", user("on", "u2", 9)])
    run_sync(logs, lake)
    assert value(lake, "select count(*) from usage") == 1
    assert value(lake, "select count(*) from turns") == 2
