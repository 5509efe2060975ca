"""Reasonix: every key of its table, at every event."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.reasonix.payload import KEYS
from tests.seams import played as s
from tests.seams.compare import ABSENT, Seam, has, holds, is_count, known, or_absent, played, problems


def _counts(used: s.Usage) -> dict[str, Any]:
    counts = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_miss_tokens)
    return known(
        dict(
            zip(
                ("promptTokens", "completionTokens", "cacheHitTokens", "cacheMissTokens"), counts, strict=True
            )
        )
    )


def _tool(name: str, project: Path) -> dict[str, Any]:
    tool, given = s.CALLS[name]
    if tool == "Bash":
        return {"toolName": "bash", "toolArgs": given}
    path = str(project / given["file_path"])
    return {"toolName": "write_file", "toolArgs": {"path": path, "content": given["content"]}}


def _wanted(session: s.Played) -> dict[str, dict[str, Any]]:
    before, after = s.used(session.kind, *s.FIRST_TURN), s.used(session.kind, *s.ALL)
    failed = {"error": session.result("broken")}
    found: dict[str, dict[str, Any]] = {
        "SessionStart": {"sessionName": session.session_id, "source": "startup"},
        "UserPromptSubmit": {"prompt": s.SECOND, "turn": 2},
        "TurnStart": {
            "turn": 2,
            "sessionDurationMs": is_count,
            "totalCostUsd": or_absent(before.cost_usd),
            "usage": _counts(before),
        },
        "PreModelCall": {
            "turn": 1,
            "model": s.MODEL,
            "modelMessages": [
                {"role": "user", "content": s.FIRST},
                {"role": "assistant", "content": s.LOOKING},
                *({"role": "tool", "content": session.result(call)} for call in s.SAID["look"].calls),
            ],
        },
        "PostModelCall": {
            "turn": 1,
            "modelResponse": {"role": "assistant", "content": s.LOOKING, "reasoning_content": s.REASONING},
            "usage": _counts(s.SAID["look"].usage(session.kind)),
        },
        "PostLLMCall": {"turn": 1, "reasoning": s.REASONING, "lastAssistantText": s.LOOKING},
        "PreToolUse": _tool("ok", session.project),
        "PermissionRequest": {**_tool("asked", session.project), "toolCallId": "asked"},
        "PostToolUse": {
            **_tool("ok", session.project), "toolResult": holds(f'"stdout":"{s.OUTPUT}"'),
            "error": ABSENT,
        },
        "PostToolUseFailure": {
            **_tool("broken", session.project), **failed, "toolResult": ABSENT, "isInterrupt": ABSENT,
            "toolCallId": "broken",
        },
        "TurnEnd": {"turn": 1, "lastAssistantText": s.DONE, "last_assistant_message": s.DONE},
        "Stop": {"turn": 1, "lastAssistantText": s.DONE, "error": ABSENT},
        "StopFailure": {"turn": 3, "error": "rate_limit", "message": holds(s.ERROR)},
        "SubagentStop": {"lastAssistantText": s.SUB_ANSWER, "subject": "general-purpose"},
        "Notification": {"message": "Write needs your permission", "notificationType": "permission_prompt"},
        "PreCompact": {"trigger": "manual"},
        "SessionEnd": {
            "sessionName": session.session_id,
            "sessionDurationMs": is_count,
            "totalCostUsd": or_absent(after.cost_usd),
            "reason": "other",
            "turn": 3,
            "usage": _counts(after),
        },
    }  # fmt: skip
    shared = {"cwd": str(session.project), "sessionId": session.session_id}
    return {event: {"event": event, **shared, **fields} for event, fields in found.items()}


def _has_results(dump: s.Dump) -> bool:
    return len(dump.document["modelMessages"]) > 1


SEAM = Seam(
    dialect="reasonix",
    config=".reasonix/settings.json",
    write=lambda commands: json.dumps(
        {"hooks": {name: [{"command": line}] for name, line in commands.items()}}
    ),
    documented={
        name: frozenset(("event", "cwd", "sessionId", *(key.name for key in keys)))
        for name, keys in KEYS.items()
    },
    wanted=_wanted,
    chosen={
        "UserPromptSubmit": has(prompt=s.SECOND),
        "TurnStart": has(turn=2),
        "PreModelCall": _has_results,
        "PreToolUse": has(toolArgs=s.CALLS["ok"][1]),
        "PostToolUse": has(toolArgs=s.CALLS["ok"][1]),
        "PermissionRequest": has(toolCallId="asked"),
    },
)


@pytest.mark.parametrize("kind", s.KINDS)
def test_every_field_is_what_happened(kind: s.ModelKind, tmp_path: Path) -> None:
    assert problems(SEAM, played(SEAM, kind, tmp_path)) == []
