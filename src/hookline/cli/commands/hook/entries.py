"""`hookline hook --print-config NAME`: the entries that make an agent call Hookline, in the agent's own format."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hookline.cli.commands.hook.caller import AgentEvent, Caller, caller_of
from hookline.cli.output import ExitStatus, note, show

#: Longer than the 600 seconds of a native hook: an agent that gives up first lets pass what a guard still judges.
_SECONDS = 660
#: Agents do not wait long for hooks at the end of a session.
_SECONDS_AT_END = 60


class _Entry(Struct, frozen=True):
    event: AgentEvent
    command: str

    @property
    def seconds(self) -> int:
        return _SECONDS_AT_END if self.event.event.name == "SessionEnd" else _SECONDS


class _Form(Struct, frozen=True):
    """How one agent writes hooks, and where."""

    text: Callable[[Sequence[_Entry]], str]
    files: str
    #: Without a list of events: every guard, and others that cost little.
    events: tuple[str, ...]


def print_entries(name: str, words: Sequence[str]) -> ExitStatus:
    """The entries go to stdout; the file they belong in is named on stderr."""
    # Only here: the engine knows the rows and the dialects.
    from hookline.config.engine import Engine

    engine = Engine()
    text = entries_text(caller_of(engine.loader, name), words, hookline_command())
    note(f"# add this to {_FORMS[name].files}")
    return show(text)


def entries_text(caller: Caller, words: Sequence[str], program: str) -> str:
    """Raises `CallError` for an event the agent does not have."""
    form = _FORMS[caller.name]
    events = [caller.named(word) for word in words] if words else [caller.events[e] for e in form.events]
    return form.text(
        [_Entry(each, f"{program} hook --dialect {caller.name} {each.name}") for each in events]
    ).rstrip("\n")


def hookline_command(env: Mapping[str, str] = os.environ) -> str:
    """`hookline` if a shell finds it, else this installation."""
    import shlex

    folders = env.get("PATH", "").split(os.pathsep)
    if any(os.access(os.path.join(folder, "hookline"), os.X_OK) for folder in folders if folder):
        return "hookline"
    return f"{shlex.quote(sys.executable)} -m hookline"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _claude(entries: Sequence[_Entry]) -> str:
    """Fails closed if Claude Code cannot start Hookline, or stops waiting for it."""
    return _grouped({e.event.name: _handler(e, onFailure="block") for e in entries})


def _gencode(entries: Sequence[_Entry]) -> str:
    return _grouped({entry.event.name: _handler(entry) for entry in entries})


def _handler(entry: _Entry, **for_guards: str) -> dict[str, Any]:
    handler = {"type": "command", "command": entry.command, "timeout": entry.seconds}
    return handler | for_guards if entry.event.guards else handler


def _grouped(handlers: Mapping[str, dict[str, Any]]) -> str:
    """Event, groups, hooks: Claude Code's shape, which gen-code has too."""
    return _json({"hooks": {name: [{"hooks": [handler]}] for name, handler in handlers.items()}})


def _reasonix(entries: Sequence[_Entry]) -> str:
    """A flat list for each event, and milliseconds."""
    return _json(
        {
            "hooks": {
                entry.event.name: [{"command": entry.command, "timeout": entry.seconds * 1000}]
                for entry in entries
            }
        }
    )


def _codewhale(entries: Sequence[_Entry]) -> str:
    """Strict entries: without that, CodeWhale lets pass what a failing hook has not judged."""
    blocks: list[str] = []
    for entry in entries:
        lines = [
            "[[hooks]]",
            f"event = {json.dumps(entry.event.name)}",
            f"command = {json.dumps(entry.command)}",
            f"timeout_secs = {entry.seconds}",
        ]
        if entry.event.guards:
            lines.append("continue_on_error = false")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _docker(entries: Sequence[_Entry]) -> str:
    lines = ["agents:", "  root:", "    hooks:"]
    for entry in entries:
        lines.append(f"      {entry.event.name}:")
        hook = [
            "- type: command",
            f"  command: {json.dumps(entry.command)}",
            f"  timeout: {entry.seconds}",
            *(["  on_error: block"] if entry.event.guards else []),
        ]
        if entry.event.name in _DOCKER_GROUPS:
            lines += ['        - matcher: "*"', "          hooks:"]
            lines += [f"            {line}" for line in hook]
        else:
            lines += [f"        {line}" for line in hook]
    return "\n".join(lines)


def _native(entries: Sequence[_Entry]) -> str:
    return "\n\n".join(
        f"[[hooks.{entry.event.name}]]\n[[hooks.{entry.event.name}.hooks]]\n"
        f"command = {json.dumps(entry.command)}\ntimeout = {entry.seconds}"
        for entry in entries
    )


#: Events whose hooks are in groups with a matcher.
_DOCKER_GROUPS = frozenset(
    {
        "tool_input_transform", "tool_guard", "pre_tool_use", "permission_request", "tool_response_transform",
        "post_tool_use",
    }
)  # fmt: skip

_USUAL = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
    "Stop", "SubagentStop", "SessionEnd",
)  # fmt: skip

_FORMS: Mapping[str, _Form] = MappingProxyType(
    {
        "claude-code": _Form(
            _claude, ".claude/settings.json in a project, or ~/.claude/settings.json for all of them", _USUAL
        ),
        "gen-code": _Form(
            _gencode, ".gen/settings.json in a project, or ~/.gen/settings.json for all of them", _USUAL
        ),
        "codewhale": _Form(
            _codewhale,
            ".codewhale/hooks.toml in a project; in ~/.codewhale/config.toml write [[hooks.hooks]] for [[hooks]]",
            ("session_start", "message_submit", "tool_call_before", "tool_call_after", "turn_end", "session_end"),
        ),
        "reasonix": _Form(
            _reasonix,
            ".reasonix/settings.json in a project, or ~/.reasonix/settings.json for all of them",
            ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TurnEnd", "Stop", "SessionEnd"),
        ),
        "docker-agent": _Form(
            _docker,
            "your agent's YAML, under its agent's name if that is not root",
            (
                "session_start", "user_prompt_submit", "user_steering_messages_submit", "user_followup_submit",
                "pre_tool_use", "permission_request", "post_tool_use", "stop", "session_end",
            ),
        ),
        "native": _Form(
            _native, ".hookline/hooks.toml of a host that uses the native format; not of this project", _USUAL
        ),
    }
)  # fmt: skip
