"""Writes the responses of the model and the results of its tool calls into one log file."""

from collections.abc import Sequence
from dataclasses import dataclass

from etl.demo.dice import Dice
from etl.demo.tools import Toolbox, ToolCall
from etl.demo.transcript import Entry, Transcript, day_of
from etl.demo.truth import Account
from etl.demo.usage import ZERO_USAGE, ContextSize, plan_usage, whole_usage
from etl.demo.words import Words

_FIRST_THINKING = (2, 0, 42)
_FIRST_SOURCE_UUID = (2, 1, 2)
_SMALLEST_SIGNATURE_BYTES = 300


@dataclass(frozen=True, slots=True)
class Kit:
    """What everything in one tree is made with."""

    dice: Dice
    words: Words
    account: Account
    toolbox: Toolbox
    agent_ids: set[str]


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A tool call that stands in the log and waits for its result."""

    call: ToolCall
    tool_use_id: str
    asked_by_uuid: str


def late_ms(dice: Dice, share: float) -> int:
    """Draw how long a line waited to be written: a share of them goes back in time."""
    return dice.between(1000, 6000) if dice.chance(share) else 0


class Voice:
    """The model's side of one log file."""

    __slots__ = ("context_tokens", "kit", "model", "transcript")

    def __init__(self, kit: Kit, transcript: Transcript, model: str, context_tokens: int) -> None:
        """Speak as a model over a context of so many tokens."""
        self.kit = kit
        self.transcript = transcript
        self.model = model
        self.context_tokens = context_tokens

    def begin(self, line_count: int, stop_reason: str) -> "Response":
        """Begin a response that will take so many lines."""
        return Response(self, line_count, stop_reason)

    def opening(self) -> list[list[Entry]]:
        """Make up what stands before tool calls: thinking, text, both or nothing."""
        blocks: list[list[Entry]] = []
        if self.transcript.setting.era.number >= _FIRST_THINKING and self.kit.dice.chance(0.4):
            blocks.append([self.thinking()])
        if self.kit.dice.chance(0.45):
            blocks.append([self.text(self.kit.dice.tail(60, 900))])
        return blocks

    def thinking(self) -> Entry:
        """Make up a thinking block: new versions keep only its signature."""
        dice = self.kit.dice
        modern = self.transcript.setting.era.modern
        thought = "" if modern else self.kit.words.prose(dice.tail(500, 9000))
        signature = dice.base64(dice.tail(_SMALLEST_SIGNATURE_BYTES, 1500))
        return {"type": "thinking", "thinking": thought, "signature": signature}

    def text(self, size_bytes: int) -> Entry:
        """Make up a text block."""
        return {"type": "text", "text": self.kit.words.prose(size_bytes)}

    def conclude(self) -> None:
        """Write the response that ends a turn."""
        blocks = self.opening()[:1]
        response = self.begin(len(blocks) + 1, "end_turn")
        for block in blocks:
            response.write(block)
        response.write([self.text(self.kit.dice.tail(200, 5000))])

    def work(self, calls: Sequence[ToolCall]) -> None:
        """Write one response with these calls, then their results in the order they end."""
        asked = self.ask(calls)
        # Parallel calls end in any order.
        for one in self.kit.dice.shuffled(asked):
            self.answer(one)

    def work_interleaved(self, calls: Sequence[ToolCall]) -> None:
        """Write one response whose lines stand between the results of its calls."""
        response = self.begin(len(calls), "tool_use")
        for call in calls:
            self.answer(self._ask_one(response, call))

    def ask(self, calls: Sequence[ToolCall]) -> list[AskedCall]:
        """Write one response with these calls and no results yet."""
        opening = self.opening()
        if self.kit.dice.chance(0.002):
            return self.ask_in_one_line(calls)
        response = self.begin(len(opening) + len(calls), "tool_use")
        for block in opening:
            response.write(block)
        return [self._ask_one(response, call) for call in calls]

    def _ask_one(self, response: "Response", call: ToolCall) -> AskedCall:
        tool_use_id, block = self._tool_use(call)
        return AskedCall(call, tool_use_id, response.write([block]))

    def ask_in_one_line(self, calls: Sequence[ToolCall]) -> list[AskedCall]:
        """Write one response with all its blocks in a single line."""
        uses = [self._tool_use(call) for call in calls]
        response = self.begin(1, "tool_use")
        uuid = response.write([self.text(120), *(block for _, block in uses)])
        return [AskedCall(call, uses[at][0], uuid) for at, call in enumerate(calls)]

    def _tool_use(self, call: ToolCall) -> tuple[str, Entry]:
        tool_use_id = self.kit.dice.base62("toolu_01", 22)
        self.kit.account.book("tool_calls")
        block: Entry = {"type": "tool_use", "id": tool_use_id, "name": call.name}
        block["input"] = call.arguments
        if self.transcript.setting.era.progress or self.transcript.setting.era.modern:
            block["caller"] = {"type": "direct"}
        return tool_use_id, block

    def answer(self, asked: AskedCall) -> None:
        """Write the result of a call, now and then with an early time or a lost parent."""
        dice, call = self.kit.dice, asked.call
        self.transcript.wait(200, 9000)
        if call.name == "Bash":
            self._shell_progress(asked)
        block: Entry = {"tool_use_id": asked.tool_use_id, "type": "tool_result"}
        block["content"] = call.content
        if call.is_error is not None:
            block["is_error"] = call.is_error
        if call.is_error:
            self.kit.account.book("tool_errors")
        tail: Entry = {"toolUseResult": call.result}
        if self.transcript.setting.era.number >= _FIRST_SOURCE_UUID:
            tail["sourceToolAssistantUUID"] = asked.asked_by_uuid
        self.transcript.say(
            {"type": "user", "message": {"role": "user", "content": [block]}},
            tail,
            parent=dice.uuid() if dice.chance(0.008) else asked.asked_by_uuid,
            late_ms=late_ms(dice, 0.05),
        )
        self.context_tokens += dice.between(50, 900)
        if call.name != "Bash":
            self._hook_progress(asked)

    def _shell_progress(self, asked: AskedCall) -> None:
        if not self.transcript.setting.era.progress or not self.kit.dice.chance(0.2):
            return
        self.shell_progress(asked)

    def shell_progress(self, asked: AskedCall) -> None:
        """Write what a running command has printed so far."""
        for second in range(2, 2 + self.kit.dice.between(1, 3)):
            output = self.kit.words.output(90 * second)
            step: Entry = {"type": "bash_progress", "output": output, "fullOutput": output}
            step |= {"elapsedTimeSeconds": second, "totalLines": second}
            self.progress(asked, step, f"bash-progress-{second - 2}")

    def _hook_progress(self, asked: AskedCall) -> None:
        if self.transcript.setting.era.progress and self.kit.dice.chance(0.25):
            self.hook_progress(asked)

    def hook_progress(self, asked: AskedCall) -> None:
        """Write that a hook ran after a call."""
        name = f"PostToolUse:{asked.call.name}"
        step: Entry = {"type": "hook_progress", "hookEvent": "PostToolUse", "hookName": name}
        self.progress(asked, {**step, "command": "callback"}, asked.tool_use_id)

    def progress(self, asked: AskedCall, step: Entry, own_id: str) -> None:
        """Write a progress line of a running call, often after its time."""
        ids: Entry = {"toolUseID": own_id, "parentToolUseID": asked.tool_use_id}
        head: Entry = {"type": "progress", "data": step, **ids}
        self.transcript.say(head, late_ms=late_ms(self.kit.dice, 0.25))

    def synthetic(self, text: str, *, api_error: bool) -> None:
        """Write a line no model answered, as after a failed request."""
        message: Entry = {"id": self.kit.dice.uuid(), "container": None, "model": "<synthetic>"}
        message |= {"role": "assistant", "stop_reason": "stop_sequence", "stop_sequence": ""}
        message |= {"type": "message", "usage": ZERO_USAGE.written(self.transcript.setting.era)}
        message["content"] = [{"type": "text", "text": text}]
        self.transcript.say(
            {"type": "assistant", "message": message}, {"isApiErrorMessage": api_error}
        )


class Response:
    """One response of the model, written block by block."""

    __slots__ = ("_booked", "_id", "_plan", "_request_id", "_voice", "_written")

    def __init__(self, voice: Voice, line_count: int, stop_reason: str) -> None:
        """Settle the ids and the token counts of all lines."""
        dice = voice.kit.dice
        setting = voice.transcript.setting
        added_tokens = dice.tail(150, 30_000)
        voice.context_tokens += added_tokens // 4
        size = ContextSize(voice.context_tokens, added_tokens)
        whole = whole_usage(dice, setting.era, size, voice.kit.account.responses)
        finality = setting.era.agent if setting.agent_id else setting.era.main
        self._plan = plan_usage(dice, whole, finality, line_count, stop_reason)
        self._voice = voice
        self._id = dice.base62("msg_01", 22)
        self._request_id = dice.base62("req_011C", 20)
        self._written = 0
        voice.transcript.wait(1500, 14_000)

    def write(self, blocks: Sequence[Entry]) -> str:
        """Write the next line and give its uuid."""
        at, voice = self._written, self._voice
        setting = voice.transcript.setting
        message: Entry = {"model": voice.model, "id": self._id, "type": "message"}
        message |= {"role": "assistant", "content": list(blocks)}
        message |= {"stop_reason": self._plan.stop_reasons[at], "stop_sequence": None}
        message["usage"] = self._plan.usages[at].written(setting.era)
        head: Entry = {"message": message, "requestId": self._request_id, "type": "assistant"}
        uuid = voice.transcript.say(head)
        if at == 0:
            self._book()
        self._written += 1
        return uuid

    def _book(self) -> None:
        charged = self._plan.usages[-1].charged()
        day = day_of(self._voice.transcript.written_ms)
        self._voice.kit.account.book_response(self._voice.model, day, charged)
