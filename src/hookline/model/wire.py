"""Between an event and a handler: how a payload is encoded, and how a raw result is decoded."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from msgspec import Struct

from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import GO_ON, Outcome
from hookline.model.raw import Broke, RawResult
from hookline.model.scene import Scene


class Encoded(Struct, frozen=True):
    """What external code gets: a document on stdin or as a body, and environment variables."""

    document: bytes = b""
    env: Mapping[str, str] = {}


class Decoded(Struct, frozen=True):
    """What a raw result says. An answer and a failure may come together."""

    outcome: Outcome = GO_ON
    failure: Broke | None = None
    #: What the hook said that is ignored at this event, by name.
    ignored: tuple[str, ...] = ()


NOTHING_SAID = Decoded()


#: Shared: a dict as default would be made anew for each call.
_NO_FILES: Mapping[str, bytes] = MappingProxyType({})
_NO_ENV: Mapping[str, str] = MappingProxyType({})


class Call(Struct, eq=False):
    """One hook about to run: everything a handler needs."""

    hook: Hook
    event: EventSpec[Any]
    payload: Any
    scene: Scene
    timeout: float
    #: Unlike that of any other call, also in other processes; in a fork of this one it may come again.
    number: int = 0
    #: When it began, by perf_counter.
    started: float = 0.0
    #: Texts of the command that name files, and the bytes to use instead of what is on disk.
    files: Mapping[str, bytes] = _NO_FILES
    #: Only its denials and questions count, and not its words.
    only_tightens: bool = False
    #: Where the process of a hook runs, if not in the directory that it is told.
    directory: str = ""
    #: The tool's name as the hook is told it, if that is not the one it was called by.
    told_as: str = ""
    #: Why it cannot be said what the tool call does: a guard must not judge it.
    doubt: str = ""
    #: What could not be told, where the hook's condition holds only in doubt.
    match_doubt: str = ""
    #: A guard that is asked again about the final value.
    recheck: bool = False
    #: Seconds that its function kept the event loop from everything else, where that is known.
    longest_step: float = 0.0
    #: An answer about one act of a call becomes a denial if what it rewrites cannot be put into the call.
    checked: Callable[[Outcome, Hook, EventSpec[Any]], Outcome] | None = None
    #: Variables for its process, beside those of its entry and its wire.
    env: Mapping[str, str] = _NO_ENV
    #: Called with each line of output while the hook runs.
    on_line: Callable[[bytes], None] | None = None

    @property
    def run_id(self) -> str:
        """Its number as text, by which runs are told apart."""
        return str(self.number)


class Parsed(Struct, frozen=True):
    """A payload document read back."""

    event: EventSpec[Any]
    payload: Any
    scene: Scene


class HookReply(Struct, frozen=True):
    """An outcome in another agent's terms: exit code and output of Hookline when it is called as a hook."""

    code: int = 0
    stdout: str = ""
    stderr: str = ""
    #: What the agent cannot express, by name.
    lost: tuple[str, ...] = ()


class Wire(Protocol):
    """How one dialect talks to hooks. Stateless.

    A wire may also have `tools`, the table of its agent's tools, and `standard_tools`, whether these have canonical
    names. Hooks of a wire without them are told tool calls as they are made.
    """

    def encode(self, call: Call) -> Encoded: ...

    def decode(self, call: Call, raw: RawResult) -> Decoded: ...

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        """The payload as the next hook sees it, after the outcome so far."""
        ...
