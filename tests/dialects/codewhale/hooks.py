"""Hooks of CodeWhale as text: a user's config.toml, and a project's hooks.toml where one is given."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hookline.dialects.codewhale import dialect
from hookline.events import Prompt, ToolCall, ToolFailure, ToolResult
from hookline.extending import LoadedHooks
from tests.dialects.hooked_agent import File, HookedAgent, read_hooks

CONFIG = "/home/u/.codewhale/config.toml"
PROJECT = "/proj/.codewhale/hooks.toml"

HELLO = Prompt(prompt="hello")


def agent_with(config: str, project: str | None = None, **info: Any) -> HookedAgent:
    return HookedAgent(dialect(), _files(config, project), **info)


def read_config(config: str, project: str | None = None) -> LoadedHooks:
    return read_hooks(dialect(), _files(config, project))


def _files(config: str, project: str | None) -> list[File]:
    files: list[File] = [(CONFIG, "user", config)]
    if project is not None:
        files.append((PROJECT, "project", project))
    return files


def entry(event: str, command: str, **more: Any) -> str:
    """One [[hooks.hooks]] entry; what a hook prints is easier to read as a plain Python text."""
    fields = {"event": event, "command": command, **more}
    return "[[hooks.hooks]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in fields.items())


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in table.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in cast("list[Any]", value)) + "]"
    return json.dumps(value)


def says(answer: Any, code: int = 0) -> str:
    """A command that prints this JSON and exits so."""
    return f"printf %s '{json.dumps(answer)}'; exit {code}"


def bash(command: str = "ls", **more: Any) -> ToolCall:
    return ToolCall(tool_name="bash", tool_input={"command": command}, **more)


def succeeded(response: Any = "fine", **more: Any) -> ToolResult:
    return ToolResult(tool_name="bash", tool_input={"command": "ls"}, tool_response=response, **more)


def failed(error: str = "boo", **more: Any) -> ToolFailure:
    return ToolFailure(tool_name="bash", tool_input={"command": "ls"}, error=error, **more)


def variables(file: Path) -> dict[str, str]:
    """Return CodeWhale's own variables of what `env -0 > file` wrote."""
    pairs = (pair.partition("=") for pair in file.read_text().split("\0"))
    return {key: value for key, _, value in pairs if key.startswith(("DEEPSEEK_", "CODEWHALE_"))}


def document(file: Path) -> Any:
    return json.loads(file.read_text())
