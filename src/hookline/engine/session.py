"""Hold one agent conversation: its hooks, counters, inbox and session info."""

import os
from collections.abc import Coroutine, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from msgspec.structs import replace

from hookline.engine.dispatch import dispatch
from hookline.engine.host.calls import HostCalls
from hookline.engine.memory import HookedSession, host_of, lanes_of
from hookline.model.events import EventSpec
from hookline.model.outcome import Outcome
from hookline.model.session_info import SessionChanges, SessionInfo

if TYPE_CHECKING:
    from hookline.config.engine import Engine
    from hookline.engine.explain import MatchResult
    from hookline.engine.host.make_hook import Action, HookOptions
    from hookline.engine.host.tool import Approve
    from hookline.journal.observer import Observer

P = TypeVar("P")


class Session(HookedSession, HostCalls):
    """One agent conversation: the state its hooks share, and the calls that a host makes.

    A subagent's session inherits hooks, not counters. ::

        async with engine.session("conversation 1", cwd=cwd) as session:
            prompt = await session.prompt("list the files")
            done = await session.tool("Bash", {"command": "ls"}, run=run_shell)
            end = await session.end("There are two.")
    """

    def __init__(
        self,
        engine: "Engine",
        info: SessionInfo,
        parent: "Session | None" = None,
        approve: "Approve | None" = None,
    ) -> None:
        super().__init__(engine, info, parent, approve)
        self._closed = False

    @property
    def id(self) -> str:
        """The id of the conversation."""
        return self.info.session_id

    async def close(self, reason: str = "other") -> None:
        """End the session: SessionEnd, if it had begun. From now on it refuses tools, prompts and requests."""
        if self._closed:
            return
        self._closed = True
        from hookline.engine.host import conversation  # noqa: PLC0415 hosts that only dispatch do without

        await conversation.close(self, reason)

    @property
    def closed(self) -> bool:
        """True once the session, a parent or the engine was closed: it refuses tools, prompts and requests.

        Its own hooks stay, for calls that had begun.
        """
        return self._closed or self.engine.closed or (self.parent is not None and self.parent.closed)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and host_of(self).is_open and not self.closed:
            await self.failed(error)
        await self.close()

    def dispatch(self, event: EventSpec[P], payload: P) -> Coroutine[Any, Any, Outcome]:
        """Run the hooks that concern this event; the outcome says what they want.

        ::

            outcome = await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name="Bash", tool_input={"command":
            "ls"}))
        """
        try:
            if type(payload) is not event.payload:
                self._check_payload(event, payload)
        except AttributeError:
            raise self._not_an_event(event, "dispatch({}, payload)") from None
        observer = self.engine.observer
        return (
            dispatch(self, event, payload) if observer is None else self._observed(observer, event, payload)
        )

    async def _observed(self, observer: "Observer", event: EventSpec[P], payload: P) -> Outcome:
        """Dispatch, then notify the observer."""
        if not lanes_of(self, event.name):
            return await dispatch(self, event, payload)
        watched, outcome = self.engine.journal.watched, None
        ended = watched(observer.began, self, event, payload)
        try:
            outcome = await dispatch(self, event, payload)
            return outcome
        finally:
            if ended is not None:
                watched(ended, outcome)

    def _check_payload(self, event: EventSpec[Any], payload: Any) -> None:
        try:
            fits = isinstance(payload, event.payload)
        except TypeError:  # a type of the host's that cannot be asked
            return
        if not fits:
            from hookline.engine.host.misuse import wrong_payload  # noqa: PLC0415 only for a mistake

            raise wrong_payload(event, payload)

    def _not_an_event(self, given: object, where: str) -> TypeError:
        from hookline.engine.host.misuse import not_an_event  # noqa: PLC0415 only for a mistake

        return not_an_event(given, self.engine.events, f"session.{where}")

    def has(self, event: EventSpec[Any]) -> bool:
        """Return True if any hook is configured for the event: cheap enough to check before building a
        payload.

        ::

            if session.has(PRE_MODEL_CALL):
                request = await session.model(messages)

        In a closed session it is True: whatever follows is refused.
        """
        try:
            if event.name in self._store.lanes:
                return True
        except AttributeError:
            raise self._not_an_event(event, "has({})") from None
        # A host that asks first must still call, to be refused.
        if self._merges:
            return event.name in self._merged() or self.closed
        return self._closed or self.engine.closed

    def update(self, **changes: "Unpack[SessionChanges]") -> None:
        """Change the session info that hooks get from now on: the options of `engine.session`, and
        `session_id`.

        ::

            session.update(cwd="/src/app", permission_mode="plan")
        """
        self.info = replace(self.info, **info_fields("session.update", changes))

    def add(
        self,
        event: EventSpec[P],
        action: "Action[P]",
        matcher: str | None = None,
        **options: "Unpack[HookOptions]",
    ) -> str:
        """Add a hook for this session: a function, a shell command or a guard. Returns the id to remove it
        by.

        The options are those of `engine.on`. ::

            hook_id = session.add(PRE_TOOL_USE, guard("force-push"))
            session.remove(hook_id)
        """
        from hookline.engine.host.make_hook import check_hook, make_hook  # noqa: PLC0415 only for hooks made in code

        check_hook("session.add", event, matcher, options, self.engine.events)
        hook = make_hook(self.engine.home, event, action, matcher, scope="session", **options)
        return self.add_hook(hook)

    def explain(self, event: EventSpec[P], payload: P) -> "list[MatchResult]":
        """Return every hook of the event, with True if it would run on this payload, and why."""
        from hookline.engine.explain import explain  # noqa: PLC0415 a dispatch never needs it

        return list(explain(lanes_of(self, event.name), event, payload, self))


_PATHS = frozenset({"cwd", "project_dir", "transcript_path"})


def info_fields(where: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return session fields in their stored form, paths as text. Raises TypeError for an unknown option."""
    fields = dict(options)
    for name, value in options.items():
        if name in _PATHS:
            if value is not None and type(value) is not str:
                fields[name] = os.fspath(value)
        elif name not in SessionInfo.__struct_fields__:
            from hookline.engine.host.misuse import unknown_option  # noqa: PLC0415 only for a mistake

            raise unknown_option(where, options, SessionInfo.__struct_fields__)
    return fields
