"""Reading what a payload knows, whatever record a host chose for it."""

from collections.abc import Mapping
from typing import Any, cast

from hookline.model.events import EventSpec


def read(payload: Any, name: str) -> Any:
    """The field, None where the payload has none."""
    if isinstance(payload, Mapping):
        return cast("Mapping[str, Any]", payload).get(name)
    return getattr(payload, name, None)


def knows(event: EventSpec[Any], *names: str) -> bool:
    """Whether payloads of this event can have one of these fields. True when their shape is not declared."""
    shape: Any = event.payload
    declared: Any = getattr(shape, "__struct_fields__", None) or getattr(shape, "__annotations__", None)
    return not declared or any(name in declared for name in names)


def subject_of(event: EventSpec[Any], payload: Any) -> str | None:
    """What a matcher tests; None where the event has no subject or the payload does not say it."""
    value = read(payload, event.subject) if event.subject else None
    return value if isinstance(value, str) else None
