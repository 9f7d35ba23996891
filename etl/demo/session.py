"""Writes the moments every session is made of: prompts, work, ends of turns."""

from dataclasses import dataclass, replace

from etl.demo.agents import AgentFile, agent_task, finished, run_agent
from etl.demo.dice import Dice
from etl.demo.eras import Era
from etl.demo.phrases import BRANCHES, SESSION_NAMES
from etl.demo.tools import ToolCall
from etl.demo.transcript import Entry, Setting, Transcript, stamp
from etl.demo.voice import Kit, Voice, late_ms

_MODELS = (
    "claude-sonnet-4-5-20250929",
    "claude-opus-4-5-20251101",
    "claude-haiku-4-5-20251001",
)
_MODERN_MODELS = ("claude-opus-4-6", "claude-sonnet-4-6")
_FIRST_STOP_HOOKS = (2, 0, 76)
_FIRST_SESSION_NAMES = (2, 0, 50)
_LARGEST_TEXT_BYTES = 240_000
_MOST_BACKUPS = 8


@dataclass(frozen=True, slots=True)
class TypedPrompt:
    """One line of history.jsonl."""

    time_ms: int
    display: str
    project: str
    session_id: str

    def written(self) -> Entry:
        """Give the line as an entry."""
        return {
            "display": self.display,
            "pastedContents": {},
            "timestamp": self.time_ms,
            "project": self.project,
            "sessionId": self.session_id,
        }


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """Where, when and how large a session is to be."""

    cwd: str
    start_ms: int
    era: Era
    budget_bytes: int
    largest_text_bytes: int = _LARGEST_TEXT_BYTES


class Session:
    """One session in the making: its main file, its agents and its typed prompts."""

    __slots__ = (
        "_backups",
        "_budget_bytes",
        "_largest_text_bytes",
        "agents",
        "kit",
        "prompts",
        "voice",
    )

    def __init__(self, kit: Kit, plan: SessionPlan, transcript: Transcript | None = None) -> None:
        """Begin as planned, or go on in a file that already has lines."""
        self.kit = kit
        self._budget_bytes = plan.budget_bytes
        self._largest_text_bytes = plan.largest_text_bytes
        self._backups: Entry = {}
        self.agents: list[AgentFile] = []
        self.prompts: list[TypedPrompt] = []
        models = _MODERN_MODELS if plan.era.modern else _MODELS
        opened = transcript or Transcript(kit.dice, new_setting(kit.dice, plan), plan.start_ms)
        self.voice = Voice(kit, opened, kit.dice.pick(models), kit.dice.between(12_000, 24_000))

    @property
    def main(self) -> Transcript:
        """Give the main file."""
        return self.voice.transcript

    @property
    def era(self) -> Era:
        """Give the version in use now."""
        return self.main.setting.era

    def room_bytes(self) -> int:
        """Give the bytes left until the session has its planned size."""
        agents = sum(agent.transcript.size_bytes for agent in self.agents)
        return self._budget_bytes - self.main.size_bytes - agents

    def upgrade(self, era: Era) -> None:
        """Go on under another version."""
        self.main.setting = replace(self.main.setting, era=era)

    def fit_texts(self) -> None:
        """Keep the next texts small enough for the room left."""
        room = max(600, self.room_bytes() // 4)
        self.kit.toolbox.largest_text_bytes = min(self._largest_text_bytes, room)

    def typed(self, content: str | list[Entry], display: str, tail: Entry | None = None) -> str:
        """Write a human prompt that begins a turn."""
        self.main.wait(20_000, 600_000)
        self.main.setting = replace(self.main.setting, prompt_id=self.kit.dice.uuid())
        modern: Entry = {"permissionMode": "default"} if self.era.modern else {}
        head: Entry = {"type": "user", "message": {"role": "user", "content": content}}
        uuid = self.main.say(head, {**modern, **(tail or {})})
        self.kit.account.book("human_turns")
        self.remember(display)
        self._snapshot(uuid)
        return uuid

    def remember(self, display: str) -> None:
        """Keep a typed prompt for history.jsonl."""
        setting = self.main.setting
        prompt = TypedPrompt(self.main.written_ms, display, setting.cwd, setting.session_id)
        self.prompts.append(prompt)

    def machine(self, content: str | list[Entry], flags: Entry | None = None) -> str:
        """Write a user line no human typed."""
        message: Entry = {"role": "user", "content": content}
        return self.main.say({"type": "user", "message": message, **(flags or {})})

    def state(self, kind: str, fields: Entry) -> None:
        """Write a state line of this session."""
        self.main.put({"type": kind, **fields, "sessionId": self.main.setting.session_id})

    def _snapshot(self, message_uuid: str) -> None:
        dice = self.kit.dice
        if dice.chance(0.2):
            backup: Entry = {"backupFileName": f"{dice.hexadecimal(16)}@v1", "version": 1}
            backup["backupTime"] = stamp(self.main.written_ms)
            kept = list(self._backups.items())[-_MOST_BACKUPS:]
            self._backups = {**dict(kept), self.kit.words.path(): backup}
        snapshot: Entry = {"messageId": message_uuid, "trackedFileBackups": self._backups}
        snapshot["timestamp"] = stamp(self.main.written_ms)
        entry: Entry = {"type": "file-history-snapshot", "messageId": message_uuid}
        self.main.put({**entry, "snapshot": snapshot, "isSnapshotUpdate": False})

    def prompt(self) -> str:
        """Write a typed prompt of some words."""
        text = self.kit.words.prose(self.kit.dice.tail(40, 2500))
        return self.typed(text, text[:200])

    def work(self, steps: int) -> None:
        """Let the model call tools for so many responses, then end the turn."""
        for _ in range(steps):
            self.fit_texts()
            if self.room_bytes() < 0:
                break
            self._step()
        self.voice.conclude()
        self.end_turn()

    def _step(self) -> None:
        dice, toolbox = self.kit.dice, self.kit.toolbox
        if dice.chance(0.02):
            self.run_agents(1)
            return
        count = dice.between(2, 4) if dice.chance(0.12) else 1
        calls = [toolbox.any_call() for _ in range(count)]
        if count > 1 and dice.chance(0.4):
            self.voice.work_interleaved(calls)
        elif dice.chance(0.001):
            self.leave_unanswered(calls[0])
        else:
            self.voice.work(calls)

    def leave_unanswered(self, call: ToolCall) -> None:
        """Write a call that never gets its result."""
        self.voice.ask([call])
        self.kit.account.book("unanswered_tool_calls")

    def run_agents(self, count: int, steps: int | None = None) -> None:
        """Call agents side by side and wait for all of them."""
        calls = [agent_task(self.voice, background=False) for _ in range(count)]
        for asked in self.voice.ask(calls):
            wanted = self.kit.dice.between(2, 12) if steps is None else steps
            file = run_agent(self.voice, asked, steps=wanted)
            self.agents.append(file)
            self.main.clock_ms = max(self.main.clock_ms, file.transcript.clock_ms)
            self.voice.answer(finished(asked, file))

    def end_turn(self) -> None:
        """Write what the version writes when a turn ends."""
        dice = self.kit.dice
        if self.era.number >= _FIRST_STOP_HOOKS and dice.chance(0.3):
            self._stop_hook()
        if self.era.nested_agents and dice.chance(0.5):
            self.system("turn_duration", {"durationMs": dice.between(900, 900_000)})
        if self.era.modern:
            self._modern_state()

    def system(self, subtype: str, fields: Entry) -> str:
        """Write a system line."""
        head: Entry = {"type": "system", "subtype": subtype, **fields, "isMeta": False}
        return self.main.say(head, late_ms=late_ms(self.kit.dice, 0.4))

    def _stop_hook(self) -> None:
        hooks: list[Entry] = [{"command": "python3 hooks/notify.py"}]
        fields: Entry = {"hookCount": 1, "hookInfos": hooks, "hookErrors": []}
        fields |= {"preventedContinuation": False, "stopReason": "", "hasOutput": False}
        fields |= {"level": "suggestion", "toolUseID": self.kit.dice.uuid()}
        self.system("stop_hook_summary", fields)

    def _modern_state(self) -> None:
        self.state(
            "last-prompt", {"lastPrompt": self.kit.words.title(), "leafUuid": self.main.last_uuid}
        )
        self.state("ai-title", {"aiTitle": self.kit.words.title()})
        self.state("mode", {"mode": "normal"})
        self.state("permission-mode", {"permissionMode": "default"})


def new_setting(dice: Dice, plan: SessionPlan) -> Setting:
    """Make up the session id and the rest of what its lines repeat."""
    named = plan.era.number >= _FIRST_SESSION_NAMES
    return Setting(
        dice.uuid(),
        plan.cwd,
        dice.pick(BRANCHES),
        plan.era,
        session_name=dice.pick(SESSION_NAMES) if named else None,
        prompt_id=dice.uuid(),
    )
