"""Describe one event of a past session: the payload that a hook would have received, as far as the transcript
has it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

Kind = Literal[
    "start", "prompt", "call", "result", "failure", "denial", "batch", "turn_end",
    "subagent_start", "subagent_end", "end",
]  # fmt: skip

_NO_FIELDS: Mapping[str, Any] = MappingProxyType({})
_decode = msgspec.json.Decoder().decode


class RecordedEvent(Struct, kw_only=True, eq=False):
    """An event of a past session.

    Values of `fields` may be undecoded JSON (`Raw`) or a function that makes them: most events are only
    counted.
    """

    kind: Kind
    #: The dialect whose agent it was.
    agent: str
    session: str
    #: Seconds since 1970; 0: not known.
    at: float
    #: Where the agent was.
    cwd: str
    #: Where the session began.
    began_in: str = ""
    #: The agent's name of the event at which hooks run; empty: no hooks run.
    event: str = ""
    #: Payload keys shared by many events, and those of this one, by the agent's names.
    shared: Mapping[str, Any] = _NO_FIELDS
    fields: Mapping[str, Any] = _NO_FIELDS
    model: str = ""
    mode: str = ""
    subagent: str = ""
    #: True if no user was at a terminal; None: the transcript does not say.
    headless: bool | None = None
    #: For calls and their results.
    tool: str = ""
    input: bytes = b""
    call_id: str = ""
    #: False if the agent may have refused the call before any hook ran.
    certain: bool = True

    def document(self, event_key: str = "hook_event_name") -> dict[str, Any]:
        """Return the payload that a hook of the agent received."""
        document = {**self.shared, "cwd": self.cwd, event_key: self.event}
        for name, value in self.fields.items():
            document[name] = _decode(value) if type(value) is Raw else value() if callable(value) else value
        return document


class HookNote(Struct, kw_only=True, eq=False):
    """A transcript's own record of a hook that its agent ran."""

    agent: str
    session: str
    at: float
    #: The agent's own name of the event.
    event: str
    #: The command of the hook, if recorded.
    command: str = ""
    call_id: str = ""
    #: `ok`, `blocked` or `failed`.
    status: Literal["ok", "blocked", "failed"] = "ok"


class Unread(Struct, frozen=True, forbid_unknown_fields=True):
    """Counts of unreadable parts of transcripts."""

    torn_lines: int
    too_long_lines: int
    unknown_records: int
    duplicate_calls: int
    clock_jumps: int
    files: tuple[str, ...]


class Tally(Struct):
    """Counts of what was read, and of what could not be read."""

    files: int = 0
    bytes: int = 0
    lines: int = 0
    recorded_events: int = 0
    #: Lines that are not JSON objects, that are cut off, or that are too long.
    torn: int = 0
    too_long: int = 0
    #: Records of a kind or shape that is not known: a newer version of the agent wrote them.
    unknown: int = 0
    #: Calls with an id that the same session has had.
    duplicates: int = 0
    #: How often the time of a record was more than a minute before that of the one above it.
    clock_jumps: int = 0
    unreadable: list[str] = []

    @property
    def unread(self) -> Unread:
        files = tuple(self.unreadable)
        return Unread(self.torn, self.too_long, self.unknown, self.duplicates, self.clock_jumps, files)

    def add(self, other: "Tally") -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
