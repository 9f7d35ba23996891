"""Which model a logged name means. A version that is not in the book is never its sibling."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from etl.prices.vendors import Vendor, meant_by

# No model has a longer name; the time that expressions take may grow with its square.
_LONGEST_NAME = 1_000
_FAMILIES = "opus|sonnet|haiku|fable|mythos"
_ARN = re.compile(r"arn:aws[\w-]*:bedrock:.*/")
_VERTEX = re.compile(r"projects/.*?/locations/([\w-]+)/publishers/anthropic/models/")
_BEDROCK = re.compile(r"(?:([a-z-]+)\.)?anthropic\.")
# What follows the model: effort, window, date, and the numbers that clouds add.
_ENDINGS = re.compile(
    r"(?:\s*\([a-z]+\)|\[\w+\]|-v\d+(?::\d+\w*)*|:\d+\w*|@(?:\d{8}|latest|default)|-latest|-\d{8})$"
)
_OLD_ORDER = re.compile(rf"claude-(\d+)(?:-(\d+))?-({_FAMILIES})")


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A logged name, read: the book's key if it has one, and what else the name says."""

    name: str
    model: str | None
    is_regional: bool = False
    speed: str | None = None


def named(
    name: str,
    models: Collection[str],
    *,
    aliases: Mapping[str, str] | None = None,
    vendors: Sequence[Vendor] = (),
) -> NamedModel:
    """Read a logged name: a person's own, one of the book's models, or else a vendor's."""
    if len(name) > _LONGEST_NAME:
        return NamedModel(name, None)
    if aliases and (alias := aliases.get(exact(name))):
        return NamedModel(name, alias)
    text, is_regional = _without_route(exact(name))
    text = _without_endings(text)
    speed = "fast" if text.endswith("-fast") else None
    key = _key_of(_without_endings(text.removesuffix("-fast")))
    if key not in models and (model := meant_by(name, vendors)):
        return NamedModel(name, model)
    return NamedModel(name, key if key in models else None, is_regional, speed)


def exact(name: str) -> str:
    """Return what has to be the same for a name to be the same."""
    return name.strip().lower()


def pieces_of(name: str) -> tuple[str, str, str]:
    """Return how a model was reached, how the name spells it, and what follows."""
    text = exact(name)
    rest, _ = _without_route(text)
    spelled = _without_endings(_without_endings(rest).removesuffix("-fast"))
    return text.removesuffix(rest), spelled, rest.removeprefix(spelled)


def _without_route(text: str) -> tuple[str, bool]:
    """Cut off how the model was reached. Clouds charge more where a region was chosen."""
    if match := _VERTEX.match(text):
        return text[match.end() :], match.group(1) != "global"
    is_arn = _ARN.match(text)
    text = text[is_arn.end() :] if is_arn else text
    if match := _BEDROCK.search(text):
        return text[match.end() :], match.group(1) != "global"
    return text.rpartition("/")[2], False


def _without_endings(text: str) -> str:
    while match := _ENDINGS.search(text):
        text = text[: match.start()]
    return text


def _key_of(text: str) -> str:
    key = text.replace(".", "-").replace("_", "-")
    match = _OLD_ORDER.fullmatch(key)
    if match and int(match.group(1)) > 3:  # noqa: PLR2004 - up to Claude 3 the number came first
        major, minor, family = match.groups()
        key = f"claude-{family}-{major}" + (f"-{minor}" if minor else "")
    # Version 4.0 is called 4 in the book, as in the names of its dated releases.
    return re.sub(rf"^(claude-(?:{_FAMILIES})-\d+)-0$", r"\1", key)
