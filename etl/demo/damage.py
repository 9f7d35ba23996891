"""Lays out the lines of a log file with the damage real files show."""

from collections.abc import Sequence
from dataclasses import dataclass

from etl.demo.dice import Dice
from etl.demo.truth import WrittenFile

_SCALARS = (b"null", b"17", b'"resumed"', b'[{"type":"user"}]')
_MOST_FAULTS = 2


@dataclass(frozen=True, slots=True)
class Faults:
    """How much of each kind of damage a file gets."""

    halved_lines: int = 0
    scalar_lines: int = 0
    glued_repeated: int = 0
    glued_once: int = 0
    blank_lines: int = 0
    torn_tail: bool = False


EVERY_FAULT = (
    Faults(torn_tail=True),
    Faults(halved_lines=1),
    Faults(glued_repeated=1),
    Faults(blank_lines=2),
    Faults(glued_once=1),
    Faults(scalar_lines=2),
)


def draw_faults(dice: Dice) -> Faults:
    """Draw the damage of one file: none, most of the time."""
    return Faults(
        halved_lines=dice.between(1, _MOST_FAULTS) if dice.chance(0.006) else 0,
        scalar_lines=1 if dice.chance(0.003) else 0,
        glued_repeated=1 if dice.chance(0.004) else 0,
        glued_once=1 if dice.chance(0.001) else 0,
        blank_lines=dice.between(1, _MOST_FAULTS) if dice.chance(0.012) else 0,
        torn_tail=dice.chance(0.012),
    )


def lay_out(lines: Sequence[bytes], faults: Faults, dice: Dice) -> WrittenFile:
    """Put the lines of a file together, damaged as asked, and count what they hold."""
    layout = _Layout(list(lines), dice)
    layout.glue(faults.glued_repeated, repeated=True)
    layout.glue(faults.glued_once, repeated=False)
    for _ in range(faults.halved_lines):
        layout.reject(layout.half_a_line())
    for _ in range(faults.scalar_lines):
        layout.reject(dice.pick(_SCALARS))
    for _ in range(faults.blank_lines):
        layout.insert(b"")
    tail = layout.half_a_line() if faults.torn_tail else b""
    body = b"".join(line + b"\n" for line in layout.lines) + tail
    return WrittenFile(
        body,
        lines=len(layout.lines) - faults.blank_lines,
        blank_lines=faults.blank_lines,
        entries=layout.entries,
        rejects=layout.rejects,
        pending=bool(tail),
    )


class _Layout:
    """The lines of one file while damage is done to them."""

    __slots__ = ("_dice", "_whole", "entries", "lines", "rejects")

    def __init__(self, lines: list[bytes], dice: Dice) -> None:
        self._dice = dice
        self._whole = tuple(lines)
        self.lines = lines
        self.entries = len(lines)
        self.rejects = 0

    def half_a_line(self) -> bytes:
        whole = self._dice.pick(self._whole)
        return whole[: max(2, len(whole) // 2)]

    def insert(self, line: bytes) -> None:
        self.lines.insert(self._dice.between(1, len(self.lines) - 1), line)

    def reject(self, line: bytes) -> None:
        self.insert(line)
        self.rejects += 1

    def glue(self, count: int, *, repeated: bool) -> None:
        for _ in range(count):
            at = self._dice.between(1, len(self.lines) - 2)
            first, second = self.lines[at : at + 2]
            # A resume often writes the first object once more after the glued line.
            self.lines[at : at + 2] = [first + second, first] if repeated else [first + second]
            self.entries += repeated
