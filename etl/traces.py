"""Where words still stand in a warehouse: every byte of every file, every value in Parquet."""

from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from etl.jsontext import ascii_text, dumps

_BLOCK_BYTES = 1 << 22


def spellings_of(words: str) -> tuple[bytes, ...]:
    """Return how words may stand in a file: as they are, and as JSON escapes them."""
    forms = (words.encode(), dumps(words)[1:-1], ascii_text(words)[1:-1])
    return tuple(dict.fromkeys(forms))


def has_any(rows: pa.Table, spellings: Collection[bytes]) -> pa.Array:
    """Say of each row whether one of its texts has the words."""
    found = pa.array([False] * rows.num_rows, pa.bool_())
    for field in rows.schema:
        if pa.types.is_string(field.type) or pa.types.is_binary(field.type):
            texts = rows.column(field.name).combine_chunks().cast(pa.binary())
            for spelling in spellings:
                hits = pc.match_substring(texts, spelling)
                found = pc.or_(found, pc.fill_null(hits, fill_value=False))
    return found


def traces_of(folder: Path, spellings: Collection[bytes]) -> list[str]:
    """Return every place in a folder where the words stand: in names, bytes and packed values."""
    places = []
    for path in sorted(folder.rglob("*")):
        shown = str(path.relative_to(folder))
        if any(spelling in shown.encode(errors="surrogateescape") for spelling in spellings):
            places.append(f"the name {shown}")
        if path.is_file() and not path.is_symlink() and _has_bytes(path, spellings):
            places.append(f"{shown}: its bytes")
    return places + traces_in_values(folder, spellings)


def traces_in_values(folder: Path, spellings: Collection[bytes]) -> list[str]:
    """Return where the words stand in what Parquet files pack, beside their own names and notes."""
    return [
        f"{path.relative_to(folder)}: {column}"
        for path in sorted(folder.rglob("*.parquet"))
        for column in _columns_with(path, spellings)
    ]


def _columns_with(path: Path, spellings: Collection[bytes]) -> Iterator[str]:
    with pq.ParquetFile(path) as stored:
        names = stored.schema_arrow.names
        for group in range(stored.num_row_groups):
            for name in names:
                rows = stored.read_row_group(group, columns=[name], use_threads=False)
                if pc.any(has_any(rows, spellings)).as_py():
                    yield name


def _has_bytes(path: Path, spellings: Collection[bytes]) -> bool:
    """Look through a file block by block; what straddles two blocks is seen as well."""
    overlap = max(map(len, spellings), default=1) - 1
    kept = b""
    with path.open("rb") as stored:
        while block := stored.read(_BLOCK_BYTES):
            block = kept + block
            if any(spelling in block for spelling in spellings):
                return True
            kept = block[-overlap:] if overlap else b""
    return False
