"""Entries that make an agent call Hookline at its events."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct


class HookCall(Struct, frozen=True):
    """One entry to write: at this event of the agent, run this command."""

    event: str
    command: str
    seconds: int
    #: Whether the action must not go ahead when the call fails.
    guards: bool


def grouped_entries(calls: Sequence[HookCall], **for_guards: str) -> str:
    """Event, groups, hooks as JSON: the shape of the Claude family. Guards get the further fields."""
    return as_json({"hooks": {call.event: [{"hooks": [_handler(call, for_guards)]}] for call in calls}})


def _handler(call: HookCall, for_guards: dict[str, str]) -> dict[str, Any]:
    handler = {"type": "command", "command": call.command, "timeout": call.seconds}
    return handler | for_guards if call.guards else handler


def closed_in_shell(command: str) -> str:
    """The command of a guard whose agent goes on if Hookline cannot be run: then the shell blocks in its place.

    An exit code 2 is Hookline's own, and it has said why.
    """
    told = "install hookline again, or remove its entries from the hooks of this agent"
    close = f"[ $? = 2 ] || echo 'hookline could not be run, so this was blocked: {told}' >&2; exit 2;"
    return f"{command} || {{ {close} }}"


def as_json(value: Any) -> str:
    import json  # noqa: PLC0415 rarely needed

    return json.dumps(value, indent=2, ensure_ascii=False)


def quoted(text: str) -> str:
    """A text as JSON, TOML and YAML all read it."""
    import json  # noqa: PLC0415 rarely needed

    return json.dumps(text)
