"""The payload as the next hook sees it, for dialects in which a rewrite replaces the field of the event."""

from collections.abc import Mapping
from typing import Any, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace

from hookline.model.events import EventSpec, field_of
from hookline.model.outcome import Outcome, edited


def with_edits(event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
    """The payload with the event's field as the edits left it; the same object when there are none."""
    field = event.rewrites
    if not field or not outcome.edits:
        return payload
    value = before = field_of(payload, field)
    for edit in outcome.edits:
        if edit.field in ("", field):
            value = edited(value, edit) if edit.whole is UNSET else edit.whole
    return payload if value is before else _replaced(payload, field, value)


def _replaced(payload: Any, field: str, value: Any) -> Any:
    if isinstance(payload, Mapping):
        return {**cast("Mapping[str, Any]", payload), field: value}
    if isinstance(payload, Struct):
        return replace(payload, **{field: value})
    import dataclasses  # noqa: PLC0415 - only hosts with rows of their own have such payloads

    return dataclasses.replace(payload, **{field: value})
