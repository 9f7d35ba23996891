"""Makes up the token counts of responses as the versions write them."""

from dataclasses import dataclass, replace

from etl.demo.dice import Dice
from etl.demo.eras import Era, Finality
from etl.demo.transcript import Entry
from etl.demo.truth import Tokens

_LARGEST_PLACEHOLDER = 10
_RESPONSES_PER_ODDITY = 53
_NO_SPLIT_EVERY = 8
_FLAT_ZERO_AT = 5
_SMALL_SPLIT_AT = 6


@dataclass(frozen=True, slots=True)
class Usage:
    """The token counts of one line."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    split_5m_tokens: int
    split_1h_tokens: int
    has_split: bool

    def charged(self) -> Tokens:
        """Give the tokens charged: the larger of the flat and the split cache writes."""
        written = max(self.cache_write_tokens, self.split_5m_tokens + self.split_1h_tokens)
        return Tokens(
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            written - self.split_1h_tokens,
            self.split_1h_tokens,
        )

    def written(self, era: Era) -> Entry:
        """Give the counts as the version writes them."""
        entry: Entry = {
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.cache_write_tokens,
            "cache_read_input_tokens": self.cache_read_tokens,
        }
        if self.has_split:
            entry["cache_creation"] = self._split()
        entry["output_tokens"] = self.output_tokens
        entry["service_tier"] = "standard"
        if era.modern:
            entry.update(self._modern_extras())
        return entry

    def _split(self) -> Entry:
        return {
            "ephemeral_5m_input_tokens": self.split_5m_tokens,
            "ephemeral_1h_input_tokens": self.split_1h_tokens,
        }

    def _modern_extras(self) -> Entry:
        single: Entry = {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_read_input_tokens": self.cache_read_tokens,
            "cache_creation_input_tokens": self.cache_write_tokens,
            "cache_creation": self._split(),
            "type": "message",
        }
        return {
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "output_tokens_details": {"thinking_tokens": self.output_tokens // 3},
            "inference_geo": "not_available",
            "iterations": [single],
            "speed": "standard",
        }


@dataclass(frozen=True, slots=True)
class ContextSize:
    """How many tokens a response reads, and how many of them are new."""

    context_tokens: int
    added_tokens: int


ZERO_USAGE = Usage(0, 0, 0, 0, 0, 0, has_split=True)


def whole_usage(dice: Dice, era: Era, size: ContextSize, response_number: int) -> Usage:
    """Make up the true counts of a response over a context of so many tokens."""
    added_tokens = size.added_tokens
    # By number, not by chance: even a small tree then has each odd form of the cache counts.
    oddity = response_number % _RESPONSES_PER_ODDITY
    read = max(0, size.context_tokens - added_tokens)
    usage = Usage(
        dice.between(1, 12), dice.tail(90, 9000), read, added_tokens, 0, 0, has_split=True
    )
    if not era.nested_agents and oddity % _NO_SPLIT_EVERY == 1:
        return replace(usage, has_split=False)
    one_hour = era.modern or (era.nested_agents and dice.chance(0.3))
    usage = replace(
        usage,
        split_5m_tokens=0 if one_hour else added_tokens,
        split_1h_tokens=added_tokens if one_hour else 0,
    )
    return _odd_split(usage, oddity)


def _odd_split(usage: Usage, oddity: int) -> Usage:
    if oddity == _FLAT_ZERO_AT:
        return replace(usage, cache_write_tokens=0)
    if oddity == _SMALL_SPLIT_AT:
        return replace(
            usage,
            split_5m_tokens=usage.split_5m_tokens // 2,
            split_1h_tokens=usage.split_1h_tokens // 3,
        )
    return usage


@dataclass(frozen=True, slots=True)
class UsagePlan:
    """The counts and the stop reasons over the lines of one response."""

    usages: tuple[Usage, ...]
    stop_reasons: tuple[str | None, ...]


def plan_usage(
    dice: Dice, whole: Usage, finality: Finality, line_count: int, stop_reason: str
) -> UsagePlan:
    """Spread a response over its lines: the last line always has the largest output count."""
    if dice.chance(finality.stop_on_every_line):
        return UsagePlan((whole,) * line_count, (stop_reason,) * line_count)
    early = replace(whole, output_tokens=dice.between(1, _LARGEST_PLACEHOLDER - 2))
    nones: tuple[None, ...] = (None,) * line_count
    if dice.chance(finality.placeholder_output):
        return UsagePlan((early,) * line_count, nones)
    if dice.chance(0.004):
        early = replace(ZERO_USAGE, has_split=whole.has_split)
    usages = ((early,) * (line_count - 1), (whole,))
    stopped = dice.chance(finality.stop_on_last_line / (1.0 - finality.placeholder_output))
    last = stop_reason if stopped else None
    return UsagePlan((*usages[0], *usages[1]), (*nones[1:], last))
