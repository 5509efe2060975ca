"""The agent that called: how it names its events, what it says, and how it is answered."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.config.recognising import NATIVE
from hookline.dialects.native.vocabulary import NativePolicies
from hookline.dialects.native.wire import NativeWire
from hookline.model.errors import HooklineError
from hookline.model.events import EventSpec, May
from hookline.model.outcome import Outcome, Vote
from hookline.model.policy import Policy
from hookline.model.wire import Parsed, Told

if TYPE_CHECKING:
    from hookline.config.loading import Loader

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
    answer: Callable[[str, Outcome], Told]

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

    def closed(self, asked: Asked | None, why: str) -> Told:
        """What is said when no hook could be asked: a guard's no, elsewhere a failure that stops nothing."""
        if asked is not None and not asked.guards:
            return Told(FAILED, "", why)
        if asked is None:
            return Told(CLOSED, "", why)
        try:
            return self.answer(asked.name, Outcome(votes=(Vote("block", why),)))
        except Exception:  # noqa: BLE001 an answer that cannot even be written must not become a pass
            return Told(CLOSED, "", why)


def caller_of(loader: "Loader", name: str, events: Mapping[str, EventSpec[Any]]) -> Caller:
    """Raises `UnknownDialectError`, which says the nearest."""
    if name == NATIVE:
        return _native(events)
    dialect = loader.dialect(name)
    asked = {each: Asked(each, spelled.event, spelled.policy) for each, spelled in dialect.spellings.items()}
    return Caller(name, asked, dialect.wire.parse, dialect.wire.answer)


def _native(events: Mapping[str, EventSpec[Any]]) -> Caller:
    wire, policies = NativeWire(), NativePolicies(events.values())
    return Caller(
        NATIVE,
        {name: Asked(name, event, policies.of(event)) for name, event in events.items()},
        lambda document: wire.parse(document, events),
        lambda name, outcome: wire.answer(events[name], outcome),
    )
