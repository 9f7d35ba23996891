"""Look for words in every byte of a warehouse, and in every value that its Parquet files pack."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def places_of(warehouse: Path, words: str) -> list[str]:
    """Return where the words stand: the files whose bytes have them, and the columns that do."""
    needles = {words.encode(), json.dumps(words)[1:-1].encode()}
    found = []
    for path in sorted(path for path in warehouse.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if any(needle in content for needle in needles):
            found.append(f"{path.relative_to(warehouse)}: its bytes")
        if path.suffix == ".parquet":
            found += [
                f"{path.relative_to(warehouse)}: {column}" for column in _columns(path, needles)
            ]
    names = [path for path in warehouse.rglob("*") if words in path.name]
    return found + [f"{path.relative_to(warehouse)}: its name" for path in names]


def _columns(path: Path, needles: set[bytes]) -> Iterator[str]:
    rows = pq.ParquetFile(path).read()
    for name in rows.column_names:
        if not pa.types.is_nested(rows.schema.field(name).type):
            values = rows.column(name).cast(pa.binary()) if _is_text(rows, name) else None
            if values is not None and any(
                needle in value for value in values.to_pylist() if value for needle in needles
            ):
                yield name


def _is_text(rows: pa.Table, name: str) -> bool:
    kind = rows.schema.field(name).type
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))
