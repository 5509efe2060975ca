"""An event loop that is started when it is first needed: importing it takes longer than most builtins need."""

import types
from collections.abc import Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from hookline.engine.session import Session
    from hookline.model.events import EventSpec


@types.coroutine
def running_loop() -> Generator[None]:
    """To be awaited before something that needs a loop: `run` starts one here. In a loop that is one turn of it."""
    yield


def ends_at_once(session: "Session", event: "EventSpec[Any]", payload: Any) -> bool:
    """Whether no hook of the event can make anything wait: then it needs no loop."""
    return all(
        lane.all_waited
        and (lane.policy.settle == "all" or len(lane.hooks) == 1)
        and all(
            prepared.hook.kind == "builtin" and prepared.is_told_as_called(payload, session)
            for prepared in lane.hooks
        )
        for lane in session.lanes(event.name)
    )


def run(work: Coroutine[Any, Any, int], in_loop: Callable[[], None]) -> int:
    """Run it to its end: step by step in this thread, and from where it awaits `running_loop` in a loop.

    `in_loop` is called when the loop runs, in the task of the work.
    """
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    import asyncio

    return asyncio.run(_rest(work, in_loop))


async def _rest(work: Coroutine[Any, Any, int], in_loop: Callable[[], None]) -> int:
    in_loop()
    return await _resumed(cast("Generator[Any, Any, int]", work))


@types.coroutine
def _resumed(work: Generator[Any, Any, int]) -> Generator[Any, Any, int]:
    """What `await` would do; that takes no coroutine which has begun."""
    return (yield from work)
