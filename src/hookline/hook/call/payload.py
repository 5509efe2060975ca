"""Read what the calling agent sends: a document on standard input, environment variables, or both; and its
event."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.json_text import JsonTextError, read_lenient
from hookline.model.errors import HooklineError

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect, DialectEvent

#: More than any agent sends; payloads hold whole files and long tool results.
_MOST_BYTES = 64 << 20
_CHUNK = 1 << 16


class CallError(HooklineError):
    """A call that no hook can answer; the message says why, and what to do."""


def read_input(most: int = _MOST_BYTES) -> bytes:
    """Read everything on standard input, up to a byte more than the limit."""
    if os.isatty(0):
        raise CallError("it reads an agent's payload from standard input; see hookline hook --help")
    parts: list[bytes] = []
    size = 0
    try:
        while size <= most and (part := _part()):
            parts.append(part)
            size += len(part)
    except OSError as problem:
        raise CallError(f"the payload cannot be read: {problem.strerror}") from None
    return b"".join(parts)


def _part() -> bytes:
    while True:
        try:
            return os.read(0, _CHUNK)
        except BlockingIOError:  # an agent may pass a non-blocking stream
            import select

            select.select((0,), (), ())


def read_payload(
    raw: bytes, dialect: "Dialect", env: Mapping[str, str], most: int = _MOST_BYTES
) -> dict[str, Any]:
    """Return the payload document. Raises `CallError` if there is none."""
    prefixes = dialect.payload_variables
    variables: dict[str, Any] = {
        key: value for key, value in env.items() if prefixes and key.startswith(prefixes)
    }
    if not raw.strip() and prefixes:
        return variables
    if len(raw) > most:
        raise CallError(f"the payload has more than the {most:,} bytes that Hookline reads")
    try:
        value = read_lenient(raw)
    except JsonTextError as problem:
        raise CallError(f"the payload of {dialect.name} cannot be read as JSON: {problem}") from None
    if not isinstance(value, dict):
        raise CallError(f"the payload of {dialect.name} is not a JSON object")
    return {**variables, **cast("dict[str, Any]", value)}


def event_named(dialect: "Dialect", name: str) -> "DialectEvent":
    """Return the agent's event of that name. Raises `CallError`, which suggests the right name."""
    found = dialect.events.get(name)
    if found is not None:
        return found
    # Only here: a correct call does not need it.
    from hookline.matching.nearest import nearest

    own = [each for each, event in dialect.events.items() if event.event.name == name]
    if own:
        hint = f"there it is called {' or '.join(own)}"
    elif close := nearest(name[:100], dialect.events):
        hint = f"did you mean {close!r}?"
    else:
        hint = f"it has {', '.join(dialect.events)}"
    raise CallError(f"{dialect.name} has no event {name[:100]!r}; {hint}")


def event_of(document: dict[str, Any], dialect: "Dialect", named: "DialectEvent | None") -> "DialectEvent":
    """Return the event, as the entry, the payload or both name it; both must agree. The payload names it
    afterwards."""
    key = dialect.event_key
    in_payload = document.get(key)
    if named is None:
        if not isinstance(in_payload, str):
            raise CallError(_unnamed(dialect, in_payload))
        return event_named(dialect, in_payload)
    if in_payload is None:
        document[key] = named.name
    elif in_payload != named.name:
        raise CallError(
            f"the payload is of {str(in_payload)[:100]!r}, but the entry that runs this says {named.name}: "
            "write the event's own name behind `hookline hook`"
        )
    return named


def _unnamed(dialect: "Dialect", found: Any) -> str:
    if not dialect.names_event:
        return (
            f"{dialect.name} payloads do not name their event: write it into the entry, "
            f"hookline hook --dialect {dialect.name} EVENT"
        )
    return f"{dialect.event_key} of the payload is {'missing' if found is None else 'not text'}"
