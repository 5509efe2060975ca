"""Name what was known at each event by Hookline's own names, which several formats share."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from hookline.model.messages import totals_of
from tests.seams import played as s
from tests.seams.compare import ABSENT, has, holds, is_count, or_absent


def groups(commands: Mapping[str, str]) -> str:
    # The matcher of FileChanged names the files to watch, that of ExecStart programs: this session starts none.
    matchers = {"FileChanged": {"matcher": "made.txt"}, "ExecStart": {"matcher": "true"}}
    entries = {
        name: [{**matchers.get(name, {}), "hooks": [{"type": "command", "command": line}]}]
        for name, line in commands.items()
    }
    return json.dumps({"hooks": entries})


def _has_output(given: Any) -> bool:
    return given["stdout"] == s.OUTPUT


def _has_tools(names: list[str]) -> bool:
    return {"Bash", "Write", "Agent"} <= set(names)


def facts(session: s.Played) -> dict[str, dict[str, Any]]:
    """Return, by event, the payload fields of the one that `CHOSEN` names. Unknown fields are absent."""
    look, kind = s.SAID["look"], session.kind
    used = look.usage(kind)
    request = [{"role": "user", "text": s.FIRST}]
    calls = [{"id": call, "name": s.CALLS[call][0], "input": s.CALLS[call][1]} for call in look.calls]
    batch = [
        {
            "tool_name": s.CALLS[call][0],
            "tool_input": s.CALLS[call][1],
            "tool_use_id": call,
            "tool_response": session.result(call),
        }
        for call in look.calls
    ]

    def call(name: str, category: Any = ABSENT) -> dict[str, Any]:
        tool, given = s.CALLS[name]
        rest = {"tool_category": category, "mcp_server": ABSENT, "original_call": ABSENT}
        return {"tool_name": tool, "tool_input": given, "tool_use_id": name, **rest}

    def total(*answers: str, conversation: str | None = None) -> Any:
        tokens = s.SAID[conversation].usage(kind).total_tokens if conversation else None
        return msgspec.to_builtins(totals_of(s.used(kind, *answers), tokens))

    sub = {"agent_id": session.agent_id, "agent_type": "general-purpose"}
    title = {"title": ABSENT}
    suggestions = [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]
    return {
        "SessionStart": {"source": "startup", "model": s.MODEL, "agent_type": ABSENT, "session_title": ABSENT},
        "UserPromptSubmit": {"prompt": s.FIRST, "source": ABSENT},
        "TurnStart": {
            "turn": 2, "prompt": s.SECOND, "session_ms": is_count, "totals": total(*s.FIRST_TURN, conversation="done"),
        },
        "PreToolSelection": {
            "tools": _has_tools, "model": s.MODEL, "messages": request,
        },
        "PreModelCall": {
            "model": s.MODEL, "messages": request, "transient": ABSENT, "iteration": ABSENT, "turn": 1,
        },
        "PostModelCall": {
            "model": s.MODEL, "response": s.LOOKING, "reasoning": s.REASONING, "tool_calls": calls,
            "usage": msgspec.to_builtins(used), "cost_usd": or_absent(used.cost_usd), "duration_ms": is_count,
            "messages": request, "iteration": ABSENT, "turn": 1,
        },
        "MessageDisplay": {
            "turn_id": f"{session.session_id}.1", "message_id": "1.1", "delta": s.LOOKING, "index": ABSENT,
            "final": True,
        },
        "PreToolUse": call("ok", "shell"),
        "PermissionRequest": {**call("asked"), "permission_suggestions": suggestions},
        "PermissionDenied": {**call("refused"), "reason": s.REFUSAL},
        "PostToolUse": {**call("ok", "shell"), "tool_response": _has_output, "duration_ms": is_count},
        "PostToolUseFailure": {
            **call("broken", "shell"), "error": session.result("broken"), "is_interrupt": ABSENT, "exit_code": 3,
            "duration_ms": is_count,
        },
        "PostToolBatch": {"tool_calls": batch},
        "ShellEnv": {"tool_name": "Bash", "command": s.CALLS["ok"][1]["command"], "tool_input": s.CALLS["ok"][1]},
        "TurnEnd": {"last_assistant_message": s.DONE, "turn": 1, "stop_hook_active": False},
        "Stop": {"last_assistant_message": s.DONE, "turn": 1, "stop_hook_active": False},
        "TurnSettled": {
            "status": "completed", "turn_id": f"{session.session_id}.1", "turn": 1, "error": ABSENT,
            "duration_ms": is_count, "last_assistant_message": s.DONE,
            "usage": msgspec.to_builtins(s.used(kind, *s.FIRST_TURN)),
            "totals": total(*s.FIRST_TURN, conversation="done"), "tool_count": 4, "queued_message_count": 0,
            "stop_hook_active": False,
        },
        "StopFailure": {"error": "rate_limit", "error_details": holds(s.ERROR), "last_assistant_message": ABSENT},
        "Notification": {
            "message": "Write needs your permission", **title, "notification_type": "permission_prompt",
            "level": ABSENT,
        },
        "Error": {"message": holds(s.ERROR), "error_type": "rate_limit", "level": ABSENT},
        "UserInputWaiting": {"reason": "permission", "message": "Write needs your permission"},
        "SubagentStart": {**sub, "description": "look for it", "prompt": s.SUB_PROMPT},
        "SubagentStop": {
            **sub, "status": ABSENT, "last_assistant_message": s.SUB_ANSWER,
            "agent_transcript_path": session.sub_transcript, "stop_hook_active": False,
        },
        "FileChanged": {"file_path": str(session.project / "made.txt"), "event": "add"},
        "ModeChanged": {"old_mode": "default", "new_mode": "plan"},
        "PreCompact": {
            "trigger": "manual", "custom_instructions": ABSENT,
            "input_tokens": s.SAID["again"].usage(kind).total_tokens, "context_limit": ABSENT,
        },
        "PostCompact": {"trigger": "manual", "compact_summary": s.SUMMARY},
        "SessionEnd": {
            "reason": "other", "duration_ms": is_count, "cost_usd": or_absent(s.used(kind, *s.ALL).cost_usd),
            "turns": 3, "totals": total(*s.ALL),
        },
    }  # fmt: skip


#: Events after the second prompt, and after the third.
SECOND = frozenset({"PreCompact", "PostCompact", "TurnStart"})
THIRD = frozenset({"StopFailure", "Error", "SessionEnd"})
IN_PLAN_MODE = SECOND | THIRD | {"ModeChanged"}


def of_turn(event: str) -> int:
    return 3 if event in THIRD else 2 if event in SECOND else 1


def mode(event: str) -> str:
    return "plan" if event in IN_PLAN_MODE else "default"


def _call_is(name: str) -> Any:
    def chosen(dump: s.Dump) -> bool:
        given = dump.document
        if "tool_use_id" in given:
            return given["tool_use_id"] == name
        wanted = s.CALLS[name][1]
        return str(wanted.get("command", wanted.get("file_path"))) in str(given["tool_input"])

    return chosen


#: The index of the chosen event, of several with one name.
CHOSEN: Mapping[str, Any] = {
    "PreToolUse": _call_is("ok"),
    "PostToolUse": _call_is("ok"),
    "ShellEnv": _call_is("ok"),
    "PermissionRequest": _call_is("asked"),
    "TurnStart": has(turn=2),
}

#: Events that need more than such a session: other tools, files, servers or commands.
ELSEWHERE = frozenset(
    {
        "AgentSwitched", "ConfigChange", "CwdChanged", "DirectoryAdded", "Elicitation", "ElicitationResult",
        "ExecStart", "InstructionsLoaded", "Interrupt", "MaxIterations", "PostModelSwitch", "PreModelSwitch", "Setup",
        "TaskCompleted", "TaskCreated", "TeammateIdle", "UserPromptExpansion", "WorktreeCreate", "WorktreeRemove",
    }
)  # fmt: skip


def only(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Those fields that a format has."""
    return {name: fields[name] for name in names if name in fields}
