"""Replace a hook's own code: by a failure that the test wants to see, or the answer of a model."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from hookline.engine.lanes import Lane
from hookline.handlers.command import CommandHandler, hook_environment
from hookline.handlers.deadline import bounded
from hookline.handlers.http.handler import HttpHandler
from hookline.handlers.process.pool import Processes
from hookline.handlers.registry import Handler, Handlers, standard_handlers
from hookline.model.hook import Hook
from hookline.model.policy import Cause
from hookline.model.raw import Failed, RawResult, Replied
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from hookline.testing.http import AnsweringPoster

#: Kinds of hooks that ask something a test does not have.
ASKING = ("prompt", "agent", "mcp_tool")
_OURS = "HOOKLINE_"


def failure(cause: Cause) -> RawResult:
    """Return the result of a hook that fails for this cause."""
    return Failed(cause, "the test wants it to fail", exit_code=1 if cause == "crashed" else None)


def reply(answer: Any) -> RawResult:
    """Return the answer of a model or a server: text as it is, anything else as JSON."""
    return Replied(answer.encode() if isinstance(answer, str) else msgspec.json.encode(answer))


class Switch:
    """Switch between a hook's own code and its stand-in. `answered`: the real code of every kind is available."""

    own_clock = True

    def __init__(self, handler: Handler, stand_ins: Mapping[str, RawResult], *, answered: bool) -> None:
        self.kind = handler.kind
        self._handler = handler
        self._stand_ins = stand_ins
        self._answered = answered

    async def run(self, call: HookInvocation) -> RawResult:
        hook = call.hook
        raw = self._stand_ins.get(hook.name)
        if raw is None and hook.kind in ASKING and not self._answered:
            text = f"a test has nothing that answers {hook.kind} hooks: hooks.answers({hook.name!r}, ...)"
            raw = Failed("not_started", text)
        if raw is not None:
            return raw
        if self._handler.own_clock:
            return await self._handler.run(call)
        return await bounded(self._handler.run(call), call.timeout)

    def problem(self, spec: Any) -> str | None:
        return self._handler.problem(spec)

    async def close(self) -> None:
        await self._handler.close()


def put_switches(lanes: Sequence[Lane], stand_ins: Mapping[str, RawResult], *, answered: bool) -> None:
    """Let something stand in for the code of these hooks from now on."""
    for prepared in (each for lane in lanes for each in lane.hooks):
        if prepared.handler is not None and not isinstance(prepared.handler, Switch):
            prepared.run_by(Switch(prepared.handler, stand_ins, answered=answered))


def handlers_for_tests(http: "AnsweringPoster") -> Handlers:
    """Return the handlers of a test: real commands, no network, no model, and no variable of Hookline's own."""
    # Until they run, which they never do here, handlers only check that it exists.
    present: Any = object()
    own: dict[str, Handler] = {
        "command": CommandHandler(Processes(), environment=_environment),
        "http": http_handler(http),
    }
    return standard_handlers(completer=present, agent_runner=present, mcp=present) | own


def http_handler(http: "AnsweringPoster") -> Handler:
    return HttpHandler(environ=os.environ, poster=http)


def _environment(
    _base: Mapping[str, str], hook: Hook, extra: Mapping[str, str]
) -> Mapping[str, str] | Failed:
    """Return the environment with variables that the test has set by now: `monkeypatch.setenv` works after
    loading, too.
    """
    base = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return hook_environment(base, hook, extra)
