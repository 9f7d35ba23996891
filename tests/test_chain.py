"""Commit documents: what is not exactly what was written is refused, never guessed."""

import hashlib
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from etl import chain
from etl.chain import State, StoredFile
from etl.errors import StateError

FILE = StoredFile("usage", "usage-0.parquet", 3, 99, "abc", "laptop", "2026-03", 1, 2, 7)


def written(folder: Path, count: int) -> list[State]:
    states = [State()]
    for number in range(1, count + 1):
        before = states[-1]
        next_one = State(number, (FILE,), parent_sha256=before.sha256, content="metrics")
        state, document = chain.written(next_one, {"run_id": f"r{number}"})
        (folder / f"{number:010d}.json").write_bytes(document)
        states.append(state)
    return states[1:]


def rewritten(path: Path, **changes: object) -> None:
    """Change a document, and give it the hash that fits."""
    document = orjson.loads(path.read_bytes()) | changes
    del document["sha256"]
    sha256 = hashlib.sha256(orjson.dumps(document)).hexdigest()
    path.write_bytes(orjson.dumps(document | {"sha256": sha256}))


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    states = written(tmp_path, 2)
    assert [chain.read(tmp_path, number) for number in (1, 2)] == states
    assert states[1].parent_sha256 == states[0].sha256 != ""


def test_every_flipped_bit_and_every_cut_is_refused(tmp_path: Path) -> None:
    written(tmp_path, 1)
    path = tmp_path / f"{1:010d}.json"
    content = path.read_bytes()
    spoiled = [content[:length] for length in range(len(content))]
    for at in range(len(content)):
        for bit in (1, 4, 64, 128):
            flipped = bytearray(content)
            flipped[at] ^= bit
            spoiled.append(bytes(flipped))
    taken = []
    for bad in spoiled:
        path.write_bytes(bad)
        try:
            taken.append((bad, chain.read(tmp_path, 1)))
        except StateError:
            continue
    assert taken == []


def test_a_commit_under_another_number_is_refused(tmp_path: Path) -> None:
    written(tmp_path, 2)
    one, two = (tmp_path / f"{number:010d}.json" for number in (1, 2))
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    for number in (1, 2):
        with pytest.raises(StateError, match="another commit"):
            chain.read(tmp_path, number)


def test_a_missing_commit_between_others_is_refused_by_its_number(tmp_path: Path) -> None:
    states = written(tmp_path, 3)
    (tmp_path / f"{2:010d}.json").unlink()
    with pytest.raises(StateError, match="commit 2 is missing"):
        chain.refuse_gaps(tmp_path, chain.numbers_in(tmp_path), states[-1])


def test_a_commit_that_follows_another_parent_is_refused(tmp_path: Path) -> None:
    written(tmp_path, 2)
    rewritten(tmp_path / f"{2:010d}.json", parent_sha256="0" * 64)
    newest = chain.read(tmp_path, 2)
    with pytest.raises(StateError, match="does not follow"):
        chain.refuse_gaps(tmp_path, [1, 2], newest)


def test_an_unbroken_chain_may_begin_anywhere(tmp_path: Path) -> None:
    states = written(tmp_path, 4)
    (tmp_path / f"{1:010d}.json").unlink()
    chain.refuse_gaps(tmp_path, chain.numbers_in(tmp_path), states[-1])
    chain.refuse_gaps(tmp_path, [4], states[-1])


def test_only_names_that_are_ours_are_commits(tmp_path: Path) -> None:
    written(tmp_path, 1)
    for name in ("2.json", "notes.json", "0000000003.json.bak", "00000000003.json"):
        (tmp_path / name).write_bytes(b"{}")
    assert chain.numbers_in(tmp_path) == [1]


def test_a_document_of_the_first_format_keeps_all_content(tmp_path: Path) -> None:
    (state,) = written(tmp_path, 1)
    path = tmp_path / f"{1:010d}.json"
    document = orjson.loads(path.read_bytes())
    for name in ("content", "redact"):
        del document[name]
    path.write_bytes(orjson.dumps(document))
    rewritten(path, format=1)
    old = chain.read(tmp_path, 1)
    assert old == replace(state, sha256=old.sha256, format=1, content="full")


def test_a_newer_format_is_refused_as_such(tmp_path: Path) -> None:
    written(tmp_path, 1)
    rewritten(tmp_path / f"{1:010d}.json", format=chain.FORMAT + 1)
    with pytest.raises(StateError, match="newer cclake"):
        chain.read(tmp_path, 1)


def test_a_format_that_damage_made_newer_is_damage(tmp_path: Path) -> None:
    written(tmp_path, 1)
    path = tmp_path / f"{1:010d}.json"
    newer = b'"format":%d' % (chain.FORMAT + 1)
    path.write_bytes(path.read_bytes().replace(b'"format":%d' % chain.FORMAT, newer))
    with pytest.raises(StateError, match="is damaged"):
        chain.read(tmp_path, 1)
