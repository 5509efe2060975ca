"""One moment of a past session: what a hook of the agent would have been given, as far as its transcript says."""

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


class Moment(Struct, kw_only=True, eq=False):
    """Something that happened in a session.

    Values of `fields` may be JSON that nobody has read yet (`Raw`), or a function that makes them: most moments are
    only counted.
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
    #: The agent's own name of the event at which hooks are asked; empty: at none.
    event: str = ""
    #: The payload's keys that many moments share, and those of this one, by the agent's names.
    shared: Mapping[str, Any] = _NO_FIELDS
    fields: Mapping[str, Any] = _NO_FIELDS
    model: str = ""
    mode: str = ""
    subagent: str = ""
    #: Whether there was no user at a terminal; None: the transcript does not say.
    headless: bool | None = None
    #: Of calls and what became of them.
    tool: str = ""
    input: bytes = b""
    call_id: str = ""
    #: Whether hooks were asked for sure, if there were any: some calls are refused before.
    certain: bool = True

    def document(self, event_key: str = "hook_event_name") -> dict[str, Any]:
        """The payload that a hook of the agent was given."""
        document = {**self.shared, "cwd": self.cwd, event_key: self.event}
        for name, value in self.fields.items():
            document[name] = _decode(value) if type(value) is Raw else value() if callable(value) else value
        return document


class HookNote(Struct, kw_only=True, eq=False):
    """What a transcript itself says of a hook that its agent ran."""

    agent: str
    session: str
    at: float
    #: The agent's own name of the event.
    event: str
    #: The command of the hook, where that is said.
    command: str = ""
    call_id: str = ""
    #: What came of it: `ok`, `blocked` or `failed`.
    status: Literal["ok", "blocked", "failed"] = "ok"


class Unread(Struct, frozen=True, forbid_unknown_fields=True):
    """What of the transcripts could not be read."""

    torn_lines: int
    too_long_lines: int
    unknown_records: int
    duplicate_calls: int
    clock_jumps: int
    files: tuple[str, ...]


class Tally(Struct):
    """What was read, and what could not be."""

    files: int = 0
    bytes: int = 0
    lines: int = 0
    moments: int = 0
    #: Lines that are no JSON object, that end in the middle, or that are longer than any that is read.
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
