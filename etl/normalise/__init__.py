"""A line's object becomes rows: pure functions of its bytes, one module a subject."""
