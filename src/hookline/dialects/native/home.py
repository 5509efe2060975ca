"""What hooks made in Python are: native ones."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hookline.dialects.native.events import NativePolicies
from hookline.dialects.native.wire import NativeWire
from hookline.handlers.registry import Handler
from hookline.model.events import EventSpec
from hookline.model.hook import Condition, Matcher
from hookline.model.policy import Policy

if TYPE_CHECKING:
    from hookline.dialects.native.settings import NativeReader
    from hookline.matching.patterns import Patterns
    from hookline.matching.shell import ShellReader


class NativeHome:
    """The native wire, policies and matchers for the rows of one engine.

    What reads matchers and files is loaded when the first one is read: an engine whose hooks are plain
    functions needs neither.
    """

    def __init__(self, events: Mapping[str, EventSpec[Any]]) -> None:
        self._events = events
        self.wire = NativeWire()
        self.policies = NativePolicies(events.values())
        self._tables: tuple[Patterns, ShellReader] | None = None

    def policy(self, event: EventSpec[Any]) -> Policy:
        return self.policies.of(event)

    def tables(self) -> "tuple[Patterns, ShellReader]":
        """What compiled patterns and read shell lines are remembered in, for this engine."""
        if self._tables is None:
            from hookline.matching.patterns import Patterns  # noqa: PLC0415 see the class
            from hookline.matching.shell import ShellReader  # noqa: PLC0415 see the class

            self._tables = (Patterns(), ShellReader())
        return self._tables

    def reader(self, handlers: Mapping[str, Handler]) -> "NativeReader":
        """Reads native configuration into hooks of the same lanes as those made in Python."""
        from hookline.dialects.native.settings import NativeReader  # noqa: PLC0415 see the class

        patterns, shell = self.tables()
        return NativeReader(
            events=self._events,
            policies=self.policies,
            handlers=handlers,
            wire=self.wire,
            patterns=patterns,
            shell=shell,
        )

    def match(
        self, event: EventSpec[Any], matcher: str | None, condition: str | None
    ) -> tuple[Matcher | None, Condition | None]:
        """Raises PatternError for a pattern that cannot be understood, or can never match at this event."""
        if not matcher and not condition:
            return None, None
        from hookline.matching.conditions import joined, problem  # noqa: PLC0415 see the class
        from hookline.matching.matchers import native_matcher  # noqa: PLC0415 see the class
        from hookline.matching.tool_rules import tool_condition  # noqa: PLC0415 see the class
        from hookline.model.errors import PatternError  # noqa: PLC0415 see the class

        matches, holds = native_matcher(matcher, *self.tables())
        wanted = tool_condition(condition, *self.tables()) if condition else None
        both = joined(holds, wanted)
        never = problem(both, event)
        if never is not None:
            raise PatternError(condition or matcher or "", never)
        return matches, both
