"""One made-up line of every kind that Claude Code is known to write, each with all its fields."""

from collections.abc import Callable

from tests.sessions import SESSION, Line, at, envelope

OLD = "22222222-2222-4222-8222-222222222222"
STAMP = at(50)
FULL_ENVELOPE: Line = {
    "session_id": SESSION,
    "entrypoint": "cli",
    "slug": "calm-green-kiln",
    "sessionKind": "bg",
    "teamName": "session-11111111",
    "agentName": "potter",
    "promptId": "p1",
}


def _entry(kind: str, uuid: str, **more: object) -> Line:
    """A conversation line; its id says in which specimen it stands."""
    return envelope(kind, uuid, len(uuid), **{**FULL_ENVELOPE, **more})


def _plain(make: Callable[[str], Line], kinds: str) -> list[Line]:
    """Lines of kinds that have no field of their own, or none that anybody wrote down."""
    return [make(kind) for kind in kinds.split()]


# ---- What the user says, and what tools answer.


def _user(uuid: str, content: object, **more: object) -> Line:
    return _entry("user", uuid, message={"role": "user", "content": content}, **more)


def _answer(uuid: str, result: object, content: object = "done", **more: object) -> Line:
    block = {"tool_use_id": "toolu_1", "type": "tool_result", "content": content, "is_error": False}
    links = {"sourceToolAssistantUUID": "a-full", "sourceToolUseID": "toolu_1"}
    return _user(uuid, [block], toolUseResult=result, **{**links, **more})


def _source(kind: str, **more: object) -> Line:
    return {
        "type": kind,
        "source": {"type": "base64", "media_type": "image/png", "data": "AA=="} | more,
    }


TEXT: Line = {"type": "text", "text": "Fire the kiln."}
PARTS = [
    TEXT,
    _source("image"),
    {"type": "tool_reference", "tool_name": "Glaze"},
    {"type": "resource_link", "uri": "kiln://log", "name": "log"},
    {"type": "search_result", "title": "Clay", "source": "clay.test", "content": [TEXT]},
]
NOTICE = (
    "<task-notification><task-id>ab12</task-id><tool-use-id>toolu_1</tool-use-id>"
    "<status>completed</status><result>Fired</result></task-notification>"
)
USERS = [
    _user(
        "u-text",
        "Fire the kiln.",
        origin={"kind": "human", "from": "desk", "senderTaskId": "t1", "handback": False},
        promptSource="typed",
        turnOrigin="human",
        permissionMode="plan",
        queueSkipAttachments=False,
        queuePriority="next",
        classifierMetaLines=[1, 2],
        imagePasteIds=[1],
        todos=[{"content": "Fire", "status": "pending", "activeForm": "Firing"}],
        thinkingMetadata={"level": "high", "disabled": False, "triggers": []},
        forkedFrom={"sessionId": OLD, "messageUuid": "u-old"},
    ),
    _user("u-array", [TEXT, _source("image"), _source("document"), "bare words"]),
    _user("u-command", "<command-name>/fire</command-name><command-args>hot</command-args>"),
    _user("u-shell", "<bash-input>ls</bash-input>"),
    _user("u-notice", NOTICE),
    _user("u-old-notice", '{"task_id":"ab12","tool_use_id":"toolu_1","status":"done"}'),
    _user("u-summary", "So far.", isCompactSummary=True, isVisibleInTranscriptOnly=True),
    _user("u-meta", [TEXT], isMeta=True, turnCompanion=True, toolEndsTurn=False),
    _user("u-stop", [{"type": "text", "text": "[Request interrupted by user]"}])
    | {"interruptedMessageId": "msg_1", "toolDenialKind": "interrupted"},
    _answer("r-parts", [TEXT], PARTS, mcpMeta={"structuredContent": {"heat": 1280}}),
    _answer("r-words", "Error: the kiln is cold", ["bare", TEXT]),
    _answer("r-shell", {"stdout": "ok", "stderr": "", "interrupted": False, "isImage": False})
    | {"agentId": "ab12", "isSidechain": True},
    _answer("r-read", {"type": "text", "file": {"filePath": "/kiln.txt", "numLines": 3}}),
    _answer("r-edit", {"filePath": "/k", "structuredPatch": [{"oldStart": 1, "lines": ["+x"]}]}),
    _answer("r-grep", {"mode": "content", "numFiles": 1, "filenames": ["/k"], "appliedLimit": 9}),
    _answer("r-fetch", {"url": "https://clay.test", "bytes": 9, "code": 200, "durationMs": 1}),
    _answer(
        "r-search", {"query": "clay", "results": [{}], "searchCount": 1, "durationSeconds": 0.5}
    ),
    _answer("r-ask", {"questions": [{"question": "Hot?"}], "answers": {"Hot?": "yes"}}),
    _answer("r-agent", {"status": "completed", "agentId": "ab12", "prompt": "Fire", "usage": {}}),
    _answer("r-launch", {"isAsync": True, "status": "async_launched", "agentId": "cd34"}),
    _answer("r-team", {"status": "teammate_spawned", "teammate_id": "potter@kiln", "color": "red"}),
]

# ---- What the model says.

USAGE: Line = {
    "input_tokens": 3,
    "output_tokens": 40,
    "output_tokens_details": {"thinking_tokens": 12},
    "cache_read_input_tokens": 1000,
    "cache_creation_input_tokens": 30,
    "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
    "server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 2},
    "service_tier": "standard",
    "inference_geo": "us",
    "speed": "fast",
    "iterations": [
        {"type": kind, "model": "m", "output_tokens": 4}
        for kind in ("message", "compaction", "advisor_message", "fallback_message")
    ],
    "fallback_credit": {"status": {"type": "none", "reason": "late", "remove_to_redeem": []}},
}
BLOCKS = [
    TEXT | {"citations": [{"type": "char_location"}]},
    {"type": "thinking", "thinking": "Hotter?", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "c2ln"},
    {"type": "tool_use", "id": "toolu_1", "name": "Agent", "input": {"prompt": "Fire"}}
    | {"caller": {"type": "direct"}},
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {"query": "heat"}},
    {"type": "advisor_tool_result", "tool_use_id": "srvtoolu_1"}
    | {"content": {"type": "advisor_result", "text": "Slowly."}},
    {
        "type": "mcp_tool_use",
        "id": "mcptoolu_1",
        "name": "fire",
        "server_name": "kiln",
        "input": {},
    },
    {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [TEXT]},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_2", "content": [{"url": "x"}]},
    {"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_3", "content": {"url": "x"}},
    {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_4", "content": {"stdout": ""}},
    {"type": "container_upload", "file_id": "file_1"},
    {"type": "compaction", "content": "So far."},
    {
        "type": "fallback",
        "from": {"model": "m"},
        "to": {"model": "n"},
        "trigger": {"type": "refusal"},
    },
    {"type": "tool_result", "tool_use_id": "toolu_9", "content": [TEXT], "is_error": True},
]


def _assistant(uuid: str, content: object, **more: object) -> Line:
    message = {
        "id": f"msg_{uuid}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": content,
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": "heat"},
        "usage": USAGE,
        "container": {"id": "box"},
        "context_management": {"applied_edits": [{"type": "clear"}]},
        "diagnostics": {"cache": "hit"},
    }
    return _entry("assistant", uuid, message=message, requestId=f"req_{uuid}", **more)


ASSISTANTS = [
    _assistant(
        "a-full",
        BLOCKS,
        effort="high",
        perTurnEffort="max",
        advisorModel="claude-opus-4-1",
        apiBlockIndex=0,
        wireToolInputs={"toolu_1": {"prompt": "Fire"}},
        wireIngestContext={"turn": 1},
        attributionAgent="potter",
        attributionSkill="glaze",
        attributionPlugin="kiln",
        attributionMcpServer="clay",
        attributionMcpTool="fire",
        isAbortedMidStream=False,
        costUSD=0.25,
        durationMs=1200,
    ),
    _assistant("a-error", [TEXT], isApiErrorMessage=True, error="rate_limit", apiErrorStatus=429)
    | {"apiError": "rate_limit", "errorDetails": "slow", "quotaLimits": [{"used": 0.9}]},
    _entry("assistant", "a-spread", message={"0": "h", "1": "i", "content": []}),
]

# ---- What the program says.


def _system(subtype: str, **more: object) -> Line:
    return _entry(
        "system",
        f"s-{subtype}",
        subtype=subtype,
        content="Told.",
        level="info",
        isMeta=False,
        **more,
    )


SYSTEMS = [
    _system(
        "compact_boundary",
        logicalParentUuid="u-text",
        compactMetadata={
            "trigger": "auto",
            "preTokens": 150000,
            "postTokens": 9000,
            "durationMs": 21000,
            "cumulativeDroppedTokens": 1,
            "preservedSegment": {"headUuid": "u1", "anchorUuid": "u2", "tailUuid": "u3"},
            "preservedMessages": {"anchorUuid": "u2", "uuids": ["u3"], "allUuids": ["u3"]},
            "preCompactDiscoveredTools": ["Glaze"],
            "messagesSummarized": 12,
            "userContext": "keep the heat",
        },
    ),
    _system(
        "microcompact_boundary",
        microcompactMetadata={"trigger": "auto", "preTokens": 9, "compactedToolIds": ["toolu_1"]},
    ),
    _system("snip_boundary", snipMetadata={"removedUuids": ["u1"]}),
    _system("local_command"),
    _system("turn_duration", durationMs=4200, messageCount=7)
    | {"pendingBackgroundAgentCount": 1, "pendingWorkflowCount": 0},
    _system(
        "stop_hook_summary",
        hookCount=1,
        hookInfos=[{"command": "lint", "durationMs": 5}],
        hookErrors=["cold"],
        hookAdditionalContext=["warm it"],
        preventedContinuation=False,
        stopReason="",
        hasOutput=True,
        toolUseID="toolu_1",
    ),
    _system(
        "api_error",
        error={"status": 529, "headers": {"retry-after": "1"}, "error": {"type": "overloaded"}},
        cause={"code": "ECONNRESET"},
        retryInMs=512.5,
        retryAttempt=1,
        maxRetries=10,
    ),
    _system("bridge_status", url="https://clay.test/session_1"),
    _system("model_refusal_fallback", originalModel="m", fallbackModel="n", scope="local")
    | {"apiRefusalCategory": "heat", "neutralizedByFork": False, "trigger": "refusal"},
    *_plain(
        _system,
        "away_summary informational scheduled_task_fire model_consent_fallback agents_killed"
        " permission_retry memory_saved thinking api_metrics file_snapshot post_turn_summary",
    ),
    _entry("system", "s-none", content="Old and plain.", toolUseID="toolu_1"),
]
ATTACHMENT_TYPES = (
    "file directory already_read_file edited_text_file compact_file_reference plan_file_reference"
    " selected_lines_in_ide opened_file_in_ide inlined_image_paths read_truncation_notice"
    " nested_memory instructions session_context environment model date date_change prompt_snapshot"
    " output_style output_style_instructions skill_listing invoked_skills dynamic_skill"
    " agent_listing_delta deferred_tools_delta deferred_tools_record mcp_instructions_delta"
    " command_permissions plan_mode plan_mode_exit plan_mode_reentry auto_mode auto_mode_exit"
    " ultra_effort_enter ultra_effort_exit thinking_stripped total_tokens_reminder task_reminder"
    " todo_reminder silent_turn_reminder batching_reminder_sent goal_status remote_session_change"
    " workflow_keyword_request workflow_size_guideline_change structured_output max_turns_reached"
    " companion_intro hook_non_blocking_error hook_blocking_error hook_cancelled"
    " hook_system_message hook_additional_context hook_stopped_continuation async_hook_response"
    " teammate_mailbox team_context teammate_shutdown_batch"
)
HOOK = {"hookName": "Stop", "hookEvent": "Stop", "command": "lint", "stdout": "", "exitCode": 0}


def _attachment(kind: str, **more: object) -> Line:
    return envelope("attachment", f"t-{kind}", 60, attachment={"type": kind, **more})


def _queued(uuid: str, prompt: object) -> Line:
    body = {
        "type": "queued_command",
        "prompt": prompt,
        "source_uuid": "u9",
        "commandMode": "prompt",
    }
    shown = [{"content": "Told."}]
    return _entry("attachment", uuid, attachment=body, rendered=shown, renderedInHumanTurn=shown)


ATTACHMENTS = [
    _queued("q-words", "And glaze it."),
    _queued("q-array", [TEXT, _source("image")]),
    _attachment("hook_success", stderr="", durationMs=5, toolUseID="toolu_1", **HOOK),
    *_plain(_attachment, ATTACHMENT_TYPES),
]


def _progress(kind: str, **more: object) -> Line:
    links = {"toolUseID": f"{kind}_1", "parentToolUseID": "toolu_1"}
    return _entry("progress", f"p-{kind}", data={"type": kind, **more}, **links)


PROGRESS = [
    _progress(
        "agent_progress",
        message={"type": "assistant", "message": {"id": "msg_echo", "usage": {"output_tokens": 1}}},
        agentId="ab12",
        prompt="Fire",
        normalizedMessages=[],
    ),
    _progress("bash_progress", output="", fullOutput="", elapsedTimeSeconds=2, totalLines=0),
    _progress("hook_progress", hookEvent="Stop", hookName="Stop", command="lint"),
    _progress("mcp_progress", progress=0.5, total=1, progressMessage="half"),
    *_plain(
        _progress,
        "powershell_progress skill_progress query_update search_results_received"
        " waiting_for_task repl_tool_call",
    ),
]

# ---- The state of a session, written again and again.


def _state(kind: str, **more: object) -> Line:
    return {"type": kind, "sessionId": SESSION, **more}


BACKUP = {"backupFileName": "ab@v1", "version": 1, "backupTime": STAMP, "realParentDir": "/kiln"}
QUEUE = [
    _state("queue-operation", operation="enqueue", timestamp=STAMP, content="And glaze it."),
    _state("queue-operation", operation="enqueue", timestamp=STAMP, content=[TEXT]),
    _state("queue-operation", operation="enqueue", timestamp=STAMP, content=NOTICE),
    _state("queue-operation", operation="dequeue", timestamp=STAMP),
    _state("queue-operation", operation="remove", timestamp=STAMP, reason="edited"),
    _state("queue-operation", operation="popAll", timestamp=STAMP, content="All."),
]
COUNTS = ("promptCount", "permissionPromptCount", "escapeCount")
STATES = [
    {"type": "summary", "summary": "Firing", "leafUuid": "u-text"},
    _state("ai-title", aiTitle="Firing a kiln"),
    _state("custom-title", customTitle="Kiln", uuid="title-1", timestamp=STAMP),
    _state("agent-name", agentName="Kiln"),
    _state("agent-color", agentColor="red"),
    _state("agent-setting", agentSetting="potter"),
    _state("tag", tag="clay"),
    _state("last-prompt", lastPrompt="Fire …", leafUuid="a-full", explicit=True, rewound=False),
    _state("mode", mode="normal"),
    _state("permission-mode", permissionMode="plan"),
    *QUEUE,
    {"type": "file-history-snapshot", "messageId": "u-text", "isSnapshotUpdate": False}
    | {"snapshot": {"messageId": "u-text", "trackedFileBackups": {"k.txt": BACKUP}}},
    {"type": "file-history-delta", "messageId": "u-text", "snapshotMessageId": "u-text"}
    | {"trackingPath": "k.txt", "backup": BACKUP, "timestamp": STAMP},
    _state("attribution-snapshot", messageId="u-text", surface="cli")
    | {"fileStates": {"/k": {"contentHash": "ab", "claudeContribution": 3, "mtime": 1.5}}}
    | dict.fromkeys(COUNTS, 3)
    | {f"{name}AtLastCommit": 2 for name in COUNTS},
    _state("speculation-accept", timestamp=STAMP, timeSavedMs=900),
    _state("pr-link", prNumber=7, prUrl="https://clay.test/7", prRepository="a/b", timestamp=STAMP),
    _state("worktree-state", worktreeSession={"worktreePath": "/kiln-2", "worktreeName": "kiln-2"}),
    _state("relocated", relocatedCwd="/barn"),
    _state("content-replacement", agentId="ab12")
    | {"replacements": [{"kind": "tool-result", "toolUseId": "toolu_1", "replacement": "cut"}]},
    {"type": "fork-context-ref", "agentId": "ab12", "parentSessionId": OLD}
    | {"parentLastUuid": "u-text", "contextLength": 12},
    _state("bridge-session", bridgeSessionId="cse_1", lastSequenceNum=4)
    | {"ownerAccountUuid": "acc-1", "ownerOrganizationUuid": "org-1"},
    _state("frame-link", artifactCount=1, timestamp=STAMP, frameUrl="u", path="/p", title="Pot"),
    _state("artifact-autoreact-ledger", v=1, artifacts={"a": [1]}, accountUuid="acc-1"),
    _state("artifact-comment-monitor", artifacts=[]),
    _state("atis-latch", atis=""),
    _state("cost-state", totalCostUSD=1.25, totalAPIDuration=9, totalAPIDurationWithoutRetries=8)
    | {"totalToolDuration": 7, "totalDuration": 30, "totalLinesAdded": 2, "totalLinesRemoved": 1}
    | {"startTime": 1772352000000, "hasUnknownModelCost": False}
    | {"modelUsage": {"m": {"inputTokens": 3, "outputTokens": 40, "costUSD": 1.25}}},
    _state("isolation-latch"),
    _state("observer-ref"),
    _state("ended-by-model"),
    _state("history-suppression", cause="rewind", ts=1772352000000),
    _state("continued-in", timestamp=STAMP, continuedInSessionId=OLD),
    _state("marble-origami-commit", collapseId="c1", summaryUuid="u-summary", summaryContent="So")
    | {"summary": "So", "firstArchivedUuid": "u1", "lastArchivedUuid": "u2"}
    | {"tokensIn": 9, "tokensOut": 1},
    _state("marble-origami-snapshot", staged=[{"id": 1}], armed=True, lastSpawnTokens=9),
    _state("marble-origami-reset"),
    _state("task-summary", summary="Firing"),
    {"type": "agent_metadata", "agentType": "Plan"},
    *({"type": kind, "key": "k1", "agentId": "ab12"} for kind in ("started", "failed", "launched")),
    {"type": "result", "key": "k1", "result": {"ok": True}, "runId": "wf_1"},
]

SPECIMENS: list[Line] = [*USERS, *ASSISTANTS, *SYSTEMS, *ATTACHMENTS, *PROGRESS, *STATES]
