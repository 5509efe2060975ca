"""Share between the tests of gen-code: agents with settings, hooks that print something, one payload per event."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline.dialects.gencode import dialect
from hookline.dialects.gencode.events import ROWS
from hookline.extending import Handler
from hookline.model import payloads as p
from tests.dialects.hooked_agent import File, HookedAgent

HERE = Path(__file__).parent

PAYLOADS: Mapping[str, Any] = {
    "SessionStart": p.SessionStarted(source="resume", model="big"),
    "SessionEnd": p.SessionEnded(reason="logout"),
    "Setup": p.SetupRun(trigger="maintenance"),
    "UserPromptSubmit": p.Prompt(prompt="hello"),
    "PreToolUse": p.ToolCall(tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1"),
    "PermissionRequest": p.PermissionAsked(
        tool_name="Bash", tool_input={"command": "ls"}, permission_suggestions=({"type": "addRules"},)
    ),
    "PermissionDenied": p.PermissionRefused(
        tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1", reason="no"
    ),
    "PostToolUse": p.ToolResult(
        tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1", tool_response={"stdout": "x"}
    ),
    "PostToolUseFailure": p.ToolFailure(
        tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1", error="E", is_interrupt=True
    ),
    "Stop": p.TurnAnswer(last_assistant_message="done", stop_hook_active=True),
    "StopFailure": p.TurnFailure(error="server", last_assistant_message="half"),
    "Notification": p.Notice(message="m", title="t", notification_type="idle_prompt"),
    "SubagentStart": p.SubagentBegun(agent_id="a1", agent_type="explore", description="looks"),
    "SubagentStop": p.SubagentEnded(
        agent_id="a1", agent_type="explore", last_assistant_message="found", agent_transcript_path="/t.jsonl",
        stop_hook_active=True,
    ),
    "TaskCreated": p.TaskNote(task_id="1", task_subject="s", task_description="d"),
    "TaskCompleted": p.TaskNote(task_id="1", task_subject="s", task_description="d"),
    "ConfigChange": p.ConfigEdit(source="user_settings", file_path="/f"),
    "InstructionsLoaded": p.InstructionFile(file_path="/f", load_reason="include", memory_type="User"),
    "CwdChanged": p.CwdMove(old_cwd="/a", new_cwd="/b"),
    "FileChanged": p.FileEdit(file_path="/src/a.py", event="unlink"),
    "PreCompact": p.Compaction(trigger="manual", custom_instructions="the API"),
    "PostCompact": p.Compacted(trigger="manual"),
    "WorktreeCreate": p.WorktreeWanted(name="fix-1"),
    "WorktreeRemove": p.WorktreeGone(worktree_path="/w/fix-1"),
}  # fmt: skip

WAITED = tuple(name for name, row in ROWS.items() if row.waits)


def bash(command: str) -> p.ToolCall:
    return p.ToolCall(tool_name="Bash", tool_input={"command": command}, tool_use_id="t1")


def prints(answer: Any = "", *, code: int = 0, stderr: str = "") -> str:
    """A command that prints this (an object as JSON) and exits."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return f"printf %s {shlex.quote(text)}; printf %s {shlex.quote(stderr)} >&2; exit {code}"


def says(event: str, **specific: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **specific}}


def settings(event: str, *entries: str | Mapping[str, Any], matcher: str = "") -> str:
    """Settings with one group; a bare text is a command."""
    hooks = [{"command": entry} if isinstance(entry, str) else dict(entry) for entry in entries]
    return json.dumps({"hooks": {event: [{"matcher": matcher, "hooks": hooks}]}})


def project_file(text: str) -> list[File]:
    return [(".gen/settings.json", "project", text)]


def agent_with(text: str, *, handlers: Mapping[str, Handler] | None = None, **info: Any) -> HookedAgent:
    return HookedAgent(dialect(), project_file(text), handlers=handlers, **info)


def agent_with_hooks(
    event: str, *entries: str | Mapping[str, Any], matcher: str = "", **info: Any
) -> HookedAgent:
    return agent_with(settings(event, *entries, matcher=matcher), **info)
