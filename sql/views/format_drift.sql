-- What a log says in words that are not known here yet: kept whole, counted, and shown.
-- grain: one unknown name of one kind
-- kind           type, subtype, attachment, block, iteration or field
-- name           the name as it is logged; a field with its path
-- seen_in        type of the entries it stands in
-- first_version  lowest version of Claude Code that wrote it
-- last_version   highest version that wrote it
-- first_seen_at  first instant
-- last_seen_at   last instant
-- rows           entries, or blocks, that have it
-- example_path   a file to look at
-- example_line   and its line
with

-- Versions sort by their numbers: 2.1.9 comes before 2.1.10.
lines as (
    select
        *,
        list_transform(string_split(version, '.'), lambda part: try_cast(part as integer))
            as numbers
    from raw.entries
),

unknown_types as (
    select 'type' as kind, type as name, *
    from lines
    where coalesce(type, '') not in (
        'user', 'assistant', 'system', 'attachment', 'progress', 'summary', 'ai-title',
        'custom-title', 'agent-name', 'agent-color', 'agent-setting', 'tag', 'last-prompt', 'mode',
        'permission-mode', 'queue-operation', 'file-history-snapshot', 'file-history-delta',
        'attribution-snapshot', 'speculation-accept', 'pr-link', 'worktree-state', 'relocated',
        'content-replacement', 'fork-context-ref', 'bridge-session', 'frame-link',
        'artifact-autoreact-ledger', 'artifact-comment-monitor', 'atis-latch', 'cost-state',
        'isolation-latch', 'observer-ref', 'ended-by-model', 'history-suppression', 'continued-in',
        'marble-origami-commit', 'marble-origami-snapshot', 'marble-origami-reset', 'task-summary',
        'agent_metadata', 'started', 'result', 'failed', 'launched'
    )
),

unknown_subtypes as (
    select 'subtype' as kind, subtype as name, *
    from lines
    where subtype is not null and subtype not in (
        'compact_boundary', 'microcompact_boundary', 'snip_boundary', 'local_command',
        'turn_duration', 'stop_hook_summary', 'api_error', 'away_summary', 'informational',
        'bridge_status', 'scheduled_task_fire', 'model_refusal_fallback', 'model_consent_fallback',
        'agents_killed', 'permission_retry', 'memory_saved', 'thinking', 'api_metrics',
        'file_snapshot', 'post_turn_summary'
    )
),

unknown_attachments as (
    select 'attachment' as kind, attachment_type as name, *
    from lines
    where attachment_type is not null and attachment_type not in (
        'queued_command', 'file', 'directory', 'already_read_file', 'edited_text_file',
        'compact_file_reference', 'plan_file_reference', 'selected_lines_in_ide',
        'opened_file_in_ide', 'inlined_image_paths', 'read_truncation_notice', 'nested_memory',
        'instructions', 'session_context', 'environment', 'model', 'date', 'date_change',
        'prompt_snapshot', 'output_style', 'output_style_instructions', 'skill_listing',
        'invoked_skills', 'dynamic_skill', 'agent_listing_delta', 'deferred_tools_delta',
        'deferred_tools_record', 'mcp_instructions_delta', 'command_permissions', 'plan_mode',
        'plan_mode_exit', 'plan_mode_reentry', 'auto_mode', 'auto_mode_exit', 'ultra_effort_enter',
        'ultra_effort_exit', 'thinking_stripped', 'total_tokens_reminder', 'task_reminder',
        'todo_reminder', 'silent_turn_reminder', 'batching_reminder_sent', 'goal_status',
        'remote_session_change', 'workflow_keyword_request', 'workflow_size_guideline_change',
        'structured_output', 'max_turns_reached', 'companion_intro', 'hook_success',
        'hook_non_blocking_error', 'hook_blocking_error', 'hook_cancelled', 'hook_system_message',
        'hook_additional_context', 'hook_stopped_continuation', 'async_hook_response',
        'teammate_mailbox', 'team_context', 'teammate_shutdown_batch'
    )
),

unknown_fields as (
    select
        'field' as kind,
        unnest(from_json(unknown_fields, '["varchar"]')) as name,
        *
    from lines
    where unknown_fields is not null
),

unknown_iterations as (
    select 'iteration' as kind, * from (
        select unnest(json_extract_string(iterations, '$[*].type')) as name, *
        from lines
        where iterations is not null
    )
    where name not in ('message', 'compaction', 'advisor_message', 'fallback_message')
),

unknown_blocks as (
    select 'block' as kind, coalesce(blocks.block_type, '(none)') as name, lines.*
    from raw.content_blocks as blocks
    join lines using (file_id, generation, line_no, object_index)
    where blocks.form = 'block' and coalesce(blocks.block_type, '') not in (
        'text', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'server_tool_use',
        'advisor_tool_result', 'web_search_tool_result', 'web_fetch_tool_result',
        'code_execution_tool_result', 'mcp_tool_use', 'mcp_tool_result', 'container_upload',
        'compaction', 'fallback', 'image', 'document', 'tool_reference', 'search_result',
        'resource_link'
    )
),

unknown as (
    select * from unknown_types
    union all by name
    select * from unknown_subtypes
    union all by name
    select * from unknown_attachments
    union all by name
    select * from unknown_fields
    union all by name
    select * from unknown_iterations
    union all by name
    select * from unknown_blocks
)

select
    unknown.kind,
    coalesce(unknown.name, '(none)') as name,
    min(unknown.type) as seen_in,
    arg_min(unknown.version, unknown.numbers) as first_version,
    arg_max(unknown.version, unknown.numbers) as last_version,
    min(unknown.occurred_at) as first_seen_at,
    max(unknown.occurred_at) as last_seen_at,
    count(*) as rows,
    arg_min(files.path, (files.path, unknown.line_no)) as example_path,
    arg_min(unknown.line_no, (files.path, unknown.line_no)) as example_line
from unknown
left join source_files as files using (file_id)
group by unknown.kind, unknown.name
