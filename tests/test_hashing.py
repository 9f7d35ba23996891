"""Hashes that must stay what they are, for ledgers keep them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etl.hashing import file_id_of, hash_of, line_hash, running_hash


@given(st.lists(st.binary(max_size=20), max_size=6))
def test_running_hash_does_not_depend_on_how_bytes_come(pieces: list[bytes]) -> None:
    running = running_hash()
    for piece in pieces:
        running.update(piece)
    assert running.hexdigest() == hash_of(b"".join(pieces))


def test_hash_of_nothing_is_the_published_one() -> None:
    assert hash_of(b"") == "99aa06d3014798d86001c324468d497f"
    assert line_hash(b"") == 0x2D06800538D394C2


@given(st.binary(max_size=40))
def test_line_hash_fits_a_signed_column(line: bytes) -> None:
    assert -(1 << 63) <= line_hash(line) < 1 << 63


def test_line_hashes_take_both_signs() -> None:
    hashes = [line_hash(str(number).encode()) for number in range(50)]
    assert min(hashes) < 0 < max(hashes)
    assert len(set(hashes)) == 50


@pytest.mark.parametrize(
    "other", [("desk", "p/a.jsonl", 0), ("laptop", "p/b.jsonl", 0), ("laptop", "p/a.jsonl", 1)]
)
def test_file_id_tells_source_path_and_counter_apart(other: tuple[str, str, int]) -> None:
    assert file_id_of("laptop", "p/a.jsonl", 0) == file_id_of("laptop", "p/a.jsonl", 0)
    assert file_id_of("laptop", "p/a.jsonl", 0) != file_id_of(*other)


def test_file_id_does_not_run_source_and_path_together() -> None:
    assert file_id_of("a", "bc", 0) != file_id_of("ab", "c", 0)
