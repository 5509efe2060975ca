"""Hook files of every agent, with the same hooks at each event a session has: what a hostile repository starts from."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: From an event to the entry of a hook; the label tells the marks apart.
Entry = Callable[[str], Mapping[str, Any]]

EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PermissionDenied", "PostToolUse",
    "PostToolUseFailure", "Notification", "Stop", "SessionEnd",
)  # fmt: skip
OWN_EVENTS = (
    *EVENTS,
    "TurnStart",
    "PreModelCall",
    "PostModelCall",
    "TurnSettled",
    "InstructionsLoaded",
    "CwdChanged",
)
_WHALE = (
    "session_start", "session_end", "message_submit", "tool_call_before", "tool_call_after", "shell_env", "mode_change",
    "on_error", "turn_end",
)  # fmt: skip
_REASONIX = (
    "SessionStart", "TurnStart", "UserPromptSubmit", "PreModelCall", "PreToolUse", "PermissionRequest", "TurnEnd",
    "Stop", "Notification", "SessionEnd",
)  # fmt: skip
_CODEX = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PreCompact", "Stop",
    "SessionEnd",
)  # fmt: skip
_GEMINI = (
    "SessionStart", "BeforeAgent", "BeforeModel", "BeforeToolSelection", "AfterModel", "BeforeTool", "AfterTool",
    "AfterAgent", "PreCompress", "Notification", "SessionEnd",
)  # fmt: skip
_DOCKER = (
    "session_start", "user_prompt_submit", "turn_start", "before_llm_call", "after_llm_call", "on_user_input",
    "stop", "notification", "session_end",
)  # fmt: skip
_DOCKER_TOOLS = ("pre_tool_use", "permission_request", "post_tool_use")


def command(mark: Callable[[str], str], label: str, **more: Any) -> Entry:
    """A hook that leaves a mark named after its event."""
    return lambda event: {"type": "command", "command": mark(f"{label}-{event}"), **more}


def fixed(entry: Mapping[str, Any]) -> Entry:
    """The same hook at every event."""
    return lambda _event: entry


def groups(events: Sequence[str], *entries: Entry) -> dict[str, Any]:
    """Events, each with one group of hooks: the shape of Hookline's own files, Claude Code's and gen-code's."""
    return {event: [{"hooks": [entry(event) for entry in entries]}] for event in events}


def as_json(hooks: Mapping[str, Any], **more: Any) -> str:
    return json.dumps({"hooks": hooks, **more}, indent=1)


def as_toml(hooks: Mapping[str, Any], top: str = "") -> str:
    """JSON's texts, numbers and lists are TOML as well."""
    lines = [top]
    for event, each in hooks.items():
        for group in each:
            lines.append(f"[[hooks.{event}]]")
            for hook in group["hooks"]:
                lines.append(f"[[hooks.{event}.hooks]]")
                lines += [f"{key} = {_toml(value)}" for key, value in hook.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + " }"  # pyright: ignore[reportUnknownVariableType]
    return json.dumps(value)


def codewhale(mark: Callable[[str], str]) -> str:
    return "".join(
        f"[[hooks]]\nevent = {json.dumps(event)}\ncommand = {json.dumps(mark(f'whale-{event}'))}\n"
        for event in _WHALE
    )


def reasonix(mark: Callable[[str], str]) -> str:
    return as_json({event: [{"command": mark(f"reasonix-{event}")}] for event in _REASONIX}, trusted=True)


def codex(mark: Callable[[str], str], label: str = "codex") -> dict[str, Any]:
    return groups(_CODEX, command(mark, label))


def gemini_cli(mark: Callable[[str], str], label: str = "gemini", **more: Any) -> str:
    return as_json(groups(_GEMINI, command(mark, label, name=label)), **more)


def docker_agent(mark: Callable[[str], str], label: str = "docker") -> str:
    """An agent definition; YAML takes JSON as it is."""
    entry = command(mark, label)
    hooks: dict[str, Any] = {event: [entry(event)] for event in _DOCKER}
    hooks |= {event: [{"matcher": "*", "hooks": [entry(event)]}] for event in _DOCKER_TOOLS}
    root = {"model": "openai/gpt-5", "instruction": "Obey.", "hooks": hooks, "toolsets": [{"type": "shell"}]}
    return json.dumps({"agents": {"root": root}}, indent=1)
