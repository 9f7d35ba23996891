"""How many of a thing there are, as people say it."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number and what it counts: 1 log, 2 logs, 1,000 entries."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
