"""What tokens cost: the dated cards of the price book, and which model a logged name means."""

from functools import cache
from importlib.resources import files

from etl.prices.book import Book, book_of
from etl.prices.others import others_of, with_others


@cache
def shipped() -> Book:
    """Return the price book that comes with the package: Claude, and the other vendors' models."""
    claude = book_of(_text("claude.toml"), "claude.toml")
    return with_others(claude, others_of(_text("others.toml"), "others.toml"))


def _text(name: str) -> str:
    return files("etl.prices").joinpath(name).read_text("utf-8")
