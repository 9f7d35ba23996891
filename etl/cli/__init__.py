"""The commands: parse options, call one function, show the result."""

from etl.cli import asking, keeping, pricing, reading, trusting
from etl.cli.base import main

__all__ = ["asking", "keeping", "main", "pricing", "reading", "trusting"]
