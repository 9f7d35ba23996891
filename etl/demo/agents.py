"""Writes the log files of agents and of warm-ups."""

from dataclasses import dataclass, replace

from etl.demo.phrases import AGENT_TYPES
from etl.demo.tools import ToolCall
from etl.demo.transcript import Entry, Transcript
from etl.demo.voice import AskedCall, Voice

_SMALL_MODEL = "claude-haiku-4-5-20251001"
_REPEATED_AS_PROGRESS = 6


@dataclass(frozen=True, slots=True)
class AgentFile:
    """One agent log file and the sidecar beside it, if any."""

    transcript: Transcript
    nested: bool
    sidecar: Entry | None

    @property
    def agent_id(self) -> str:
        """Give the id that names the file."""
        return str(self.transcript.setting.agent_id)


def new_agent(parent: Voice, context_tokens: int) -> Voice:
    """Open the log file of an agent of this session."""
    setting, dice = parent.transcript.setting, parent.kit.dice
    agent_id = _unused_id(parent)
    transcript = Transcript(dice, replace(setting, agent_id=agent_id), parent.transcript.clock_ms)
    model = parent.model if dice.chance(0.4) else _SMALL_MODEL
    return Voice(parent.kit, transcript, model, context_tokens)


def _unused_id(parent: Voice) -> str:
    era, used = parent.transcript.setting.era, parent.kit.agent_ids
    while True:
        agent_id = era.agent_id_prefix + parent.kit.dice.hexadecimal(era.agent_id_digits)
        if agent_id not in used:
            used.add(agent_id)
            return agent_id


def agent_task(parent: Voice, *, background: bool) -> ToolCall:
    """Make up the call that starts an agent; its result is known when the agent ends."""
    kit = parent.kit
    arguments: Entry = {"description": kit.words.title()}
    arguments["prompt"] = kit.words.prose(kit.dice.tail(200, 2000))
    arguments["subagent_type"] = kit.dice.pick(AGENT_TYPES)
    if background:
        arguments["run_in_background"] = True
    return ToolCall(parent.transcript.setting.era.agent_tool, arguments, "", None)


def run_agent(parent: Voice, asked: AskedCall, *, steps: int) -> AgentFile:
    """Write an agent's whole work, repeated in part as progress lines of the parent."""
    agent = new_agent(parent, 9000)
    transcript, era = agent.transcript, parent.transcript.setting.era
    prompt = str(asked.call.arguments["prompt"])
    transcript.say({"type": "user", "message": {"role": "user", "content": prompt}}, root=True)
    for _ in range(steps):
        agent.work([agent.kit.toolbox.any_call()])
    agent.conclude()
    if era.progress:
        _repeat_as_progress(parent, agent, asked, prompt)
    sidecar: Entry = {"agentType": asked.call.arguments["subagent_type"]}
    sidecar["description"] = asked.call.arguments["description"]
    sidecar["toolUseId"] = asked.tool_use_id
    return AgentFile(transcript, era.nested_agents, sidecar if era.modern else None)


def _repeat_as_progress(parent: Voice, agent: Voice, asked: AskedCall, prompt: str) -> None:
    for at, entry in enumerate(agent.transcript.entries[:_REPEATED_AS_PROGRESS]):
        kept = ("type", "message", "requestId", "uuid", "timestamp")
        message = {key: entry[key] for key in kept if key in entry}
        step: Entry = {"message": message, "normalizedMessages": [], "type": "agent_progress"}
        step |= {"prompt": prompt if at == 0 else "", "agentId": entry["agentId"]}
        message_id = parent.kit.dice.base62("agent_msg_01", 22)
        parent.progress(asked, step, message_id)


def finished(asked: AskedCall, file: AgentFile) -> AskedCall:
    """Give the call with the result of an agent that ended."""
    text = _last_text(file.transcript)
    blocks: list[Entry] = [{"type": "text", "text": text}]
    result: Entry = {"status": "completed", "prompt": asked.call.arguments["prompt"]}
    result |= {"agentId": file.agent_id, "content": blocks}
    result |= {"totalDurationMs": 41_952, "totalTokens": len(text) * 9}
    result["totalToolUseCount"] = len(file.transcript.lines) // 3
    return replace(asked, call=replace(asked.call, content=blocks, result=result))


def launched(asked: AskedCall, file: AgentFile) -> AskedCall:
    """Give the call with the result of an agent that runs on in the background."""
    shown: Entry = {"type": "text", "text": f"Async agent launched.\nagentId: {file.agent_id}"}
    result: Entry = {"isAsync": True, "status": "async_launched", "agentId": file.agent_id}
    result["description"] = asked.call.arguments["description"]
    result["prompt"] = asked.call.arguments["prompt"]
    result["outputFile"] = f"/tmp/tasks/{file.agent_id}.output"  # noqa: S108
    return replace(asked, call=replace(asked.call, content=[shown], result=result))


def _last_text(transcript: Transcript) -> str:
    message = transcript.entries[-1]["message"]
    blocks = message["content"] if isinstance(message, dict) else []
    return str(blocks[-1]["text"])


def warm_up(parent: Voice, *, answered: bool) -> AgentFile:
    """Write the file of an agent that only warms the cache."""
    agent = new_agent(parent, 11_000)
    transcript = agent.transcript
    transcript.say({"type": "user", "message": {"role": "user", "content": "Warmup"}}, root=True)
    agent.kit.account.book("warmup_agents")
    if answered:
        agent.begin(1, "end_turn").write([agent.text(120)])
    return AgentFile(transcript, transcript.setting.era.nested_agents, None)
