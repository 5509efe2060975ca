"""Define the interface between an event and a handler: encoding payloads, decoding raw results."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.events import EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import PASS, Outcome
from hookline.model.raw import Failed, RawResult
from hookline.model.safe_text import printable
from hookline.model.session_info import SessionInfo

if TYPE_CHECKING:
    import asyncio
    from weakref import ref


class Encoded(Struct, frozen=True):
    """The input of external code: a document on stdin or as a body, and environment variables."""

    document: bytes = b""
    env: Mapping[str, str] = {}


class Decoded(Struct, frozen=True):
    """The decoded raw result. An answer and a failure may come together."""

    outcome: Outcome = PASS
    failure: Failed | None = None
    #: Parts of the answer that are ignored at this event, by name.
    ignored: tuple[str, ...] = ()


NOTHING_SAID = Decoded()


#: Shared: a dict as default would be made anew for each call.
_NO_FILES: Mapping[str, bytes] = MappingProxyType({})
_NO_ENV: Mapping[str, str] = MappingProxyType({})


class HookInvocation(Struct, eq=False):
    """One hook about to run: everything a handler needs."""

    hook: Hook
    event: EventSpec[Any]
    payload: Any
    info: SessionInfo
    timeout: float
    #: Unlike that of any other call, also in other processes; a fork of this process may repeat it.
    number: int = 0
    #: Start time by perf_counter.
    started: float = 0.0
    #: Texts of the command that name files, and the bytes to use instead of those on disk.
    files: Mapping[str, bytes] = _NO_FILES
    #: Only its denials and questions are used, and not its words.
    only_tightens: bool = False
    #: The directory of a hook's process, if not the one in its payload.
    directory: str = ""
    #: The tool's name in the hook's format, if it differs from the call's.
    translated_tool: str = ""
    #: Why the tool call cannot be read: a guard must not judge it.
    doubt: str = ""
    #: Why the match is uncertain, where the hook's condition holds only in doubt.
    match_doubt: str = ""
    #: A guard that runs again, on the final value.
    recheck: bool = False
    #: Seconds that its function blocked the event loop, where known.
    longest_step: float = 0.0
    #: Turns an answer about one action into a denial if its rewrite cannot be put into the call.
    checked: Callable[[Outcome, Hook, EventSpec[Any]], Outcome] | None = None
    #: Variables for its process, beside those of its entry and its wire.
    env: Mapping[str, str] = _NO_ENV
    #: Called with each line of output while the hook runs.
    on_line: Callable[[bytes], None] | None = None
    #: The task that waits for it, as long as it does. Weak: a running hook must not keep a dropped loop alive.
    task: "ref[asyncio.Task[Any]] | None" = None
    #: Why it was skipped while it ran; it has no say then.
    skipped: str = ""

    @property
    def run_id(self) -> str:
        """Its number as text, which identifies the run."""
        return str(self.number)


class Parsed(Struct, frozen=True):
    """A payload document read back."""

    event: EventSpec[Any]
    payload: Any
    info: SessionInfo


class EventRequest(Parsed, frozen=True):
    """One event to fire, with its payload and the session it happens in."""

    #: The agent that calls, by the name of its dialect; None where calls have canonical names.
    dialect: str | None = None
    #: That agent's own name of the event; None for the event under any name.
    event_name: str | None = None

    def concerns(self, hook: Hook) -> bool:
        """Return False for a hook under another name: several names of a dialect may share an event."""
        return (
            self.event_name is None
            or hook.event is not self.event
            or hook.dialect != self.dialect
            or hook.policy.event_name == self.event_name
        )


_HOLDING_BACK = ("deny", "ask", "defer")


class HookReply(Struct, frozen=True):
    """An outcome in another agent's terms: exit code and output of Hookline when it is called as a hook."""

    code: int = 0
    stdout: str = ""
    stderr: str = ""
    #: Parts that the agent cannot express, by name.
    lost: tuple[str, ...] = ()

    def with_lines(self, problems: Sequence[str]) -> "HookReply":
        """Add problems that change no answer to stderr, unless the agent reads stderr as the reason for a block."""
        if self.code != 0 or not problems:
            return self
        lines = "\n".join(printable(f"hookline: {problem}") for problem in problems)
        return replace(self, stderr=f"{self.stderr}\n{lines}".strip())

    def without_stdout(self, outcome: Outcome) -> str:
        """Return the text for a blocking exit if stdout cannot be written and holds the agent back; else nothing."""
        if not (outcome.permission in _HOLDING_BACK or outcome.edits or outcome.stop):
            return ""
        return (
            self.stderr or outcome.reason or outcome.stop_reason or "its answer cannot be written to stdout"
        )


class Wire(Protocol):
    """A dialect's translation to and from hooks. Stateless.

    A wire may also have `tools`, the table of its agent's tools, and `standard_tools`, True if these have
    canonical names. Hooks of a wire without them get tool calls as they are made.
    """

    def encode(self, call: HookInvocation) -> Encoded: ...

    def decode(self, call: HookInvocation, raw: RawResult) -> Decoded: ...

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        """Return the payload as the next hook sees it, after the outcome so far."""
        ...
