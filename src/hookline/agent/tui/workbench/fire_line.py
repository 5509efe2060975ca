"""Write the `hookline fire` line that fires an event again, at a terminal."""

import shlex
from typing import TYPE_CHECKING, Any

import msgspec

from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from hookline.agent.hooks import FiredEvent
    from hookline.config.engine import Engine

#: Characters of a line; a longer one would be a nuisance in a shell, and the payload goes into a file instead.
_LONGEST = 4000


def fire_line(fired: "FiredEvent") -> str | None:
    """Return the line; None if it would be too long."""
    payload, fields = fired.payload, set_fields(fired.payload)
    tool = getattr(payload, "tool_name", None)
    given: dict[Any, Any] | None = getattr(payload, "tool_input", None)
    if isinstance(tool, str) and type(given) is dict and fields.keys() <= _OF_CALLS and _are_keys(given):
        words = [fired.event, tool, *(_setting(name, value) for name, value in given.items())]
    else:
        words = [fired.event, *(_setting(name, value) for name, value in fields.items())]
    line = f"hookline fire {shlex.join(words)}"
    return line if len(line) <= _LONGEST else None


def fire_payload_line(file: str) -> str:
    """Return the line that fires the payload in a file."""
    return f"hookline fire --payload {shlex.quote(file)}"


def payload_document(engine: "Engine", fired: "FiredEvent") -> bytes:
    """Return the payload as `fire --payload` reads it."""
    event = engine.events[fired.event]
    hook = engine.make_hook(event, "true")
    return hook.wire.encode(HookInvocation(hook, event, fired.payload, fired.info, 1.0)).document


#: Fields of a call that do not change which line fires it.
_OF_CALLS = frozenset({"tool_name", "tool_input", "tool_use_id", "tool_category"})


def _are_keys(given: dict[Any, Any]) -> bool:
    """Return True if the words of a line can set these keys: a dot would be a level, an equals sign its end."""
    return all(isinstance(key, str) and key and not set(key) & set(".=: ") for key in given)


def set_fields(payload: Any) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    if not isinstance(payload, msgspec.Struct):
        return {}
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(type(payload)):
        value = getattr(payload, field.name)
        default = (
            field.default_factory()
            if field.default is msgspec.NODEFAULT and callable(field.default_factory)
            else field.default
        )
        if value is not None and value != default:
            found[field.encode_name] = value
    return found


def _setting(name: str, value: Any) -> str:
    if isinstance(value, str):
        return f"{name}={value}"
    return f"{name}:={msgspec.json.encode(value, enc_hook=str).decode()}"
