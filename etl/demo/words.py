"""Makes up prose, code and command output from a vocabulary of several thousand words."""

from etl.demo.dice import Dice
from etl.demo.phrases import (
    CODE_LINES,
    COMMON_WORDS,
    ENDINGS,
    EXTENSIONS,
    FOLDERS,
    FOREIGN_SENTENCES,
    MIDDLES,
    ONSETS,
    OUTPUT_LINES,
)

_RARE_WORDS = 3800
_IDENTIFIERS = 5200
_FOREIGN_SHARE = 0.03


class Words:
    """A vocabulary and the texts made from it."""

    __slots__ = ("_dice", "_identifiers", "_stock", "_values")

    def __init__(self, dice: Dice) -> None:
        """Make up the vocabulary."""
        self._dice = dice
        rare = [self._new_word() for _ in range(_RARE_WORDS)]
        # Common words stand many times in the stock, so that they come up as often as in prose.
        self._stock = [*COMMON_WORDS * 12, *rare]
        self._identifiers = [self._new_identifier(rare) for _ in range(_IDENTIFIERS)]
        self._values = [
            *self._identifiers[:1500],
            *(str(dice.tail(12, 90_000)) for _ in range(700)),
        ]

    def _new_word(self) -> str:
        dice = self._dice
        parts = [dice.pick(ONSETS) + dice.pick(MIDDLES) for _ in range(dice.between(1, 2))]
        return "".join(parts) + dice.pick(ENDINGS)

    def _new_identifier(self, rare: list[str]) -> str:
        dice = self._dice
        first = dice.pick(COMMON_WORDS) if dice.chance(0.6) else dice.pick(rare)
        second = dice.pick(rare) if dice.chance(0.6) else dice.pick(COMMON_WORDS)
        if dice.chance(0.45):
            return f"{first}_{second}"
        if dice.chance(0.6):
            return first + second.capitalize()
        return first.capitalize() + second.capitalize()

    def identifier(self) -> str:
        """Give one name as it stands in code."""
        return self._dice.pick(self._identifiers)

    def phrase(self, count: int) -> str:
        """Give a few words in lower case."""
        return " ".join(self._dice.picks(self._stock, count))

    def title(self) -> str:
        """Give a short title."""
        return self.phrase(self._dice.between(3, 7)).capitalize()

    def sentence(self) -> str:
        """Give one sentence, now and then in another script."""
        dice = self._dice
        if dice.chance(_FOREIGN_SHARE):
            return dice.pick(FOREIGN_SENTENCES)
        words = dice.picks(self._stock, dice.between(5, 18))
        if dice.chance(0.25):
            words[-1] = f"`{self.identifier()}`"
        return " ".join(words).capitalize() + dice.pick(".....?!:")

    def prose(self, size_bytes: int) -> str:
        """Give paragraphs of about so many bytes."""
        sentences: list[str] = []
        length = 0
        while length < size_bytes:
            sentence = self.sentence()
            length += len(sentence) + 1
            sentences.append(sentence)
            if self._dice.chance(0.2):
                sentences.append("\n\n" if self._dice.chance(0.5) else "\n- ")
        return " ".join(sentences).strip()

    def code(self, size_bytes: int) -> str:
        """Give lines of code of about so many bytes."""
        return self._lines(CODE_LINES, size_bytes)

    def output(self, size_bytes: int) -> str:
        """Give lines a command could print of about so many bytes."""
        return self._lines(OUTPUT_LINES, size_bytes)

    def _lines(self, patterns: tuple[str, ...], size_bytes: int) -> str:
        count = max(1, size_bytes // 48)
        chosen = self._dice.picks(patterns, count)
        # A file speaks of few things and names them again and again.
        local = self._dice.picks(self._identifiers, 6 + count // 6)
        names = iter(self._dice.picks(local, count * 2))
        values = self._dice.picks(self._values, count)
        filled = zip(chosen, names, names, values, strict=False)
        text = "\n".join(pattern % (one, two, value) for pattern, one, two, value in filled)
        return text[:size_bytes]

    def path(self) -> str:
        """Give the path of a file inside a project."""
        dice = self._dice
        folder = "/".join(dice.pick(FOLDERS) for _ in range(dice.between(1, 3)))
        return f"{folder}/{self.identifier().lower()}.{dice.pick(EXTENSIONS)}"


def numbered(text: str, first_line: int) -> str:
    """Put line numbers before the lines as a reading tool shows them."""
    lines = text.split("\n")
    return "\n".join(f"{number:6d}→{line}" for number, line in enumerate(lines, first_line))
