"""The names of fields that Claude Code is known to write, so that a new one is noticed."""

from collections.abc import Sequence

from etl.jsontext import dumps
from etl.normalise.fields import JsonObject, Values, members


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENVELOPE = _names(
    "type uuid parentUuid logicalParentUuid timestamp sessionId session_id isSidechain agentId cwd"
    " gitBranch version entrypoint userType slug sessionKind teamName agentName forkedFrom promptId"
    " message subtype level content toolUseID parentToolUseID"
)
USER = _names(
    "toolUseResult sourceToolAssistantUUID sourceToolUseID isMeta isCompactSummary"
    " isVisibleInTranscriptOnly origin promptSource turnOrigin permissionMode toolDenialKind"
    " interruptedMessageId queueSkipAttachments classifierMetaLines mcpMeta toolEndsTurn"
    " turnCompanion imagePasteIds todos thinkingMetadata queuePriority"
)
ASSISTANT = _names(
    "requestId isApiErrorMessage error apiErrorStatus quotaLimits effort perTurnEffort advisorModel"
    " apiBlockIndex wireToolInputs wireIngestContext attributionAgent attributionSkill"
    " attributionPlugin attributionMcpServer attributionMcpTool isAbortedMidStream costUSD"
    " durationMs apiError errorDetails"
)
SYSTEM = _names(
    "compactMetadata microcompactMetadata snipMetadata messageCount pendingBackgroundAgentCount"
    " pendingWorkflowCount hookCount hookInfos hookErrors hookAdditionalContext"
    " preventedContinuation stopReason hasOutput cause retryInMs retryAttempt maxRetries url"
    " originalModel fallbackModel apiRefusalCategory scope neutralizedByFork trigger"
)
ATTACHMENT = _names("attachment rendered renderedInHumanTurn data")
STATE = _names(
    "summary leafUuid aiTitle customTitle agentColor agentSetting tag lastPrompt explicit rewound"
    " mode operation reason messageId snapshot isSnapshotUpdate snapshotMessageId trackingPath"
    " backup surface fileStates promptCount promptCountAtLastCommit permissionPromptCount"
    " permissionPromptCountAtLastCommit escapeCount escapeCountAtLastCommit timeSavedMs prNumber"
    " prUrl prRepository worktreeSession relocatedCwd replacements parentSessionId parentLastUuid"
    " contextLength bridgeSessionId lastSequenceNum ownerAccountUuid ownerOrganizationUuid"
    " artifactCount frameUrl path title v artifacts accountUuid atis totalCostUSD totalAPIDuration"
    " totalAPIDurationWithoutRetries totalToolDuration totalDuration totalLinesAdded"
    " totalLinesRemoved startTime hasUnknownModelCost modelUsage ts continuedInSessionId collapseId"
    " summaryUuid summaryContent firstArchivedUuid lastArchivedUuid tokensIn tokensOut staged armed"
    " lastSpawnTokens key agentType result runId"
)
TOP = ENVELOPE | USER | ASSISTANT | SYSTEM | ATTACHMENT | STATE
MESSAGE = _names(
    "id type role model content stop_reason stop_sequence stop_details usage container"
    " context_management diagnostics"
)
USAGE = _names(
    "input_tokens output_tokens output_tokens_details cache_read_input_tokens"
    " cache_creation_input_tokens cache_creation server_tool_use service_tier inference_geo speed"
    " iterations fallback_credit"
)
BLOCK = _names(
    "type text citations thinking signature data id name input caller tool_use_id content is_error"
    " source title context from to trigger tool_name file_id server_name cache_control uri"
    " description mimeType size url"
)


_NESTED = {
    "cache_creation": _names("ephemeral_5m_input_tokens ephemeral_1h_input_tokens"),
    "server_tool_use": _names("web_search_requests web_fetch_requests"),
    "output_tokens_details": _names("thinking_tokens"),
}
_KNOWN = {
    "": TOP,
    "message.": MESSAGE,
    "message.content.": BLOCK,
    "message.usage.": USAGE,
    **{f"message.usage.{key}.": names for key, names in _NESTED.items()},
}

Names = dict[str, set[str]]


def names_in(
    objects: Sequence[JsonObject], messages: Sequence[JsonObject], usages: Sequence[JsonObject]
) -> Names:
    """Return all names that stand in some objects, by the path before them."""
    names = {
        "": set().union(*objects),
        "message.": set().union(*messages),
        "message.content.": set().union(*_blocks_of(messages)),
        "message.usage.": set().union(*usages),
    }
    for key in _NESTED.keys() & names["message.usage."]:
        names[f"message.usage.{key}."] = set().union(*members(usages, key))
    return names


def unknown_fields(
    objects: Sequence[JsonObject],
    messages: Sequence[JsonObject],
    usages: Sequence[JsonObject],
    names: Names,
) -> Values:
    """Return, an object, the names that are not known as a JSON array; None where all are."""
    # Nearly every batch is without news, which all its names together tell.
    if not _news(names):
        return [None] * len(objects)
    triples = zip(objects, messages, usages, strict=True)
    return [_written(_news(names_in([one], [two], [three]))) for one, two, three in triples]


def _news(names: Names) -> set[str]:
    return {f"{path}{name}" for path, found in names.items() for name in found - _KNOWN[path]}


def _blocks_of(messages: Sequence[JsonObject]) -> list[JsonObject]:
    contents = [content for one in messages if (content := one.get("content")).__class__ is list]
    return [block for content in contents for block in content if block.__class__ is dict]


def _written(names: set[str]) -> bytes | None:
    return dumps(sorted(names)) if names else None
