"""Damage to what a warehouse is made of: it is refused or makes no difference, named, and mended.

Rows 24 to 26 of the fault matrix: the newest commit, data files, copies and old backups.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from etl import frames
from etl.check import check
from etl.commit import Warehouse
from etl.errors import CclakeError, StateError
from tests.faults.tally import Tally
from tests.ruins import Picture, copy_of, differences, document, errors, mend, picture, stored
from tests.sessions import Line, append, assistant, run_sync, tool_result, tool_use, user, write_log
from tests.test_chain import rewritten

LINES: list[Line | bytes] = [
    user("Count the trees", "u1", 0),
    assistant(tool_use("toolu_1"), uuid="a1", second=1, stop="tool_use"),
    tool_result("toolu_1", "three", uuid="r1", second=2),
    b"oops\n",
]
LAST = 3
QUESTION = "select count(*), sum(output_tokens), max(occurred_at)::varchar from usage"
Damage = Callable[[Path], None]


class Sound:
    """A small warehouse of three commits, and its logs."""

    def __init__(self, folder: Path) -> None:
        self.logs, self.lake = folder / "logs", folder / "lake"
        log = write_log(self.logs, LINES)
        for number in range(LAST):
            append(log, assistant(uuid=f"a{number}x", second=9 + number, message_id=f"m{number}"))
            run_sync(self.logs, self.lake)
        self.before = picture(self.lake)
        self.answer = frames.query(QUESTION, warehouse=self.lake).rows()
        self.tables = sorted({file.table for file in stored(self.lake)})

    def anew(self, folder: Path) -> Path:
        return copy_of(self.lake, folder / "lake")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    return Sound(tmp_path_factory.mktemp("sound"))


# ---- What must hold after any damage.


def answers_wrongly(sound: Sound, lake: Path) -> bool:
    """Ask; an error is an answer, another number is not."""
    try:
        return bool(frames.query(QUESTION, warehouse=lake).rows() != sound.answer)
    except (CclakeError, duckdb.Error):
        return False


def complaints(sound: Sound, lake: Path, *, is_rot: bool = False) -> Iterator[str]:
    """Tell what is wrong with how damage is met: by a query, a check, a sync and a repair.

    Of bits that rot inside a file of its right size a query need not know; a deep check must.
    """
    if answers_wrongly(sound, lake) and not is_rot:
        yield "a query gave another answer"
    if not check(Warehouse(lake), deep=True).findings:
        yield "the check says nothing"
    copied = copy_of(lake, lake.parent / "synced")
    try:
        run_sync(sound.logs, copied)
        if not is_rot and picture_or_none(copied) not in (sound.before, None):
            yield "a sync made other tables of it"
    except StateError as error:
        if error.exit_code != StateError.exit_code:
            yield f"a sync ended with {error.exit_code}"
    yield from unmended(sound, lake)


def picture_or_none(lake: Path) -> Picture | None:
    """Return what its tables say, or nothing where reading them fails loudly."""
    try:
        return picture(lake)
    except (CclakeError, duckdb.Error):
        return None


def unmended(sound: Sound, lake: Path) -> Iterator[str]:
    report = mend(lake, sound.logs)
    if report.asks:
        run_sync(sound.logs, lake)
    yield from (f"after the repair: {one}" for one in errors(lake))
    if told := differences(sound.before, picture(lake)):
        yield f"the repair gave other rows: {told}"
    if mend(lake, sound.logs).wrong:
        yield "there is something to repair again"


def tried(
    sound: Sound, folder: Path, damages: dict[str, Damage], tally: Tally
) -> dict[str, object]:
    """Do one damage after the other, each to a warehouse of its own."""
    broken: dict[str, object] = {}
    for number, (name, damage) in enumerate(damages.items()):
        lake = sound.anew(folder / str(number))
        damage(lake)
        tally.injected += 1
        if wrong := list(complaints(sound, lake, is_rot="bit of a table" in name)):
            broken[name] = wrong
    tally.violations += len(broken)
    return broken


# ---- The newest commit.


def with_content(change: Callable[[bytes], bytes], number: int = LAST) -> Damage:
    def damage(lake: Path) -> None:
        path = document(lake, number)
        path.write_bytes(change(path.read_bytes()))

    return damage


def flipped(share: float) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        at = int(len(content) * share)
        return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]

    return change


def cut(share: float) -> Callable[[bytes], bytes]:
    return lambda content: content[: int(len(content) * share)]


def twice(lake: Path) -> None:
    shutil.copyfile(document(lake, LAST), document(lake, LAST + 1))


def missing(lake: Path) -> None:
    document(lake, LAST).unlink()


def gap(lake: Path) -> None:
    document(lake, LAST - 1).unlink()


def swapped(lake: Path) -> None:
    one, other, aside = document(lake, LAST), document(lake, LAST - 1), lake / "aside"
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def all_documents(lake: Path) -> None:
    for number in range(1, LAST + 1):
        document(lake, number).write_bytes(b"")


OF_COMMITS: dict[str, Damage] = {
    "a flipped bit": with_content(flipped(0.5)),
    "cut": with_content(cut(0.7)),
    "0 bytes": with_content(cut(0)),
    "missing": missing,
    "twice": twice,
    "a gap": gap,
    "swapped": swapped,
    "all of them": all_documents,
}
MORE_OF_COMMITS: dict[str, Damage] = {
    **{f"bit at {one}": with_content(flipped(one / 20)) for one in range(20)},
    **{f"cut at {one}": with_content(cut(one / 20)) for one in range(20)},
    "an older one": with_content(flipped(0.5), 1),
}


@pytest.mark.slow
def test_damage_to_the_newest_commit_is_refused_named_and_mended(
    sound: Sound, tmp_path: Path, tally: Tally
) -> None:
    names = ("a flipped bit", "swapped")
    damages = {name: OF_COMMITS[name] for name in names}
    assert tried(sound, tmp_path, damages, tally) == {}


@pytest.mark.slow
def test_all_damage_to_the_newest_commit_is_refused_named_and_mended(
    sound: Sound, tmp_path: Path, tally: Tally
) -> None:
    assert tried(sound, tmp_path, OF_COMMITS | MORE_OF_COMMITS, tally) == {}


@pytest.mark.parametrize("step", [97, pytest.param(1, marks=pytest.mark.slow)])
def test_a_commit_is_refused_whatever_bit_of_it_is_flipped_and_wherever_it_is_cut(
    sound: Sound, tmp_path: Path, tally: Tally, step: int
) -> None:
    lake = sound.anew(tmp_path)
    path = document(lake, LAST)
    content = path.read_bytes()
    taken = []
    for at in range(0, len(content), step):
        bit = bytes([content[at] ^ (1 << at % 8)])
        for damaged in (content[:at] + bit + content[at + 1 :], content[:at]):
            path.write_bytes(damaged)
            tally.injected += 1
            try:
                Warehouse(lake).load()
                taken.append(at)
            except StateError:
                tally.ended += 1
    tally.violations += len(taken)
    assert taken == []


def test_a_newer_format_is_left_alone(sound: Sound, tmp_path: Path, tally: Tally) -> None:
    lake = sound.anew(tmp_path)
    rewritten(document(lake, LAST), format=99)
    tally.injected += 1
    for act in (lambda: run_sync(sound.logs, lake), lambda: mend(lake, sound.logs)):
        with pytest.raises(StateError, match="newer cclake"):
            act()
        tally.ended += 1
    assert not Warehouse(lake).damaged.exists()


# ---- Data files.


def of_table(table: str, change: Callable[[bytes], bytes] | None) -> Damage:
    """Change a table's first file, in its place and in the trees that show it, or remove it."""

    def damage(lake: Path) -> None:
        file = next(one for one in stored(lake) if one.table == table)
        path = Warehouse(lake).files / file.name
        if change is not None:
            path.write_bytes(change(path.read_bytes()))
            return
        for shown in (lake / "_store" / "published").glob(f"*/{file.published_path()}"):
            shown.unlink()
        path.unlink()

    return damage


def of_tables(tables: list[str]) -> dict[str, Damage]:
    changes = {"missing": None, "0 bytes": cut(0), "cut": cut(0.6)}
    bits = {f"a bit of a table at {share}": flipped(share) for share in (0.1, 0.4, 0.9)}
    return {
        f"{table}: {name}": of_table(table, change)
        for table in tables
        for name, change in {**changes, **bits}.items()
    }


def test_damage_to_a_data_file_is_loud_named_and_mended(
    sound: Sound, tmp_path: Path, tally: Tally
) -> None:
    damages = of_tables(["entries", "usage"])
    names = ("entries: a bit of a table at 0.4", "usage: 0 bytes")
    some = {name: damages[name] for name in names}
    assert tried(sound, tmp_path, some, tally) == {}


@pytest.mark.slow
def test_damage_to_any_data_file_is_loud_named_and_mended(
    sound: Sound, tmp_path: Path, tally: Tally
) -> None:
    books = [table for table in sound.tables if table != "sync_runs"]
    assert tried(sound, tmp_path, of_tables(books), tally) == {}


# ---- Copies, moves and old backups.


@pytest.mark.slow
def test_a_copy_without_hard_links_and_a_moved_warehouse_are_sound(
    sound: Sound, tmp_path: Path, tally: Tally
) -> None:
    copied = Path(shutil.copytree(sound.lake, tmp_path / "copied", symlinks=True))
    moved = copied.rename(tmp_path / "moved")
    tally.injected += 2
    assert errors(moved) == []
    assert mend(moved, sound.logs).wrong == []
    assert not run_sync(sound.logs, moved).is_committed
    assert frames.query(QUESTION, warehouse=moved).rows() == sound.answer
    assert differences(sound.before, picture(moved)) == {}


@pytest.mark.slow
def test_an_old_backup_reads_again_what_is_missing(tmp_path: Path, tally: Tally) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    log = write_log(logs, LINES)
    run_sync(logs, lake)
    backup = shutil.copytree(lake, tmp_path / "backup", symlinks=True)
    append(log, user("On", "u9", 50), assistant(uuid="a9", second=51, message_id="m9"))
    run_sync(logs, lake)
    after = picture(lake)
    shutil.rmtree(lake)
    shutil.copytree(backup, lake, symlinks=True)
    tally.injected += 1
    run_sync(logs, lake)
    assert errors(lake) == []
    assert differences(after, picture(lake)) == {}


@pytest.mark.slow
def test_an_old_backup_laid_over_a_newer_warehouse_is_refused_or_right(
    sound: Sound, tmp_path: Path, tally: Tally
) -> None:
    lake = sound.anew(tmp_path)
    old = tmp_path / "old"
    run_sync(sound.logs, old)
    shutil.copytree(old, lake, symlinks=True, dirs_exist_ok=True, ignore=lambda *_: {"current"})
    tally.injected += 1
    assert list(complaints(sound, lake)) == []
