"""The agent that called: its events, the payload it sends, and how it is answered."""

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
#: Exit codes that mean the same to every agent: do not go on, and a failure that stops nothing.
BLOCKED, FAILED = 2, 1


class CallError(HooklineError):
    """A call that no hook can answer; the message says why, and what to do."""


class AgentEvent(Struct, frozen=True, eq=False):
    """An event as the agent names it, and how the agent behaves there."""

    name: str
    event: EventSpec[Any]
    policy: Policy

    @property
    def guards(self) -> bool:
        """Whether a call that no hook has judged must be blocked."""
        return self.event.guard and bool(self.policy.may & May.BLOCK)


class Caller(Struct, frozen=True, eq=False):
    """One agent, as its hooks see it."""

    name: str
    events: Mapping[str, AgentEvent]
    parse: Callable[[Mapping[str, Any]], Parsed]
    answer: Callable[[str, Outcome], HookReply]

    @property
    def event_key(self) -> str:
        return _EVENT_KEYS.get(self.name, "hook_event_name")

    def named(self, word: str) -> AgentEvent:
        """The event of that name. Raises `CallError`, which suggests the right name."""
        found = self.events.get(word)
        if found is not None:
            return found
        # Only here: a call that is right does not need it.
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

    def closed(self, asked: AgentEvent | None, why: str) -> HookReply:
        """The answer when no hook could be asked: a block for a guard, else a failure that stops nothing."""
        if asked is not None and not asked.guards:
            return HookReply(FAILED, "", why)
        if asked is None:
            return HookReply(BLOCKED, "", why)
        try:
            return self.answer(asked.name, Outcome(votes=(Vote("block", why),)))
        except Exception:  # noqa: BLE001 an answer that cannot be written must not become a pass
            return HookReply(BLOCKED, "", why)


def caller_of(loader: "Loader", name: str) -> Caller:
    """Raises `UnknownDialectError`, which suggests the nearest."""
    dialect = loader.dialect(name)
    events = {each: AgentEvent(each, event.event, event.policy) for each, event in dialect.events.items()}
    return Caller(name, events, dialect.wire.parse, dialect.wire.answer)


#: More than any agent sends; payloads hold whole files and long tool results.
LIMIT = 64 << 20
_CHUNK = 1 << 16
#: Agents that pass most of their payload in environment variables, and how those begin.
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
        except BlockingIOError:  # an agent may pass a non-blocking stream
            select.select((0,), (), ())


def document_of(raw: bytes, caller: Caller, env: Mapping[str, str], limit: int = LIMIT) -> dict[str, Any]:
    """The payload document. Raises `CallError` if there is none."""
    prefixes = _PREFIXES.get(caller.name, ())
    variables: dict[str, Any] = {
        key: value for key, value in env.items() if prefixes and key.startswith(prefixes)
    }
    if not raw.strip() and prefixes:
        return variables
    if len(raw) > limit:
        raise CallError(f"the payload has more than the {limit:,} bytes that Hookline reads")
    try:
        value = read_lenient(raw)
    except JsonTextError as problem:
        raise CallError(f"the payload of {caller.name} cannot be read as JSON: {problem}") from None
    if not isinstance(value, dict):
        raise CallError(f"the payload of {caller.name} is not a JSON object")
    return {**variables, **cast("dict[str, Any]", value)}


def name_event(document: dict[str, Any], caller: Caller, named: AgentEvent | None) -> AgentEvent:
    """The event, as named by the entry, the payload or both, which must agree; and name it in the payload."""
    key = caller.event_key
    in_payload = document.get(key)
    if named is None:
        if not isinstance(in_payload, str):
            raise CallError(_unnamed(caller, key, in_payload))
        return caller.named(in_payload)
    if in_payload is None:
        document[key] = named.name
    elif in_payload != named.name:
        raise CallError(
            f"the payload is of {str(in_payload)[:100]!r}, but the entry that runs this says {named.name}: "
            "write the event's own name behind `hookline hook`"
        )
    return named


def _unnamed(caller: Caller, key: str, found: Any) -> str:
    if caller.name in _PREFIXES:
        return (
            f"{caller.name} does not tell its hooks which event it is: write it into the entry, "
            f"hookline hook --dialect {caller.name} EVENT"
        )
    return f"{key} of the payload is {'missing' if found is None else 'not text'}"


def without_cut_arguments(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The payload without the arguments that the agent truncated; None if it truncated none."""
    from hookline.dialects.codewhale.texts import PAYLOAD_CUT

    cut = [name for name in _ARGUMENTS if str(document.get(name, "")).endswith(PAYLOAD_CUT)]
    return {key: value for key, value in document.items() if key not in cut} if cut else None
