"""The fields of an entry: their shapes, and which kind of handler reads them."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from hookline.dialects.labels import command_label, shortened, url_label
from hookline.handlers.agent import AgentSpec
from hookline.handlers.command import CommandSpec
from hookline.handlers.http import HttpSpec
from hookline.handlers.mcp_tool import McpToolSpec
from hookline.handlers.prompt import PromptSpec

Fields = Mapping[str, Any]

_COMMON: Final[Mapping[str, str]] = MappingProxyType(
    {
        "type": "text",
        "if": "text",
        "timeout": "a number",
        "statusMessage": "text",
        "once": "true or false",
    }
)

SHAPES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "command": {
            **_COMMON, "command": "text", "args": "a list of texts", "shell": "text", "async": "true or false",
            "asyncRewake": "true or false", "onFailure": "text",
        },
        "http": {
            **_COMMON, "url": "text", "headers": "an object of texts", "allowedEnvVars": "a list of texts",
            "onFailure": "text",
        },
        "mcp_tool": {**_COMMON, "server": "text", "tool": "text", "input": "an object"},
        "prompt": {**_COMMON, "prompt": "text", "model": "text", "continueOnBlock": "true or false"},
        "agent": {**_COMMON, "prompt": "text", "model": "text"},
    }
)  # fmt: skip

NEEDED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "command": ("command",),
        "http": ("url",),
        "mcp_tool": ("server", "tool"),
        "prompt": ("prompt",),
        "agent": ("prompt",),
    }
)


_PLACEHOLDER: Final = re.compile(r"(\$\{CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\})")


def _command(fields: Fields, env: Mapping[str, str]) -> CommandSpec:
    command, args = fields["command"], fields.get("args")
    if args is None:
        # The client runs `sh` whatever an entry says, PowerShell apart.
        return CommandSpec(
            command, shell="powershell" if fields.get("shell") == "powershell" else None, env=env
        )
    if any(_PLACEHOLDER.search(word) for word in (command, *args)):
        return CommandSpec(_as_line((command, *args)), env=env)
    return CommandSpec(command, tuple(args), env=env)


def _as_line(words: tuple[str, ...]) -> str:
    """The exec form for a shell that only fills in placeholders: which project it is, is known per event."""
    return "exec " + " ".join("".join(map(_quoted, _PLACEHOLDER.split(word))) or "''" for word in words)


def _quoted(piece: str) -> str:
    if _PLACEHOLDER.fullmatch(piece):
        return f'"{piece}"'
    return "'" + piece.replace("'", "'\\''") + "'" if piece else ""


def _http(fields: Fields, _env: Mapping[str, str]) -> HttpSpec:
    headers = {name: _one_line(value) for name, value in fields.get("headers", {}).items()}
    return HttpSpec(fields["url"], headers, tuple(fields.get("allowedEnvVars", ())))


def _one_line(value: str) -> str:
    return value.replace("\r", "").replace("\n", "").replace("\0", "")


def _prompt(fields: Fields, _env: Mapping[str, str]) -> PromptSpec:
    return PromptSpec(
        _with_place(fields["prompt"]), fields.get("model"), fields.get("continueOnBlock", False)
    )


def _agent(fields: Fields, _env: Mapping[str, str]) -> AgentSpec:
    return AgentSpec(_with_place(fields["prompt"]), fields.get("model"), 50)


def _with_place(prompt: str) -> str:
    """A prompt without a place for the payload gets it below, as the client puts it."""
    placed = "$ARGUMENTS" in prompt.replace("\\$ARGUMENTS", "")
    return prompt if placed else f"{prompt}\n\nARGUMENTS: $ARGUMENTS"


def _mcp_tool(fields: Fields, _env: Mapping[str, str]) -> McpToolSpec:
    return McpToolSpec(fields["server"], fields["tool"], fields.get("input", {}))


SPECS: Final[Mapping[str, Callable[[Fields, Mapping[str, str]], Any]]] = MappingProxyType(
    {"command": _command, "http": _http, "mcp_tool": _mcp_tool, "prompt": _prompt, "agent": _agent}
)


def label(kind: str, fields: Fields) -> str:
    """What people call a hook."""
    if kind == "command":
        return command_label(fields["command"])
    if kind == "http":
        return url_label(fields["url"])
    if kind == "mcp_tool":
        return shortened(f"{fields['server']}/{fields['tool']}")
    return shortened(fields["prompt"]) or kind


def identity(kind: str, fields: Fields) -> tuple[object, ...]:
    """What makes two entries one hook: what is run, and `if`. Timeout, shell, matcher and file do not count."""
    condition = fields.get("if") or ""
    if kind == "command":
        args = fields.get("args")
        return kind, fields["command"], None if args is None else tuple(args), condition
    ran = tuple(fields[key] for key in NEEDED[kind])
    return kind, *ran, repr(fields.get("input")), condition
