"""Hooks of the native format that give one answer."""

import json
import shlex
from typing import Any


def command(line: str, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": line, **more}


def answers(event: str, **specific: Any) -> dict[str, Any]:
    """A command that prints this as its `hookSpecificOutput`."""
    document = {"hookSpecificOutput": {"hookEventName": event, **specific}}
    return command(f"printf '%s' {shlex.quote(json.dumps(document))}")


def on(event: str, *hooks: dict[str, Any], matcher: str | None = None) -> dict[str, Any]:
    group: dict[str, Any] = {"hooks": list(hooks)}
    if matcher is not None:
        group["matcher"] = matcher
    return {event: [group]}


def denies(reason: str) -> dict[str, Any]:
    return command(f"echo {shlex.quote(reason)} >&2; exit 2")
