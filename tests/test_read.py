"""Whole lines from an offset, and the tail that waits."""

import errno
import os
from pathlib import Path

import pytest

from etl.hashing import hash_of
from etl.read import (
    BLOCK_BYTES,
    KEPT_TAIL_BYTES,
    LONGEST_LINE_BYTES,
    Chunk,
    Identity,
    LogReader,
    TornReadError,
    read_small_file,
)

LOG = "one\n\ntwo \u2028 and\r\n\rthree é\x0b\x0c\x85\nfour".encode()


def read(path: Path, offset: int = 0, longest_line: int = 1 << 28) -> tuple[LogReader, list[Chunk]]:
    """Read what is new behind the offset, and let the file go."""
    reader = LogReader(str(path), longest_line=longest_line)
    try:
        if offset:
            assert reader.prefix_matches(offset, hash_of(path.read_bytes()[:offset]))
        return reader, list(reader.chunks())
    finally:
        reader.close()


@pytest.mark.parametrize("cut", range(len(LOG) + 1))
def test_lines_cut_at_any_byte_are_read_once_and_whole(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LOG[:cut])
    first, before = read(path)
    assert first.offset == LOG.rfind(b"\n", 0, cut) + 1
    assert first.pending == LOG[first.offset : cut]
    path.write_bytes(LOG)
    second, after = read(path, first.offset)
    whole = LOG[: LOG.rfind(b"\n") + 1]
    assert b"".join(chunk.lines for chunk in before + after) == whole
    assert (second.offset, second.pending) == (len(whole), b"four")


@pytest.mark.parametrize("mark", ["\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_the_newline_byte_ends_a_line(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(f"a{mark}b".encode())
    reader, chunks = read(path)
    assert chunks == []
    assert reader.pending == f"a{mark}b".encode()


def test_torn_last_line_waits_for_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b"')
    reader, chunks = read(path)
    assert chunks == [Chunk(0, b'{"a":1}\n')]
    assert (reader.offset, reader.pending) == (8, b'{"b"')


def test_empty_file_has_neither_lines_nor_tail(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    reader, chunks = read(path)
    assert (chunks, reader.pending, reader.offset) == ([], b"", 0)


def test_lines_longer_than_a_block_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    long = b"x" * (2 * BLOCK_BYTES + 5)
    path.write_bytes(b"a\n" + long + b"\nb\n")
    reader, chunks = read(path)
    assert chunks == [Chunk(0, b"a\n"), Chunk(2, long), Chunk(len(long) + 3, b"b\n")]
    assert reader.prefix_hash() == hash_of(path.read_bytes())


def test_line_longer_than_the_longest_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    long = b"x" * (BLOCK_BYTES + 100)
    path.write_bytes(b"a\n" + long + b"\nb\nc")
    reader, chunks = read(path, longest_line=1000)
    assert chunks == [
        Chunk(0, b"a\n"),
        Chunk(2, b"", too_long=True),
        Chunk(len(long) + 3, b"b\n"),
    ]
    assert reader.pending == b"c"
    assert reader.prefix_hash() == hash_of(path.read_bytes()[:-1])


@pytest.mark.parametrize("before", range(8))
@pytest.mark.parametrize("length", [7, 8, 9, 16, 17])
def test_whether_a_line_is_too_long_depends_on_its_length_alone(
    tmp_path: Path, before: int, length: int
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n" * before + b"x" * length + b"\nb\n")
    reader, chunks = read(path, longest_line=8)
    passed_over = [chunk for chunk in chunks if chunk.too_long]
    assert passed_over == ([] if length <= 8 else [Chunk(before, b"", too_long=True)])
    kept = b"".join(chunk.lines + b"\n" * (chunk.lines[-1:] != b"\n") for chunk in chunks)
    assert kept == b"\n" * before + (b"x" * length if length <= 8 else b"") + b"\nb\n"
    assert reader.prefix_hash() == hash_of(path.read_bytes())


def test_a_tail_that_is_too_long_to_be_kept_waits_unread(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for length, kept in ((KEPT_TAIL_BYTES, KEPT_TAIL_BYTES), (KEPT_TAIL_BYTES + 1, 0)):
        path.write_bytes(b"a\n" + b"x" * length)
        reader, chunks = read(path)
        assert chunks == [Chunk(0, b"a\n")]
        assert (reader.offset, reader.waiting_bytes()) == (2, length)
        assert len(reader.pending) == kept
        assert reader.prefix_hash() == hash_of(b"a\n")


def test_a_tail_beyond_the_longest_line_waits_and_is_passed_over_once_it_ends(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.jsonl"
    long = b"x" * (KEPT_TAIL_BYTES + 1)
    path.write_bytes(b"a\n" + long)
    reader, _ = read(path, longest_line=1000)
    assert reader.pending == b""
    path.write_bytes(b"a\n" + long + b"\nb\n")
    again, chunks = read(path, reader.offset, longest_line=1000)
    assert chunks == [Chunk(2, b"", too_long=True), Chunk(len(long) + 3, b"b\n")]
    assert again.prefix_hash() == hash_of(path.read_bytes())


def test_a_long_line_that_moves_between_two_looks_is_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * (BLOCK_BYTES + 9) + b"\n" + b"x" * 9)
    real = os.pread

    def moving(descriptor: int, length: int, offset: int) -> bytes:
        block = real(descriptor, length, offset)
        if b"\n" in block and length > 1:
            path.write_bytes(b"x" * (BLOCK_BYTES + 18) + b"\n")
        return block

    monkeypatch.setattr(os, "pread", moving)
    with pytest.raises(TornReadError, match=r"a\.jsonl"):
        read(path)


def test_file_that_shrinks_while_read_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntwo\n")
    reader = LogReader(str(path))
    os.truncate(path, 4)
    with pytest.raises(TornReadError, match=r"a\.jsonl"):
        list(reader.chunks())
    reader.close()


def test_file_that_shrinks_after_its_bytes_were_read_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\ntwo\n")
    reader = LogReader(str(path))
    chunks = reader.chunks()
    assert next(chunks).lines == b"one\ntwo\n"
    os.truncate(path, 4)
    with pytest.raises(TornReadError):
        list(chunks)
    reader.close()


def test_lines_added_while_it_is_read_wait_for_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    reader = LogReader(str(path))
    path.write_bytes(b"one\ntwo\n")
    assert [chunk.lines for chunk in reader.chunks()] == [b"one\n"]
    reader.close()


@pytest.mark.parametrize(
    ("now", "is_same"),
    [(b"one\ntwo\n", True), (b"one\n", True), (b"One\ntwo\n", False), (b"on", False)],
)
def test_prefix_is_known_by_its_bytes(tmp_path: Path, now: bytes, *, is_same: bool) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(now)
    reader = LogReader(str(path))
    assert reader.prefix_matches(4, hash_of(b"one\n")) is is_same
    reader.start_over()
    assert b"".join(chunk.lines for chunk in reader.chunks()) == now[: now.rfind(b"\n") + 1]
    assert reader.prefix_hash() == hash_of(now[: now.rfind(b"\n") + 1])
    reader.close()


def test_symbolic_link_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"one\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match="link"):
        LogReader(str(tmp_path / "link"))


def test_small_file_is_read_whole_and_a_head_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.meta.json"
    path.write_bytes(b"one\ntwo")
    assert read_small_file(str(path)) == b"one\ntwo"
    reader = LogReader(str(path))
    assert (reader.head(3), reader.head(99), reader.offset) == (b"one", b"one\ntwo", 0)
    reader.close()


# ---- What may be opened, and what stands in its place.


def identity_of(path: Path) -> Identity:
    seen = path.stat()
    return seen.st_dev, seen.st_ino


def test_only_the_file_that_was_found_is_read(tmp_path: Path) -> None:
    path, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    path.write_bytes(b"one\n")
    other.write_bytes(b"two\n")
    found = identity_of(path)
    assert read_small_file(str(path), found) == b"one\n"
    other.rename(path)
    with pytest.raises(TornReadError):
        LogReader(str(path), found)


def test_the_numbers_of_a_file_may_be_negative_as_the_ledger_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    device, inode = identity_of(path)
    assert read_small_file(str(path), (device - (1 << 64), inode - (1 << 64))) == b"one\n"


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.jsonl"
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    before = set(Path("/dev/fd").iterdir())
    with pytest.raises(OSError, match="not a regular file"):
        LogReader(str(path))
    assert set(Path("/dev/fd").iterdir()) == before


def test_a_file_that_is_replaced_while_it_is_read_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    reader = LogReader(str(path))
    (tmp_path / "new").write_bytes(b"two\n")
    (tmp_path / "new").rename(path)
    with pytest.raises(TornReadError):
        list(reader.chunks())
    with pytest.raises(TornReadError):
        reader.whole()
    reader.close()


@pytest.mark.parametrize("happens", ["rename", "unlink"])
def test_an_open_file_that_moves_or_goes_is_read_to_its_end(tmp_path: Path, happens: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    reader = LogReader(str(path))
    path.rename(tmp_path / "b.jsonl") if happens == "rename" else path.unlink()
    assert [chunk.lines for chunk in reader.chunks()] == [b"one\n"]
    reader.close()


@pytest.mark.skipif(not hasattr(os, "O_NOATIME"), reason="only Linux has O_NOATIME")
def test_a_file_is_read_without_a_trace_where_that_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")
    os.utime(path, ns=(1, 2))
    assert read_small_file(str(path)) == b"one\n"
    assert path.stat().st_atime_ns == 1

    real, tried = os.open, []

    def of_another(name: str, flags: int) -> int:
        tried.append(bool(flags & os.O_NOATIME))
        if flags & os.O_NOATIME:
            raise PermissionError(errno.EPERM, "Operation not permitted", name)
        return real(name, flags)

    monkeypatch.setattr(os, "open", of_another)
    assert read_small_file(str(path)) == b"one\n"
    assert tried == [True, False]


def test_a_small_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.meta.json"
    path.touch()
    os.truncate(path, LONGEST_LINE_BYTES + 1)
    with pytest.raises(OSError, match="File too large"):
        read_small_file(str(path))
