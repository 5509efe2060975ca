"""Describe the events of a small dialect: what each sends, what hooks may do there, and how their output is read."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from hookline.dialects.dialect import DialectEvent
from hookline.model.events import Capability, EventSpec
from hookline.model.policy import Policy

#: Keys of a document that have the names of the payload's fields.
CALL: Mapping[str, str] = {"tool_name": "tool_name", "tool_input": "tool_input", "tool_use_id": "tool_use_id"}


class EventRow(Struct, frozen=True, eq=False):
    """One event of an agent."""

    event: EventSpec[Any]
    #: Keys of its payload after those that all events have, each with the field that is sent there.
    sends: Mapping[str, str] = {}
    may: Capability = Capability.NOTHING
    #: The meaning of text on stdout that is not JSON.
    plain: Literal["context", "failure", "ignored"] = "ignored"
    #: False: exit 2 is a failure like any other code.
    exit_2_blocks: bool = True
    #: The values a matcher may be tested on; None for anything. Empty: matchers are not read here.
    subjects: tuple[str, ...] | None = None
    timeout: float | None = None
    policy: Mapping[str, Any] = {}
    #: A peculiarity of when it fires.
    remark: str = ""


def same(*names: str) -> dict[str, str]:
    """Return keys that have the names of the fields."""
    return {name: name for name in names}


def dialect_events(rows: Mapping[str, EventRow], timeout: float, **usual: Any) -> Mapping[str, DialectEvent]:
    """Return the events with their policies: new objects, because lanes are formed by identity within one engine."""
    return MappingProxyType(
        {
            name: DialectEvent(
                row.event,
                Policy(event_name=name, may=row.may, **{**usual, **row.policy}),
                timeout if row.timeout is None else row.timeout,
                row.remark,
            )
            for name, row in rows.items()
        }
    )
