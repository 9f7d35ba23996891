"""Keeps the made-up source files of one project, which sessions read and change."""

from dataclasses import dataclass

from etl.demo.dice import Dice
from etl.demo.words import Words

_SMALLEST_FILE_BYTES = 3_600
_LARGEST_FILE_BYTES = 200_000
_FILES = 60


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One made-up source file."""

    path: str
    text: str


def slug_of(cwd: str) -> str:
    """Name the log folder of a working directory: a dash for every other UTF-16 unit."""
    return "".join(
        letter
        if letter.isascii() and letter.isalnum()
        else "-" * (len(letter.encode("utf-16-le")) // 2)
        for letter in cwd
    )


class Project:
    """A working directory and its files, made up when first touched."""

    __slots__ = ("_texts", "cwd")

    def __init__(self, cwd: str) -> None:
        """Name the working directory."""
        self.cwd = cwd
        self._texts: dict[str, str] = {}

    def any_file(self, dice: Dice, words: Words, largest_bytes: int) -> SourceFile:
        """Give a file, often one seen before."""
        if self._texts and not dice.chance(0.3 * (1.0 - len(self._texts) / _FILES)):
            path = dice.pick(tuple(self._texts))
            return SourceFile(path, self._texts[path])
        # A small tree gets small files, so that no single line outgrows its session.
        size_bytes = min(dice.tail(_SMALLEST_FILE_BYTES, _LARGEST_FILE_BYTES), 3 * largest_bytes)
        file = SourceFile(words.path(), words.code(size_bytes))
        self._texts[file.path] = file.text
        return file

    def replace(self, path: str, old: str, new: str) -> None:
        """Change a part of a file."""
        self._texts[path] = self._texts[path].replace(old, new, 1)
