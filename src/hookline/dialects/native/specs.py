"""From the fields of an entry to what its handler is given, and to a short name for people."""

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

Fields = Mapping[str, Any]


def _spec(name: str) -> Any:
    """The record of a handler kind, loaded with the first entry of that kind."""
    module, _, record = name.partition(".")
    return getattr(import_module(f"hookline.handlers.{module}"), record)


def _command(fields: Fields) -> Any:
    args = fields.get("args")
    return _spec("command.CommandSpec")(
        command=fields["command"],
        args=None if args is None else tuple(args),
        shell=fields.get("shell"),
        env=fields.get("env", {}),
        cwd=fields.get("cwd"),
    )


def _http(fields: Fields) -> Any:
    return _spec("http.HttpSpec")(
        fields["url"], fields.get("headers", {}), tuple(fields.get("allowedEnvVars", ()))
    )


def _prompt(fields: Fields) -> Any:
    return _spec("prompt.PromptSpec")(
        fields["prompt"], fields.get("model"), fields.get("continueOnBlock", False)
    )


def _agent(fields: Fields) -> Any:
    return _spec("agent.AgentSpec")(fields["prompt"], fields.get("model"), fields.get("max_steps", 50))


def _mcp_tool(fields: Fields) -> Any:
    return _spec("mcp_tool.McpToolSpec")(fields["server"], fields["tool"], fields.get("input", {}))


def _builtin(fields: Fields) -> Any:
    # `name` is both the label and, where nothing else says it, the builtin.
    return _spec("builtin.BuiltinSpec")(
        fields.get("command") or fields.get("name", ""), tuple(fields.get("args", ()))
    )


SPECS: Mapping[str, Callable[[Fields], Any]] = MappingProxyType(
    {
        "command": _command,
        "http": _http,
        "prompt": _prompt,
        "agent": _agent,
        "mcp_tool": _mcp_tool,
        "builtin": _builtin,
    }
)

_PROGRAM = re.compile(r"[\w./~+$@%:{}-]+")
_RUNNERS = re.compile(r"(?:env|sh|bash|zsh|dash|node|npx|uvx?|ruby|perl|deno|bun|python[\d.]*)")
_LONGEST = 60


def label(kind: str, fields: Fields) -> str:
    """What people call a hook that has no name."""
    name = fields.get("name")
    if isinstance(name, str) and name.strip():
        return name.strip()
    said = next((fields[key] for key in _TELLING if isinstance(fields.get(key), str)), "")
    if kind == "command":
        said = _program(said)
    elif kind == "http":
        said = said.split("://")[-1].split("?")[0].split("@")[-1]
    elif kind == "mcp_tool":
        said = f"{said}/{fields.get('tool', '')}"
    shown = " ".join(said.split())[:_LONGEST]
    return shown or kind


_TELLING = ("command", "url", "server", "prompt")


def _program(command: str) -> str:
    """The script a command is about: `python3 hooks/check.py --fast` is check.py."""
    words = [word.replace('"', "").replace("'", "") for word in command.split()[:3]]
    if not words or not _PROGRAM.fullmatch(words[0]):
        return command.strip().split("\n")[0]
    base = words[0].rsplit("/", 1)[-1]
    if len(words) > 1 and _RUNNERS.fullmatch(base) and _PROGRAM.fullmatch(words[1]) and words[1][0] != "-":
        return words[1].rsplit("/", 1)[-1] or base
    return base
