"""Writes one log file entry by entry, with its clock and its chain of uuids."""

from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from etl.demo.dice import Dice
from etl.demo.eras import Era

Entry = dict[str, object]

_DAY_MS = 86_400_000
# A private-use letter stands for half an emoji until the line is bytes: orjson refuses the half.
LONE_SURROGATE = "\ue0ff"
_LONE_SURROGATE_BYTES = LONE_SURROGATE.encode()

_day_names: dict[int, str] = {}


def day_of(time_ms: int) -> str:
    """Name the UTC day of a time."""
    day_number = time_ms // _DAY_MS
    name = _day_names.get(day_number)
    if name is None:
        name = datetime.fromtimestamp(day_number * 86_400, UTC).strftime("%Y-%m-%d")
        _day_names[day_number] = name
    return name


def stamp(time_ms: int) -> str:
    """Write a time as the logs do, in UTC with milliseconds."""
    seconds, millisecond = divmod(time_ms % _DAY_MS, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{day_of(time_ms)}T{hour:02d}:{minute:02d}:{second:02d}.{millisecond:03d}Z"


def encode(entry: Entry) -> bytes:
    """Write an entry as one line of JSON without its newline."""
    line = orjson.dumps(entry)
    if _LONE_SURROGATE_BYTES in line:
        line = line.replace(_LONE_SURROGATE_BYTES, b"\\ud83d")
    return line


@dataclass(frozen=True, slots=True)
class Setting:
    """What every conversation line of a file repeats about its session."""

    session_id: str
    cwd: str
    branch: str
    era: Era
    agent_id: str | None = None
    session_name: str | None = None
    prompt_id: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """Where a conversation entry stands in its file."""

    line_index: int
    uuid: str


class Transcript:
    """One log file in the making."""

    __slots__ = (
        "_dice",
        "_entries",
        "chain",
        "clock_ms",
        "last_uuid",
        "lines",
        "setting",
        "size_bytes",
        "written_ms",
    )

    def __init__(self, dice: Dice, setting: Setting, start_ms: int) -> None:
        """Open an empty file at a time."""
        self._dice = dice
        self._entries: list[Entry] = []
        self.setting = setting
        self.clock_ms = start_ms
        self.written_ms = start_ms
        self.lines: list[bytes] = []
        self.chain: list[Link] = []
        self.size_bytes = 0
        self.last_uuid: str | None = None

    @property
    def entries(self) -> list[Entry]:
        """Give the conversation entries of an agent file, which its parent repeats as progress."""
        return self._entries

    def wait(self, low_ms: int, high_ms: int) -> None:
        """Let time pass."""
        self.clock_ms += self._dice.between(low_ms, high_ms)

    def put(self, entry: Entry) -> None:
        """Write an entry that has no place in the chain of uuids."""
        line = encode(entry)
        self.lines.append(line)
        self.size_bytes += len(line) + 1

    def take(self, original: "Transcript", count: int) -> None:
        """Repeat the first conversation lines of another file under this session id."""
        old = f'"sessionId":"{original.setting.session_id}"'.encode()
        new = f'"sessionId":"{self.setting.session_id}"'.encode()
        for link in original.chain[:count]:
            line = original.lines[link.line_index].replace(old, new)
            self.chain.append(Link(len(self.lines), link.uuid))
            self.lines.append(line)
            self.size_bytes += len(line) + 1
        self.last_uuid = self.chain[-1].uuid

    def say(
        self,
        head: Entry,
        tail: Entry | None = None,
        *,
        parent: str | None = None,
        root: bool = False,
        late_ms: int = 0,
    ) -> str:
        """Write a conversation entry after the last one, or after the named parent."""
        self.wait(40, 900)
        uuid = self._dice.uuid()
        parent_uuid = None if root else (parent or self.last_uuid)
        self.written_ms = self.clock_ms - late_ms
        identity: Entry = {"uuid": uuid, "timestamp": stamp(self.written_ms)}
        body = {**head, **identity, **(tail or {})}
        entry = _enveloped(self.setting, parent_uuid, body)
        self.put(entry)
        if self.setting.agent_id is not None:
            self._entries.append(entry)
        self.chain.append(Link(len(self.lines) - 1, uuid))
        self.last_uuid = uuid
        return uuid


def _enveloped(setting: Setting, parent_uuid: str | None, body: Entry) -> Entry:
    place: Entry = {
        "userType": "external",
        "cwd": setting.cwd,
        "sessionId": setting.session_id,
        "version": setting.era.version,
        "gitBranch": setting.branch,
    }
    chain: Entry = {"parentUuid": parent_uuid, "isSidechain": setting.agent_id is not None}
    agent: Entry = {"agentId": setting.agent_id} if setting.agent_id else {}
    name: Entry = {"slug": setting.session_name} if setting.session_name else {}
    if not setting.era.modern:
        return {**chain, **place, **agent, **name, **body}
    prompt: Entry = {"promptId": setting.prompt_id} if body["type"] == "user" else {}
    return {**chain, **prompt, **agent, **body, "entrypoint": "cli", **place, **name}
