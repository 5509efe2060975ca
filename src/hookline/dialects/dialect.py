"""What a dialect is: another agent's hook format, its wire, and how it behaves at its own events."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from hookline.documents.document import Document
from hookline.handlers.registry import Handler
from hookline.matching.patterns import Patterns
from hookline.matching.shell import ShellReader
from hookline.model.diagnostics import Diagnostic
from hookline.model.events import EventSpec
from hookline.model.hook import Hook, Scope
from hookline.model.outcome import Outcome
from hookline.model.policy import Policy
from hookline.model.wire import Parsed, Told, Wire


class DialectEvent(Struct, frozen=True, eq=False):
    """An event under a dialect's own name, and how the dialect behaves there."""

    event: EventSpec[Any]
    policy: Policy
    #: Seconds a hook has when its entry does not say.
    timeout: float = 60.0

    @property
    def name(self) -> str:
        return self.policy.event_name


class Place(Struct, frozen=True):
    """A file in which hooks of a dialect may stand."""

    file: str
    scope: Scope
    #: Its own agent runs hooks from here only once the user has trusted them. Kept as a fact.
    needs_trust: bool = False


class Layer(Struct, frozen=True):
    """A file that is there, read."""

    place: Place
    document: Document


class Tools(Struct, frozen=True, eq=False):
    """What a reader needs to make hooks: the handlers they will run by, and compiled patterns."""

    handlers: Mapping[str, Handler]
    patterns: Patterns
    shell: ShellReader


class Reading(Struct, frozen=True):
    """The hooks of all layers, combined as the agent combines them, and everything that is wrong there."""

    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class ReversibleWire(Wire, Protocol):
    """A wire that can also stand on the other side: read an agent's payload, and answer that agent."""

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        """A payload in the agent's own shape. Raises ConfigError or UnknownEventError that say what is wrong."""
        ...

    def answer(self, event_name: str, outcome: Outcome) -> Told:
        """The outcome in the agent's own terms, and what of it the agent cannot express."""
        ...


class Dialect(Protocol):
    """One agent's hooks. Built once per engine; its policies are the same objects for all its hooks."""

    @property
    def name(self) -> str: ...

    @property
    def wire(self) -> ReversibleWire: ...

    @property
    def events(self) -> Mapping[str, DialectEvent]:
        """Its own event names."""
        ...

    @property
    def project_files(self) -> Sequence[str]:
        """Paths below a project that make it one of this agent's."""
        ...

    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        """Every file that may hold its hooks, in layer order, whether it is there or not. Pure."""
        ...

    def recognises(self, value: Any) -> bool:
        """Whether a document has the shape of this agent's configuration and of no other's."""
        ...

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        """Hooks in the order they run. One bad entry is reported and dropped; the rest load."""
        ...

    def moments(self, name: str) -> Sequence[DialectEvent]:
        """Every moment at which hooks under one of its own event names run: usually one."""
        ...

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        """The hook that `--hook EVENT=COMMAND` stands for, at one of those moments."""
        ...
