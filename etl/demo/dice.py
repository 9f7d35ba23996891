"""Draws every random choice, id and size of the made-up logs from one seeded source."""

import base64
import random
from collections.abc import Sequence
from typing import TypeVar

Choice = TypeVar("Choice")

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Dice:
    """A seeded source of choices that gives the same draws on every machine."""

    __slots__ = ("_random",)

    def __init__(self, seed: int) -> None:
        """Start the sequence of draws named by the seed."""
        # Not cryptographic: the same seed must give the same tree.
        self._random = random.Random(seed)  # noqa: S311

    def chance(self, share: float) -> bool:
        """Say yes in the given share of draws."""
        return self._random.random() < share

    def between(self, low: int, high: int) -> int:
        """Draw a whole number from low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def fraction(self) -> float:
        """Draw a number from 0 up to, not including, 1."""
        return self._random.random()

    def tail(self, low: int, high: int) -> int:
        """Draw a size that is mostly near low and now and then near high."""
        # Division alone, no logarithm: libm may differ in the last bit between machines.
        return int(low / (1.0 - self._random.random() * (1.0 - low / high)))

    def pick(self, choices: Sequence[Choice]) -> Choice:
        """Draw one of the choices."""
        return choices[int(self._random.random() * len(choices))]

    def picks(self, choices: Sequence[Choice], count: int) -> list[Choice]:
        """Draw several of the choices, repeats allowed."""
        return self._random.choices(choices, k=count)

    def weighted(self, choices: Sequence[Choice], weights: Sequence[float]) -> Choice:
        """Draw one of the choices in proportion to the weights."""
        return self._random.choices(choices, weights=weights)[0]

    def shuffled(self, choices: Sequence[Choice]) -> list[Choice]:
        """Give the choices in a new order."""
        order = list(choices)
        self._random.shuffle(order)
        return order

    def uuid(self) -> str:
        """Make a version 4 uuid."""
        digits = f"{self._random.getrandbits(128):032x}"
        variant = "89ab"[int(digits[16], 16) & 3]
        return (
            f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
        )

    def hexadecimal(self, length: int) -> str:
        """Make lower-case hexadecimal digits."""
        return f"{self._random.getrandbits(length * 4):0{length}x}"

    def base62(self, prefix: str, length: int) -> str:
        """Make an id of letters and digits after a prefix."""
        return prefix + "".join(self._random.choices(_BASE62, k=length))

    def base64(self, length_bytes: int) -> str:
        """Make base64 text that stands for so many random bytes."""
        return base64.b64encode(self._random.randbytes(length_bytes)).decode("ascii")
