"""Where words stand: in names, in bytes, packed in Parquet, escaped or not."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from etl import traces
from etl.traces import spellings_of, traces_of

WORDS = 'größer "x"'


@pytest.mark.parametrize("text", [WORDS, 'größer \\"x\\"', 'gr\\u00f6\\u00dfer \\"x\\"'])
def test_words_are_found_in_packed_values_however_they_are_spelled(
    tmp_path: Path, text: str
) -> None:
    rows = pa.table({"id": [1, 2], "text": ["a", f"it is {text}!"]})
    pq.write_table(rows, tmp_path / "t.parquet", compression="zstd")
    assert "t.parquet: text" in traces_of(tmp_path, spellings_of(WORDS))
    assert traces.has_any(rows, spellings_of(WORDS)).to_pylist() == [False, True]
    assert traces_of(tmp_path, spellings_of("nowhere")) == []


def test_words_are_found_across_the_edge_of_two_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "_BLOCK_BYTES", 8)
    for lead in range(20):
        (tmp_path / "log").write_bytes(b"." * lead + b"needle" + b"." * 9)
        assert traces_of(tmp_path, (b"needle",)) == ["log: its bytes"]
        assert traces_of(tmp_path, (b"needles",)) == []


def test_words_are_found_in_names(tmp_path: Path) -> None:
    (tmp_path / "a-needle").mkdir()
    assert traces_of(tmp_path, (b"needle",)) == ["the name a-needle"]
