"""The names of fields that Claude Code is known to write, so that a new one is noticed."""

from collections.abc import Iterable, Sequence

from etl.jsontext import dumps
from etl.normalise.fields import JsonObject, Values


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


def unknown_fields(
    objects: Sequence[JsonObject], messages: Sequence[JsonObject], usages: Sequence[JsonObject]
) -> Values:
    """Return, an object, the names that are not known as a JSON array; None where all are."""
    triples = zip(objects, messages, usages, strict=True)
    return [_written(news(entry, message, usage)) for entry, message, usage in triples]


def news(top: Iterable[str], message: Iterable[str], usage: Iterable[str]) -> set[str]:
    """Return the names that are not known, as paths, of one object or of many together."""
    return (
        (set(top) - TOP)
        | {f"message.{name}" for name in set(message) - MESSAGE}
        | {f"message.usage.{name}" for name in set(usage) - USAGE}
    )


def _written(names: set[str]) -> bytes | None:
    return dumps(sorted(names)) if names else None
