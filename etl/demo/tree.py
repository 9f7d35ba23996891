"""Lays out a whole made-up log tree: projects, sessions, copies, sizes and the truth about it."""

import json
import os
from dataclasses import replace
from pathlib import Path

from etl.demo.agents import AgentFile
from etl.demo.damage import EVERY_FAULT, Faults, draw_faults, lay_out
from etl.demo.dice import Dice
from etl.demo.eras import ERAS, Era, era_at, next_era
from etl.demo.project import Project, slug_of
from etl.demo.scenes import HALF_EMOJI, SCENES, Scene, typed_turn
from etl.demo.session import Session, SessionPlan, TypedPrompt
from etl.demo.tools import Toolbox
from etl.demo.transcript import Transcript, encode
from etl.demo.truth import Account, WrittenFile
from etl.demo.voice import Kit
from etl.demo.words import Words

_BASE_MS = 1_780_272_000_000  # 2026-06-01T00:00:00Z
_SPAN_MS = 122 * 86_400_000
_HOUR_MS = 3_600_000
_BYTES_PER_MB = 1_000_000
_MB_WITH_LARGE_FILES = 50
_HALF_EMOJI_EVERY_BYTES = 50_000_000
_FEWEST_LINES_TO_DAMAGE = 6
_FEWEST_LINES_TO_COPY = 12
_LARGEST_COPY_BYTES = 1_500_000
_GUARANTEED_TEXT_BYTES = 700
_EMPTY = WrittenFile(b"", 0, 0, 0, 0, pending=False)
_CWDS = (
    "/home/dev/work/ledger-window",
    "/srv/src/harbor_api",
    "F:\\Work\\StockMirror",
    "/home/dev/café.menu",
    "/home/dev/work/atlas",
    "/home/dev/work/queue drain",
    "/srv/src/pebble-web",
    "/home/dev/tools/🚢-dock",
    "/home/dev/work/meadow",
    "/srv/src/comet/packages/core",
)


class TreeWriter:
    """Writes sessions into a directory until it has its size."""

    __slots__ = (
        "_account",
        "_dice",
        "_directory",
        "_half_emoji_at_bytes",
        "_prompts",
        "_target_bytes",
        "_toolboxes",
        "_words",
    )

    def __init__(self, directory: Path, target_bytes: int, seed: int) -> None:
        """Prepare to fill the directory to about so many bytes."""
        self._directory = directory
        self._target_bytes = target_bytes
        self._dice = Dice(seed)
        self._words = Words(self._dice)
        self._account = Account()
        self._prompts: list[TypedPrompt] = []
        self._half_emoji_at_bytes = _HALF_EMOJI_EVERY_BYTES
        self._toolboxes: dict[str, Kit] = {}

    def _kit(self, cwd: str) -> Kit:
        if cwd not in self._toolboxes:
            toolbox = Toolbox(self._dice, self._words, Project(cwd))
            used = next((kit.agent_ids for kit in self._toolboxes.values()), set())
            self._toolboxes[cwd] = Kit(self._dice, self._words, self._account, toolbox, used)
        return self._toolboxes[cwd]

    def _remaining_bytes(self) -> int:
        return self._target_bytes - self._account.size_bytes

    def write_guaranteed(self) -> None:
        """Write one small session a version, so that every kind of line and damage occurs."""
        waiting = list(SCENES)
        for at, era in enumerate(ERAS):
            plan = SessionPlan(_CWDS[at % 4], _start_of(era), era, 0, _GUARANTEED_TEXT_BYTES)
            session = Session(self._kit(plan.cwd), plan)
            chosen = _fitting(waiting, session, len(SCENES) // len(ERAS) + 2)
            for scene in chosen or [SCENES[2]]:
                waiting = [one for one in waiting if one is not scene]
                scene.play(session)
            if at % 2:
                session.upgrade(next_era(era))
            typed_turn(session)
            self._store(session, EVERY_FAULT[at] if at < len(EVERY_FAULT) else Faults())
            if era in (ERAS[1], ERAS[-1]):
                self._store_copy(session, plan)
        self._store_empty(_CWDS[0], ERAS[0])

    def write_large(self, count: int) -> None:
        """Write a few very large sessions."""
        for _ in range(count):
            size_bytes = min(self._dice.between(5_500_000, 14_000_000), self._target_bytes // 6)
            self._write_sampled(max(5_500_000, size_bytes))

    def fill(self) -> None:
        """Write sessions until the tree has its size."""
        close_enough_bytes = self._target_bytes // 100
        while self._remaining_bytes() > close_enough_bytes:
            dice = self._dice
            wanted = dice.tail(200_000, 6_000_000)
            if dice.chance(0.12):
                wanted = dice.between(2_000, 30_000)
            largest = max(8_000, self._remaining_bytes() // 3)
            self._write_sampled(min(wanted, largest, self._remaining_bytes()))
            if dice.chance(0.03):
                self._store_empty(dice.pick(_CWDS), dice.pick(ERAS))

    def _write_sampled(self, budget_bytes: int) -> None:
        dice = self._dice
        position = dice.fraction()
        era = era_at(position + (dice.fraction() - 0.5) * 0.06)
        start_ms = _BASE_MS + int(position * _SPAN_MS)
        plan = SessionPlan(dice.pick(_CWDS), start_ms, era, budget_bytes)
        session = Session(self._kit(plan.cwd), plan)
        if self._account.size_bytes > self._half_emoji_at_bytes:
            self._half_emoji_at_bytes += _HALF_EMOJI_EVERY_BYTES
            HALF_EMOJI.play(session)
        self._play(session)
        self._store(session, draw_faults(dice))
        if dice.chance(0.04) and self._can_copy(session.main):
            self._store_copy(session, plan)

    def _can_copy(self, original: Transcript) -> bool:
        largest_bytes = min(_LARGEST_COPY_BYTES, self._remaining_bytes() // 3)
        return len(original.chain) >= _FEWEST_LINES_TO_COPY and original.size_bytes < largest_bytes

    def _play(self, session: Session) -> None:
        dice = self._dice
        fitting = [scene for scene in SCENES if scene.fits(session)]
        while True:
            scene = dice.weighted(fitting, [scene.weight for scene in fitting])
            scene.play(session)
            if session.room_bytes() <= 0:
                return
            if dice.chance(0.01):
                session.upgrade(next_era(session.era))
                fitting = [scene for scene in SCENES if scene.fits(session)]

    def _store_copy(self, session: Session, plan: SessionPlan) -> None:
        """Write a resumed copy: the first lines again under a new session id, then new ones."""
        original = session.main
        count = self._dice.between(len(original.chain) * 2 // 5, len(original.chain))
        setting = replace(original.setting, session_id=self._dice.uuid())
        start_ms = original.clock_ms + self._dice.between(1, 40) * _HOUR_MS
        copy = Transcript(self._dice, setting, start_ms)
        copy.take(original, count)
        self._account.book("copied_entries", count)
        resumed = Session(session.kit, replace(plan, budget_bytes=copy.size_bytes + 4_000), copy)
        typed_turn(resumed)
        self._store(resumed, draw_faults(self._dice))

    def _store(self, session: Session, faults: Faults) -> None:
        folder = self._directory / "projects" / slug_of(session.main.setting.cwd)
        session_id = session.main.setting.session_id
        self._write_log("main", folder / f"{session_id}.jsonl", session.main, faults)
        for agent in session.agents:
            nested = folder / session_id / "subagents"
            self._store_agent(agent, nested if agent.nested else folder)
        self._prompts.extend(session.prompts)

    def _store_agent(self, agent: AgentFile, folder: Path) -> None:
        path = folder / f"agent-{agent.agent_id}.jsonl"
        self._write_log("agent", path, agent.transcript, draw_faults(self._dice))
        if agent.sidecar is not None:
            self._account.book_sidecar()
            beside = folder / f"agent-{agent.agent_id}.meta.json"
            _write(beside, encode(agent.sidecar), agent.transcript.written_ms)

    def _store_empty(self, cwd: str, era: Era) -> None:
        path = self._directory / "projects" / slug_of(cwd) / f"{self._dice.uuid()}.jsonl"
        self._account.book_file("main", _EMPTY)
        _write(path, b"", _start_of(era))

    def _write_log(self, kind: str, path: Path, transcript: Transcript, faults: Faults) -> None:
        damaged = len(transcript.lines) >= _FEWEST_LINES_TO_DAMAGE
        file = lay_out(transcript.lines, faults if damaged else Faults(), self._dice)
        self._account.book_file(kind, file)
        _write(path, file.body, transcript.written_ms)

    def finish(self, *, megabytes: float, seed: int) -> dict[str, object]:
        """Write the prompt history and the truth, and give the truth."""
        self._prompts.sort(key=lambda prompt: (prompt.time_ms, prompt.session_id))
        history = b"".join(encode(prompt.written()) + b"\n" for prompt in self._prompts)
        self._account.book("history_lines", len(self._prompts))
        _write(self._directory / "history.jsonl", history, self._prompts[-1].time_ms)
        truth = self._account.statement(megabytes=megabytes, seed=seed)
        text = json.dumps(truth, indent=2, sort_keys=True) + "\n"
        _write(self._directory / "truth.json", text.encode(), self._prompts[-1].time_ms)
        return truth


def _fitting(waiting: list[Scene], session: Session, most: int) -> list[Scene]:
    return [scene for scene in waiting if scene.fits(session)][:most]


def _start_of(era: Era) -> int:
    before = sum(one.weight for one in ERAS[: ERAS.index(era)])
    return _BASE_MS + int((before + era.weight / 2) * _SPAN_MS)


def _write(path: Path, body: bytes, time_ms: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    # The file times follow the made-up clock: a reader that trusts them sees the same tree.
    os.utime(path, ns=(time_ms * 1_000_000, time_ms * 1_000_000))


def write_tree(directory: Path, *, megabytes: float, seed: int) -> dict[str, object]:
    """Write a made-up log tree of about so many megabytes and give the truth about it."""
    _require_empty(directory)
    if megabytes <= 0:
        raise ValueError(f"megabytes is {megabytes}: give a size above 0.")
    writer = TreeWriter(directory, int(megabytes * _BYTES_PER_MB), seed)
    writer.write_guaranteed()
    if megabytes >= _MB_WITH_LARGE_FILES:
        writer.write_large(max(2, int(megabytes) // 60))
    writer.fill()
    return writer.finish(megabytes=float(megabytes), seed=seed)


def _require_empty(directory: Path) -> None:
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ValueError(f"{directory} exists and is not an empty directory: name a new one.")
