"""What tokens cost: the dated cards of the price book, and which model a logged name means."""

from functools import cache
from importlib.resources import files

from etl.prices.book import Book, book_of


@cache
def shipped() -> Book:
    """Return the price book that comes with the package."""
    return book_of(files("etl.prices").joinpath("claude.toml").read_text("utf-8"), "claude.toml")
