"""A tool call of a framework, with hooks around it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from hookline.adapters.sessions import inside
from hookline.engine.session import Session
from hookline.host import CallResult


def told_call(call_id: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    """A call that the model makes, as hooks of PostModelCall are told of it."""
    return {"id": call_id, "name": name, "input": arguments}


class Call:
    """What became of a call: `done` for hooks, and what the framework's tool gave, if it ran."""

    def __init__(self, done: CallResult, given: list[Any]) -> None:
        self.done = done
        self.ran = bool(given)
        self.value: Any = given[0] if given else None

    @property
    def said(self) -> bool:
        """Hooks have words for the model about it."""
        return self.done.text != self.done.plain_text

    @property
    def untouched(self) -> bool:
        """The tool returned something, and hooks leave it at that: the framework gets the very value."""
        return not (self.done.is_error or self.done.rewritten or self.said)

    @property
    def error(self) -> Exception | None:
        """What the tool raised, if hooks have nothing to say about it: the framework deals with it in its own way."""
        return None if self.said else self.done.exception

    @property
    def output(self) -> Any:
        """The value, or what a hook put in its place; text, where there is something to add to it."""
        if self.untouched:
            return self.value
        return self.done.text if self.said or self.done.is_error else self.done.output


class _Paused(BaseException):
    """The call goes on elsewhere or later: it has neither failed nor succeeded."""


async def call_tool(
    session: Session,
    call: tuple[str, Mapping[str, Any], str | None],
    invoke: Callable[[dict[str, Any]], Awaitable[Any]],
    *,
    check: Callable[[dict[str, Any]], object],
    told: Callable[[Any], Any] = lambda value: value,
    pauses: tuple[type[Exception], ...] = (),
) -> Call:
    """`call` is its name, its arguments and its id; `check` raises what is wrong with arguments.

    `told` is the value as hooks see it, or raises ToolError if it stands for a failure; `pauses` are no failures.
    """
    name, arguments, call_id = call
    given: list[Any] = []

    async def run(new: dict[str, Any]) -> Any:
        with inside(session):
            try:
                given.append(await invoke(new))
            except pauses as paused:
                raise _Paused from paused
        return told(given[0])

    def problem(new: dict[str, Any]) -> None:
        check(new)

    try:
        return Call(await session.tool(name, arguments, run=run, id=call_id, check=problem), given)
    except _Paused as paused:
        raise cast("Exception", paused.__cause__) from None
