"""A log beside its rows: the same, or where and how not."""

from contextlib import closing
from pathlib import Path

from etl import views
from etl.commit import Warehouse
from etl.compare import Difference, KnownLog, differences, meaning_of
from etl.content import METRICS, Keeping
from tests.sessions import append, encoded, run_sync, user, write_log
from tests.trees import MAIN

ASK = (
    'select file_id, generation, root, path, "offset", prefix_hash, size, mtime_ns, ctime_ns'
    " from source_files"
)


def compared(lake: Path, keeping: Keeping | None = None) -> list[Difference]:
    with closing(views.connect(Warehouse(lake), time_zone="UTC")) as con:
        (row,) = con.execute(ASK).fetchall()
        return list(differences(con, KnownLog(*row), keeping or Keeping()))


def test_a_log_of_every_difficulty_is_the_same(logs: Path, lake: Path) -> None:
    write_log(logs, MAIN)
    run_sync(logs, lake)
    assert compared(lake) == []


def test_lines_that_came_since_are_no_difference(logs: Path, lake: Path) -> None:
    log = write_log(logs, MAIN[:-1])
    run_sync(logs, lake)
    append(log, user("later", "z1", 99))
    assert compared(lake) == []


def test_a_log_that_is_gone_or_shorter_is_news(logs: Path, lake: Path) -> None:
    log = write_log(logs, MAIN)
    run_sync(logs, lake)
    log.write_bytes(encoded(MAIN[:2]))
    (shorter,) = compared(lake)
    log.unlink()
    (gone,) = compared(lake)
    assert shorter.is_news
    assert gone.is_news
    assert "cannot be read" in gone.what


def test_where_words_are_not_kept_places_and_hashes_are_compared(logs: Path, lake: Path) -> None:
    write_log(logs, MAIN)
    run_sync(logs, lake, content=METRICS)
    assert compared(lake, Keeping(METRICS)) == []
    assert compared(lake) != []


def test_lines_mean_the_same_however_they_are_spelled() -> None:
    assert meaning_of(b'{"a": 1,"b":2}') == meaning_of(b'{"b":2,"a":1}')
    assert meaning_of(b'{"a":1}') != meaning_of(b'{"a":true}')
    assert meaning_of(b"oops ") == b"oops"
