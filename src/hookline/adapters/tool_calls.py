"""Run a framework's tool call with hooks around it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

import msgspec

from hookline.adapters.sessions import inside
from hookline.engine.memory import host_of
from hookline.engine.session import Session
from hookline.host import Approval, CallResult, HostCall, PendingCall


def translated_call(call_id: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    """Return a call of the model as PostModelCall hooks get it."""
    return {"id": call_id, "name": name, "input": arguments}


def question_of(pending: PendingCall) -> dict[str, Any]:
    """Return a waiting call as frameworks show it to the user."""
    question = {"tool": pending.tool_name, "input": dict(pending.tool_input), "reason": pending.reason}
    return {"id": pending.tool_use_id, **question}


def approval_of(answer: Any) -> Approval:
    """Read the user's answer: a truth value, or an object with `allow`, and `message` or `arguments`."""
    if isinstance(answer, dict):
        return msgspec.convert(answer, Approval)
    # Only True is a yes: a text, or an object that happens to be true, is not.
    return Approval(allow=answer is True)


class AdapterResult:
    """Result of a call: `done` for hooks, and the value of the framework's tool, if it ran."""

    def __init__(self, done: CallResult, given: list[Any]) -> None:
        self.done = done
        self.ran = bool(given)
        self.value: Any = given[0] if given else None

    @property
    def said(self) -> bool:
        """True if hooks have text for the model about it."""
        return self.done.text != self.done.plain_text

    @property
    def untouched(self) -> bool:
        """True if the tool returned a value and hooks leave it unchanged: the framework gets that very value."""
        return not (self.done.is_error or self.done.rewritten or self.said)

    @property
    def error(self) -> Exception | None:
        """The exception of the tool, if hooks have nothing to add: the framework handles it in its own way."""
        return None if self.said else self.done.exception

    @property
    def output(self) -> Any:
        """The value, or a hook's replacement; text, where hooks add something to it."""
        if self.untouched:
            return self.value
        return self.done.text if self.said or self.done.is_error else self.done.output


class _Paused(BaseException):
    """A signal that the call continues elsewhere or later: it has neither failed nor succeeded."""


async def call_tool(
    session: Session,
    call: tuple[str, Mapping[str, Any], str | None],
    invoke: Callable[[dict[str, Any]], Awaitable[Any]],
    *,
    check: Callable[[dict[str, Any]], object],
    shown: Callable[[Any], Any] = lambda value: value,
    pauses: tuple[type[Exception], ...] = (),
    later: Callable[[PendingCall], Approval] | None = None,
    opened: HostCall | None = None,
) -> AdapterResult:
    """Run a call. `call` is its name, its arguments and its id; `check` raises what is wrong with arguments.

    `shown` converts the value for hooks, or raises ToolError if it means a failure; `pauses` are not failures.
    `later` gets a call that waits for an approval: it returns the approval, or raises what pauses the run. `opened` is
    the call, if hooks have judged it already.
    """
    name, arguments, call_id = call
    given: list[Any] = []

    async def run(new: dict[str, Any]) -> Any:
        with inside(session):
            try:
                given.append(await invoke(new))
            except pauses as paused:
                raise _Paused from paused
        return shown(given[0])

    def problem(new: dict[str, Any]) -> None:
        check(new)

    try:
        ended = (
            session.closed or host_of(session).stopped is not None
        )  # meanwhile: then the call is refused below
        if opened is not None and (opened.refused is not None or not ended):
            return AdapterResult(opened.refused or await _finished(opened, run), given)
        done = await session.tool(name, arguments, run=run, id=call_id, check=problem)
        if done.pending is not None and later is not None:
            done = await session.resume(done.pending, later(done.pending), run=run, check=problem)
        return AdapterResult(done, given)
    except _Paused as paused:
        raise cast("Exception", paused.__cause__) from None


async def _finished(opened: HostCall, run: Callable[[dict[str, Any]], Awaitable[Any]]) -> CallResult:
    try:
        response = await run(opened.arguments)
    except Exception as error:  # noqa: BLE001 - a tool may raise anything; hooks and the model hear of it
        return await opened.failed(error)
    return await opened.returned(response)
