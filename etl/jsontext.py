"""JSON values as compact text, also where orjson gives up."""

import json

import orjson


def dumps(value: object) -> bytes:
    """Return compact JSON text for any value that JSON or Python's reader can produce."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        # Integers beyond 64 bit and nesting beyond 254 are more than orjson writes.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
