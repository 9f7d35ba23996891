"""Which model of another vendor a logged name means. In doubt none: a wrong price is worse."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# They pass names and list prices of vendors on: openrouter/z-ai/glm-4.6.
_ROUTERS = frozenset({"openrouter"})
# What a client adds to a name: effort, window.
_ENDING = re.compile(r"(?:\s*\([a-z]+\)|\[\w+\])$")
_DAY = re.compile(r"-(20\d\d)-?(\d\d)-?(\d\d)$")
# A free variant must not get the price of the model it is a variant of.
_FREE = re.compile(r"\bfree\b")


@dataclass(frozen=True, slots=True)
class Vendor:
    """One vendor: what it is called before a slash, and the names of its models, in order.

    A family says how all names of its models look; that keeps variants such as `:nitro` out.
    """

    provider: str
    called: frozenset[str]
    family: str
    takes_bare_names: bool
    patterns: tuple[tuple[str, str], ...]

    def model_of(self, name: str) -> str | None:
        """Return the first model whose pattern the whole name matches."""
        if not re.fullmatch(self.family, name):
            return None
        matching = (model for pattern, model in self.patterns if re.fullmatch(pattern, name))
        return next(matching, None)


def meant_by(name: str, vendors: Sequence[Vendor]) -> str | None:
    """Return the model that a logged name means, if it is one vendor's alone and no Claude."""
    text = name.strip().lower()
    if "claude" in text or _FREE.search(text):
        return None
    *route, bare = _without_endings(text).split("/")
    asked = _asked(route[1:] if route and route[0] in _ROUTERS else route, vendors)
    for spelling in _spellings(bare):
        found = [model for vendor in asked if (model := vendor.model_of(spelling))]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _asked(route: Sequence[str], vendors: Sequence[Vendor]) -> list[Vendor]:
    """Return whose models to look at; an unknown route may have prices of its own."""
    if not route:
        return [vendor for vendor in vendors if vendor.takes_bare_names]
    return [vendor for vendor in vendors if len(route) == 1 and route[0] in vendor.called]


def _without_endings(text: str) -> str:
    while match := _ENDING.search(text):
        text = text[: match.start()]
    return text


def _spellings(name: str) -> Iterator[str]:
    """Give a name as it is, and if it ends with a day, with dashes in it and without it."""
    yield name
    if match := _DAY.search(name):
        yield f"{name[: match.start()]}-{'-'.join(match.groups())}"
        yield name[: match.start()]
