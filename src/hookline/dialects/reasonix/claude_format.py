"""Read and write entries with `"payloadFormat": "claude"`: payloads and answers as Claude Code has them, as
far as the v1 line does.

Of its name tables only the common tools are here; a tool that is not keeps its own name and arguments.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from hookline.dialects.json_text import JsonTextError, read_lenient
from hookline.dialects.reasonix.events import LONGEST_TEXT
from hookline.model.events import field_of
from hookline.model.outcome import ContextItem, Outcome
from hookline.model.session_info import SessionInfo
from hookline.model.wire import Decoded, HookInvocation

TOOLS: Mapping[str, str] = MappingProxyType(
    {"bash": "Bash", "read_file": "Read", "write_file": "Write", "edit_file": "Edit", "task": "Agent"}
)
#: The names by which a matcher means a tool; Task is the former name of Agent.
TOOL_NAMES = {own: (name, "Task") if name == "Agent" else (name,) for own, name in TOOLS.items()}
_PATHS = ("path", "file_path")

#: Payload fields that keep their name.
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "SessionStart": ("source", "model"),
    "SessionEnd": ("reason",),
    "UserPromptSubmit": ("prompt",),
    "Stop": ("last_assistant_message", "stop_hook_active"),
    "TurnEnd": ("last_assistant_message", "stop_hook_active"),
    "StopFailure": ("error", "error_details"),
    "SubagentStop": ("agent_id", "agent_type", "last_assistant_message", "stop_hook_active"),
    "Notification": ("message", "title", "notification_type"),
    "PreCompact": ("trigger", "custom_instructions"),
}


def claude_document(event_name: str, payload: Any, info: SessionInfo) -> dict[str, Any]:
    document: dict[str, Any] = {
        "session_id": info.session_id,
        "transcript_path": info.transcript_path,
        "cwd": info.cwd,
        "hook_event_name": event_name,
    }
    tool = field_of(payload, "tool_name")
    if isinstance(tool, str):
        document |= _tool(tool, payload, info)
    values = {name: field_of(payload, name) for name in _FIELDS.get(event_name, ())}
    return document | {name: value for name, value in values.items() if value is not None}


def _tool(tool: str, payload: Any, info: SessionInfo) -> dict[str, Any]:
    name = TOOLS.get(tool, tool)
    values: dict[str, Any] = {"tool_name": name, "tool_input": _input(tool, payload, info)}
    response, error = field_of(payload, "tool_response"), field_of(payload, "error")
    if response is not None:
        whole = {"stdout": response, "stderr": "", "interrupted": False}
        values["tool_response"] = whole if name == "Bash" and isinstance(response, str) else response
    if error is not None:
        values |= {"error": error, "is_interrupt": bool(field_of(payload, "is_interrupt"))}
    call_id = field_of(payload, "tool_use_id")
    return values if call_id is None else {**values, "tool_use_id": call_id}


def _input(tool: str, payload: Any, info: SessionInfo) -> dict[str, Any]:
    arguments = dict(cast("Mapping[str, Any]", field_of(payload, "tool_input") or {}))
    if TOOLS.get(tool) not in ("Read", "Write", "Edit"):
        return arguments
    path = next((arguments[key] for key in _PATHS if isinstance(arguments.get(key), str)), None)
    if path is None:
        return arguments
    arguments.pop("path", None)
    return {**arguments, "file_path": os.path.join(info.cwd, path)}


def read_json(call: HookInvocation, stdout: bytes) -> Decoded | str | None:
    """Read JSON on a passing exit: an outcome, the reason of a denial alone, or None when there is none."""
    answer = _object(stdout)
    if answer is None:
        return None
    event_name = call.hook.policy.event_name
    specific = _object_in(answer, "hookSpecificOutput")
    if specific and specific.get("hookEventName", event_name) != event_name:
        # Written for another event: nothing of it applies to this one.
        return Decoded(ignored=("hookSpecificOutput of another event",))
    refused = _refusal(event_name, answer, specific)
    context = specific.get("additionalContext")
    if refused is not None:
        return refused
    if event_name == "SessionStart" and isinstance(context, str) and context.strip():
        return Decoded(Outcome(context_items=(ContextItem(context.strip()[:LONGEST_TEXT]),)))
    return Decoded(ignored=tuple(answer))


def _refusal(event_name: str, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> str | None:
    """Return the reason of a denial in the one form each event has for it."""
    decision = _object_in(specific, "decision")
    denial, reason = {
        "PreToolUse": (
            specific.get("permissionDecision") == "deny",
            specific.get("permissionDecisionReason"),
        ),
        "PermissionRequest": (decision.get("behavior") == "deny", decision.get("message")),
        "UserPromptSubmit": (answer.get("decision") == "block", answer.get("reason")),
    }.get(event_name, (False, None))
    if not denial:
        return None
    return reason.strip() if isinstance(reason, str) else ""


def _object_in(answer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = answer.get(key)
    return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}


def _object(output: bytes) -> Mapping[str, Any] | None:
    text = output.strip()
    try:
        return read_lenient(text) if text.startswith(b"{") else None
    except JsonTextError:
        return None
