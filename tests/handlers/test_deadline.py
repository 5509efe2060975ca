"""`bounded` is `asyncio.timeout`, only cheaper: every behaviour is compared with the original."""

import asyncio
import gc
import selectors
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.handlers.deadline import bounded
from tests.every import every
from tests.handlers.calls import finished

Limiter = Callable[[Coroutine[Any, Any, Any], float], Awaitable[Any]]


async def standard(work: Coroutine[Any, Any, Any], seconds: float) -> Any:
    async with asyncio.timeout(seconds):
        return await work


both = pytest.mark.parametrize("limited", [bounded, standard], ids=["bounded", "asyncio"])


async def ready(value: Any = "done") -> Any:
    return value


async def slow(seconds: float = 30, value: Any = "done") -> Any:
    await asyncio.sleep(seconds)
    return value


@both
def test_work_that_never_waits_gives_its_value_even_with_no_time(limited: Limiter) -> None:
    assert finished(_value(limited, ready(None), 0)) is None


@both
def test_work_that_waits_a_little_gives_its_value(limited: Limiter) -> None:
    assert finished(_value(limited, slow(0.001), 30)) == "done"


async def _value(limited: Limiter, work: Coroutine[Any, Any, Any], seconds: float) -> Any:
    return await limited(work, seconds)


@both
@pytest.mark.parametrize("seconds", [0.01, 0, -1])
def test_work_that_waits_too_long_is_a_timeout(limited: Limiter, seconds: float) -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            await limited(slow(), seconds)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)

    finished(main())


@both
def test_a_timeout_error_of_the_work_itself_is_passed_on(limited: Limiter) -> None:
    own = TimeoutError("mine")

    async def work() -> None:
        await asyncio.sleep(0)
        raise own

    async def main() -> None:
        with pytest.raises(TimeoutError) as caught:
            await limited(work(), 30)
        assert caught.value is own

    finished(main())


@both
@pytest.mark.parametrize("waits_first", [False, True])
def test_errors_of_the_work_are_passed_on(limited: Limiter, waits_first: bool) -> None:
    async def work() -> None:
        if waits_first:
            await asyncio.sleep(0)
        raise ValueError("no")

    async def main() -> None:
        with pytest.raises(ValueError, match="no"):
            await limited(work(), 30)

    finished(main())


@both
def test_cancelling_from_outside_stays_a_cancellation(limited: Limiter) -> None:
    async def main() -> None:
        task = asyncio.create_task(_value(limited, slow(), 30))
        await asyncio.sleep(0.01)
        task.cancel("outside")
        with pytest.raises(asyncio.CancelledError):
            await task

    finished(main())


@both
@pytest.mark.parametrize("cancel_after", [0.03, 0.01])
def test_cancelling_from_outside_in_the_same_moment_as_the_timeout_stays_a_cancellation(
    limited: Limiter, cancel_after: float
) -> None:
    async def main() -> None:
        task = asyncio.create_task(_value(limited, slow(), 0.02))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(cancel_after, task.cancel)
        time.sleep(0.05)  # both are due in the same turn of the loop
        with pytest.raises(asyncio.CancelledError):
            await task

    finished(main())


@both
def test_cancelled_first_and_timed_out_while_cleaning_up_stays_a_cancellation(limited: Limiter) -> None:
    async def work() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.2)

    async def main() -> None:
        task = asyncio.create_task(_value(limited, work(), 0.05))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    finished(main())


def test_what_work_returns_after_its_time_does_not_count() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            await asyncio.sleep(0.001)
        return "anyway"

    async def main() -> None:
        with pytest.raises(TimeoutError, match="it ignored its cancellation"):
            await bounded(stubborn(), 0.01)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    finished(main())


def test_work_that_turns_its_cancellation_into_another_error_is_late_all_the_same() -> None:
    async def work() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            raise KeyError("turned") from None

    async def main() -> None:
        with pytest.raises(TimeoutError, match="KeyError"):
            await bounded(work(), 0.01)

    finished(main())


def test_work_that_never_gives_in_is_given_up() -> None:
    async def immortal() -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                pass

    async def main() -> None:
        with pytest.raises(TimeoutError, match="was abandoned"):
            await bounded(immortal(), 0.01)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        await asyncio.sleep(0)

    finished(main())


@every("outer", [bounded, standard])
@every("inner", [bounded, standard])
@every(("outer_seconds", "inner_seconds"), [(0.01, 30.0), (30.0, 0.01), (0.01, 0.01)])
def test_nested_limits_each_report_their_own_timeout(
    outer: Limiter, inner: Limiter, outer_seconds: float, inner_seconds: float
) -> None:
    async def main() -> None:
        reported: list[str] = []

        async def nested() -> str:
            try:
                return await inner(slow(), inner_seconds)
            except TimeoutError:
                reported.append("inner")
                return "inner timed out"

        if outer_seconds < inner_seconds:
            with pytest.raises(TimeoutError):
                await outer(nested(), outer_seconds)
            assert not reported
        elif inner_seconds < outer_seconds:
            assert await outer(nested(), outer_seconds) == "inner timed out"
        else:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(outer(slow(), 0.01), 30)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0

    finished(main())


@both
def test_an_anyio_scope_outside_wins_over_a_longer_limit(limited: Limiter) -> None:
    async def main() -> None:
        reached = False
        with anyio.move_on_after(0.01) as scope:
            await limited(slow(), 30)
            reached = True
        assert scope.cancelled_caught
        assert not reached
        await asyncio.sleep(0)

    finished(main())


@both
def test_a_limit_inside_a_longer_anyio_scope_is_a_timeout(limited: Limiter) -> None:
    async def main() -> None:
        with anyio.move_on_after(30) as scope:
            with pytest.raises(TimeoutError):
                await limited(slow(), 0.01)
            await asyncio.sleep(0)
        assert not scope.cancelled_caught

    finished(main())


@both
def test_an_anyio_scope_inside_the_work_may_span_its_first_step(limited: Limiter) -> None:
    async def work() -> str:
        with anyio.move_on_after(0.01):
            await asyncio.sleep(30)
        return "moved on"

    assert finished(_value(limited, work(), 30)) == "moved on"


@both
def test_a_blocking_first_step_uses_up_its_time(limited: Limiter) -> None:
    async def work() -> None:
        time.sleep(0.05)
        await asyncio.sleep(30)

    async def main() -> None:
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            await limited(work(), 0.04)
        assert time.monotonic() - started < 10

    finished(main())


def test_no_timer_is_left_behind() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        timers: list[Any] = getattr(loop, "_scheduled")  # noqa: B009 - not part of the typed interface
        for _ in range(50):
            await bounded(slow(0), 1000)
        assert [timer for timer in timers if not timer.cancelled()] == []

    asyncio.run(main())


def test_no_limit_is_no_limit() -> None:
    async def main() -> None:
        assert await bounded(slow(0.001), None) == "done"
        assert await bounded(ready(), None) == "done"

    finished(main())


def test_closing_an_unfinished_wait_closes_the_work() -> None:
    closed: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            closed.append(True)

    async def main() -> None:
        waiting = bounded(work(), 30)
        waiting.send(None)
        waiting.close()
        assert closed == [True]

    finished(main())


def test_notes_on_the_cancellation_become_the_text_of_the_timeout() -> None:
    async def work() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError as cancelled:
            cancelled.add_note("its thread runs on")
            raise

    async def main() -> None:
        with pytest.raises(TimeoutError, match=r"^its thread runs on$"):
            await bounded(work(), 0.01)

    finished(main())


def test_results_are_not_kept_alive() -> None:
    class Big:
        pass

    async def main() -> None:
        assert isinstance(await bounded(ready(Big()), 30), Big)
        gc.collect()
        assert not [each for each in gc.get_objects() if isinstance(each, Big)]

    finished(main())


class JumpingSelector(selectors.DefaultSelector):
    """Never waits: the time that would have been waited is added to its clock."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += max(timeout or 0.0, 0.0)
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """Timers fire when nothing else is left to do, so that no race depends on how busy the machine is."""

    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


Steps = st.lists(st.sampled_from(["pass", "tick", "raise", "wait"]), max_size=6)


async def _play(steps: list[str]) -> str:
    seen = ""
    for step in steps:
        if step == "tick":
            await asyncio.sleep(0)
        elif step == "raise":
            raise ValueError(seen)
        elif step == "wait":
            await asyncio.sleep(1000)
        seen += step[0]
    return seen


@settings(max_examples=200, deadline=None)
@given(Steps, st.sampled_from([1.0, 20.0, 5000.0]), st.sampled_from([5.0, 25.0, None]))
def test_any_work_ends_as_under_asyncio_timeout(
    steps: list[str], seconds: float, cancel_after: float | None
) -> None:
    async def ended(limited: Limiter) -> str:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(_value(limited, _play(steps), seconds))
        if cancel_after is not None:
            loop.call_later(cancel_after, task.cancel)
        try:
            result = f"returned {await task}"
        except (Exception, asyncio.CancelledError) as error:
            kind = TimeoutError if isinstance(error, TimeoutError) else type(error)
            result = f"raised {kind.__name__} {error}"
        # Whole seconds: the first step counts as real time, however little it took.
        return f"{result} {task.cancelling()} after {loop.time():.0f} s"

    def played(limited: Limiter) -> str:
        with asyncio.Runner(loop_factory=JumpingLoop) as runner:
            return runner.run(ended(limited))

    assert played(bounded) == played(standard)
