"""Define what a scripted model must know of a request, whichever protocol it came in."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct


class Call(Struct, frozen=True):
    """A tool call of the model. Of several names the first that the client offers is used."""

    names: tuple[str, ...]
    given: Mapping[str, Any]
    #: For tools that take a text and no arguments.
    text: str = ""


class Result(Struct, frozen=True):
    """The result of a call, as the model read it."""

    text: str
    is_error: bool


class Conversation(Struct, frozen=True):
    """A request, as far as scripts depend on it."""

    #: Where the name of the script is.
    opening: str
    #: Names of tools.
    offered: frozenset[str]
    #: How many calls the model has made.
    made: int
    #: How they ended, by their number.
    results: Mapping[int, Result]
    #: Every text that the model read.
    received: frozenset[str]


class ModelProtocol(Protocol):
    def asks(self, path: str) -> bool:
        """Return True if a request to this path is one for the model."""
        ...

    def read(self, request: Any) -> Conversation: ...

    def write(self, request: Any, name: str, call: Call | None, number: int, *, stream: bool) -> bytes:
        """A call of the tool with this name, or a text; as events of a stream, or as one document."""
        ...

    def streams(self, path: str, request: Any) -> bool: ...


def as_events(events: Iterable[Mapping[str, Any]], *, named: bool = True) -> bytes:
    """The events of a stream."""
    lines = (
        (f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events
    )
    return "".join(lines).encode()


def call(names: str, **given: Any) -> Call:
    return Call(tuple(names.split("|")), given)
