"""Knows what each version of the logs writes and how."""

from dataclasses import dataclass

FIRST_NESTED_AGENTS = (2, 1, 2)
FIRST_MODERN = (2, 1, 101)


@dataclass(frozen=True, slots=True)
class Finality:
    """The shares of responses whose stop reason and output count stand in the log."""

    stop_on_last_line: float
    stop_on_every_line: float
    placeholder_output: float


@dataclass(frozen=True, slots=True)
class Era:
    """One version of the program and its writing habits."""

    version: str
    number: tuple[int, int, int]
    weight: float
    main: Finality
    agent: Finality
    agent_id_digits: int
    agent_id_prefix: str

    @property
    def modern(self) -> bool:
        """Say whether attachments, titles and modes are written."""
        return self.number >= FIRST_MODERN

    @property
    def nested_agents(self) -> bool:
        """Say whether agent files stand in the folder of their session."""
        return self.number >= FIRST_NESTED_AGENTS

    @property
    def progress(self) -> bool:
        """Say whether progress lines are written."""
        return self.nested_agents and not self.modern

    @property
    def agent_tool(self) -> str:
        """Name the tool that starts an agent."""
        return "Agent" if self.modern else "Task"


def _era(
    version: str, weight: float, main: Finality, agent: Finality, agent_id: tuple[str, int]
) -> Era:
    major, minor, patch = (int(part) for part in version.split("."))
    prefix, digits = agent_id
    return Era(version, (major, minor, patch), weight, main, agent, digits, prefix)


_ALWAYS = Finality(1.0, 1.0, 0.0)
_RARE = Finality(0.005, 0.005, 0.52)
_SELDOM = Finality(0.051, 0.009, 0.59)
_SELDOM_AGENT = Finality(0.034, 0.018, 0.57)
_NEVER = Finality(0.0, 0.0, 0.70)
_NEVER_AGENT = Finality(0.0, 0.0, 0.74)
_MODERN_AGENT = Finality(0.83, 0.16, 0.15)

# The shares follow a count over public logs; older versions come first, as in time.
ERAS: tuple[Era, ...] = (
    _era("2.0.36", 0.06, _RARE, _RARE, ("", 8)),
    _era("2.0.42", 0.10, _ALWAYS, _ALWAYS, ("", 8)),
    _era("2.0.50", 0.14, _SELDOM, _SELDOM_AGENT, ("", 7)),
    _era("2.0.76", 0.18, _SELDOM, _SELDOM_AGENT, ("a", 6)),
    _era("2.1.2", 0.14, _SELDOM, _SELDOM_AGENT, ("a", 6)),
    _era("2.1.9", 0.12, _NEVER, _NEVER_AGENT, ("a", 6)),
    _era("2.1.29", 0.14, _NEVER, _NEVER_AGENT, ("a", 6)),
    _era("2.1.101", 0.05, _ALWAYS, _MODERN_AGENT, ("a", 16)),
    _era("2.1.119", 0.04, _ALWAYS, _MODERN_AGENT, ("a", 16)),
    _era("2.1.170", 0.03, _ALWAYS, _MODERN_AGENT, ("a", 16)),
)


def era_at(position: float) -> Era:
    """Give the version in use at a position from 0 to 1 in the whole time span."""
    reached = 0.0
    for era in ERAS:
        reached += era.weight
        if position < reached:
            return era
    return ERAS[-1]


def next_era(era: Era) -> Era:
    """Give the version that follows, or the same one at the end."""
    return ERAS[min(ERAS.index(era) + 1, len(ERAS) - 1)]
