"""Writes a made-up log tree whose every count is known."""

from etl.demo.tree import write_tree

__all__ = ["write_tree"]
