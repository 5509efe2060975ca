"""The agent that called: how it names its events, what it says, and how it is answered."""

import os
import select
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from hookline.dialects.json_text import JsonTextError, read_lenient
from hookline.model.errors import HooklineError
from hookline.model.events import EventSpec, May
from hookline.model.outcome import Outcome, Vote
from hookline.model.policy import Policy
from hookline.model.wire import HookReply, Parsed

if TYPE_CHECKING:
    from hookline.config.load import Loader


#: The key under which payloads name their event.
_EVENT_KEYS: Mapping[str, str] = {"codewhale": "event", "reasonix": "event"}
#: Exit codes every agent understands: stopped, and went wrong without stopping anything.
CLOSED, FAILED = 2, 1


class CallError(HooklineError):
    """Why a call cannot be answered by hooks; the message says what to do."""


class Asked(Struct, frozen=True, eq=False):
    """An event as the agent names it, and how the agent behaves there."""

    name: str
    event: EventSpec[Any]
    policy: Policy

    @property
    def guards(self) -> bool:
        """Whether what nobody has judged must not happen."""
        return self.event.guard and bool(self.policy.may & May.BLOCK)


class Caller(Struct, frozen=True, eq=False):
    """One agent, from the side of its hooks."""

    name: str
    events: Mapping[str, Asked]
    parse: Callable[[Mapping[str, Any]], Parsed]
    answer: Callable[[str, Outcome], HookReply]

    @property
    def event_key(self) -> str:
        return _EVENT_KEYS.get(self.name, "hook_event_name")

    def named(self, word: str) -> Asked:
        """The event of that name. Raises `CallError` that says how the agent calls it."""
        found = self.events.get(word)
        if found is not None:
            return found
        # Only for these words.
        from hookline.matching.nearest import nearest

        own = [each.name for each in self.events.values() if each.event.name == word]
        close = nearest(word[:100], self.events)
        hint = (
            f"there it is called {' or '.join(own)}"
            if own
            else f"did you mean {close!r}?"
            if close
            else f"it has {', '.join(self.events)}"
        )
        raise CallError(f"{self.name} has no event {word[:100]!r}; {hint}")

    def closed(self, asked: Asked | None, why: str) -> HookReply:
        """What is said when no hook could be asked: a guard's no, elsewhere a failure that stops nothing."""
        if asked is not None and not asked.guards:
            return HookReply(FAILED, "", why)
        if asked is None:
            return HookReply(CLOSED, "", why)
        try:
            return self.answer(asked.name, Outcome(votes=(Vote("block", why),)))
        except Exception:  # noqa: BLE001 an answer that cannot even be written must not become a pass
            return HookReply(CLOSED, "", why)


def caller_of(loader: "Loader", name: str) -> Caller:
    """Raises `UnknownDialectError`, which says the nearest."""
    dialect = loader.dialect(name)
    asked = {
        each: Asked(each, own_event.event, own_event.policy) for each, own_event in dialect.events.items()
    }
    return Caller(name, asked, dialect.wire.parse, dialect.wire.answer)


#: More than any agent sends; whole files and long tool results stand in payloads.
LIMIT = 64 << 20
_CHUNK = 1 << 16
#: Agents that tell most of their events in variables, and how those begin.
_PREFIXES: Mapping[str, tuple[str, ...]] = {"codewhale": ("CODEWHALE_", "DEEPSEEK_")}
_ARGUMENTS = ("DEEPSEEK_TOOL_ARGS", "CODEWHALE_TOOL_ARGS", "tool_args")


def read_input(limit: int = LIMIT) -> bytes:
    """Everything on standard input, and a byte more than the limit where there is more."""
    if os.isatty(0):
        raise CallError("it reads an agent's payload from standard input; see hookline hook --help")
    parts: list[bytes] = []
    size = 0
    try:
        while size <= limit and (part := _part()):
            parts.append(part)
            size += len(part)
    except OSError as problem:
        raise CallError(f"the payload cannot be read: {problem.strerror}") from None
    return b"".join(parts)


def _part() -> bytes:
    while True:
        try:
            return os.read(0, _CHUNK)
        except BlockingIOError:  # an agent may hand us a stream that does not wait
            select.select((0,), (), ())


def document_of(raw: bytes, caller: Caller, env: Mapping[str, str], limit: int = LIMIT) -> dict[str, Any]:
    """The payload document. Raises `CallError` where there is none."""
    prefixes = _PREFIXES.get(caller.name, ())
    told: dict[str, Any] = {key: value for key, value in env.items() if prefixes and key.startswith(prefixes)}
    if not raw.strip() and prefixes:
        return told
    if len(raw) > limit:
        raise CallError(f"the payload has more than the {limit:,} bytes that are read")
    try:
        value = read_lenient(raw)
    except JsonTextError as problem:
        raise CallError(f"the payload of {caller.name} cannot be read as JSON: {problem}") from None
    if not isinstance(value, dict):
        raise CallError(f"the payload of {caller.name} is not a JSON object")
    return {**told, **cast("dict[str, Any]", value)}


def name_event(document: dict[str, Any], caller: Caller, asked: Asked | None) -> Asked:
    """Which event it is, said by the entry, the payload or both, which must agree; then the document says it."""
    key = caller.event_key
    told = document.get(key)
    if asked is None and not isinstance(told, str):
        raise CallError(_unnamed(caller, key, told))
    if asked is None:
        return caller.named(cast("str", told))
    if told is None:
        document[key] = asked.name
    elif told != asked.name:
        raise CallError(
            f"the payload is of {str(told)[:100]!r}, but the entry that runs this says {asked.name}: "
            "write the event's own name behind `hookline hook`"
        )
    return asked


def _unnamed(caller: Caller, key: str, told: Any) -> str:
    if caller.name in _PREFIXES:
        return (
            f"{caller.name} does not tell its hooks which event it is: write it into the entry, "
            f"hookline hook --dialect {caller.name} EVENT"
        )
    return f"{key} of the payload is {'missing' if told is None else 'not text'}"


def without_cut_arguments(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The document without arguments that the agent cut off; None where it cut none."""
    from hookline.dialects.codewhale.texts import TOLD_CUT

    cut = [name for name in _ARGUMENTS if str(document.get(name, "")).endswith(TOLD_CUT)]
    return {key: value for key, value in document.items() if key not in cut} if cut else None
