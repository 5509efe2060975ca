"""Share between the tests of Reasonix: settings as text, and the payloads of its events."""

from pathlib import Path
from typing import Any

from hookline.dialects.reasonix import dialect
from hookline.extending import LoadedHooks
from hookline.model import payloads as p
from hookline.model.messages import HostMessage, Usage
from tests.dialects.hooked_agent import File, HookedAgent, read_hooks

DATA = Path(__file__).parent / "data"
PROJECT = "/home/me/shop/.reasonix/settings.json"
GLOBAL = "/home/me/.reasonix/settings.json"

#: One payload for each of its events.
PAYLOADS: dict[str, Any] = {
    "SessionStart": p.SessionStarted(session_title="shop"),
    "TurnStart": p.TurnBegun(turn=4, prompt="fix it"),
    "PreToolUse": p.ToolCall(tool_name="bash", tool_input={"command": "ls"}),
    "PostToolUse": p.ToolResult(tool_name="bash", tool_input={"command": "ls"}, tool_response="a\nb"),
    "UserPromptSubmit": p.Prompt(prompt="fix it"),
    "PreModelCall": p.ModelRequest(
        model="deepseek-chat", turn=4, messages=(HostMessage(role="user", content="hi"),)
    ),
    "PostModelCall": p.ModelResponse(
        response="done",
        reasoning="because",
        turn=4,
        usage=Usage(input_tokens=100, output_tokens=20, cache_read_tokens=60),
    ),
    "TurnEnd": p.TurnAnswer(last_assistant_message="all done", turn=4),
    "Stop": p.TurnSummary(last_assistant_message="all done", turn=4),
    "SessionEnd": p.SessionEnded(duration_ms=9000, cost_usd=0.25),
    "PostToolUseFailure": p.ToolFailure(tool_name="bash", tool_input={"command": "ls"}, error="gone"),
    "PermissionRequest": p.PermissionAsked(tool_name="bash", tool_input={"command": "ls"}),
    "StopFailure": p.TurnFailure(error="rate_limit", error_details="slow down"),
    "PostLLMCall": p.ModelResponse(response="done", reasoning="because", turn=4),
    "SubagentStop": p.SubagentEnded(agent_id="a1", agent_type="explore", last_assistant_message="found it"),
    "Notification": p.Notice(message="waiting", notification_type="idle_prompt"),
    "PreCompact": p.Compaction(trigger="auto"),
}


def read_settings(text: str, *more: File) -> LoadedHooks:
    """The project's settings, and other files."""
    return read_hooks(dialect(), [(PROJECT, "project", text), *more])


def agent_with(text: str, *more: File, cwd: str = "/tmp", **info: Any) -> HookedAgent:
    return HookedAgent(dialect(), [(PROJECT, "project", text), *more], cwd=cwd, **info)


def agent_with_hook(event: str, command: str, **fields: Any) -> HookedAgent:
    """A project with a single hook."""
    import json

    return agent_with(json.dumps({"hooks": {event: [{"command": command, **fields}]}}))


def message_texts(outcome: Any) -> list[str]:
    return [message.text for message in outcome.messages]
