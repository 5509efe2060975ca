import asyncio
import contextvars
import functools
import threading
import time
from typing import Any

import pytest

from hookline import deny
from hookline.extending import Failed, RawResult, Returned, SessionInfo
from hookline.handlers.deadline import bounded
from hookline.handlers.function import FunctionHandler, FunctionSpec, Workers
from tests.every import every
from tests.handlers.calls import BASH, call_with, finished
from tests.waiting import until

INFO = SessionInfo(session_id="s1", cwd="/tmp")


def ran(function: Any, handler: FunctionHandler | None = None) -> RawResult:
    async def main() -> RawResult:
        used = handler or FunctionHandler()
        try:
            return await used.run(call_with(FunctionSpec(function), info=INFO))
        finally:
            await used.close()

    return finished(main())


async def async_one(payload: Any) -> Any:
    return payload


async def async_two(payload: Any, info: SessionInfo) -> Any:
    return payload, info


def sync_one(payload: Any) -> Any:
    return payload


def sync_two(payload: Any, info: SessionInfo) -> Any:
    return payload, info


def with_own_default(payload: Any, limit: int = 3) -> Any:
    assert limit == 3
    return payload


def with_default_scene(payload: Any, info: SessionInfo | None = None) -> Any:
    return payload, info


def returns_an_awaitable(payload: Any) -> Any:
    return async_one(payload)


def nothing(payload: Any) -> None: ...


class Callable1:
    async def __call__(self, payload: Any) -> Any:
        return payload

    async def method(self, payload: Any, info: SessionInfo) -> Any:
        return payload, info


@pytest.mark.parametrize(
    "function", [async_one, sync_one, Callable1(), functools.partial(async_one), with_own_default]
)
def test_a_function_of_one_parameter_gets_the_payload(function: Any) -> None:
    assert ran(function) == Returned(BASH)


@pytest.mark.parametrize(
    "function", [async_two, sync_two, Callable1().method, functools.partial(async_two), with_default_scene]
)
def test_a_function_of_two_parameters_gets_the_scene_too(function: Any) -> None:
    assert ran(function) == Returned((BASH, INFO))


def test_a_plain_function_that_returns_an_awaitable_is_awaited() -> None:
    assert ran(returns_an_awaitable) == Returned(BASH)


def test_async_functions_run_on_the_loop_and_others_do_not() -> None:
    async def on_loop(payload: Any) -> str:
        return threading.current_thread().name

    def off_loop(payload: Any) -> str:
        return threading.current_thread().name

    assert ran(on_loop) == Returned(threading.current_thread().name)
    assert ran(off_loop) == Returned("hookline-function")


def test_a_short_form_comes_back_as_it_is() -> None:
    async def guard(payload: Any) -> Any:
        return deny("no")

    assert ran(guard) == Returned(deny("no"))


def test_nothing_returned_is_returned() -> None:
    assert ran(nothing) == Returned(None)


def test_context_variables_reach_the_thread() -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who")

    def received(payload: Any) -> str:
        return who.get()

    async def main() -> RawResult:
        who.set("caller")
        handler = FunctionHandler()
        try:
            return await handler.run(call_with(FunctionSpec(received)))
        finally:
            await handler.close()

    assert finished(main()) == Returned("caller")


class UnreadableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text either")


def raising(error: BaseException) -> Any:
    def function(payload: Any) -> None:
        raise error

    return function


def async_raising(error: BaseException) -> Any:
    async def function(payload: Any) -> None:
        raise error

    return function


@every("make", [raising, async_raising])
@every(
    ("error", "text"),
    [
        (ValueError("bad\n\x1b[31mred"), "ValueError: bad [31mred ("),
        (KeyError(), "KeyError ("),
        (StopAsyncIteration("x"), "StopAsyncIteration: x ("),
        (SystemExit(2), "SystemExit: 2 ("),
        (UnreadableError(), "UnreadableError: its message cannot be read ("),
        (RecursionError("deep"), "RecursionError: deep ("),
        (ValueError("x" * 100_000), "ValueError: xxx"),
    ],
)
def test_an_exception_is_a_crash_that_names_its_place(make: Any, error: BaseException, text: str) -> None:
    raw = ran(make(error))
    assert isinstance(raw, Failed)
    assert raw.cause == "crashed"
    assert raw.detail == f"it raised {type(error).__name__}"
    assert raw.logged.startswith(text)
    assert "test_function.py:" in raw.logged
    assert len(raw.logged) < 1000


@pytest.mark.parametrize("error", [KeyboardInterrupt(), asyncio.CancelledError(), StopIteration("x")])
def test_odd_errors_of_a_thread_do_not_become_signals(error: BaseException) -> None:
    raw = ran(raising(error))
    assert isinstance(raw, Failed)
    assert raw.cause == "crashed"
    assert type(error).__name__ in raw.logged


def test_a_cancellation_inside_an_async_function_passes_through() -> None:
    with pytest.raises(asyncio.CancelledError):
        ran(async_raising(asyncio.CancelledError()))


def generator(payload: Any) -> Any:
    yield payload


async def async_generator(payload: Any) -> Any:
    yield payload


def no_parameter() -> None: ...


def three(a: Any, b: Any, c: Any) -> None: ...


@pytest.mark.parametrize("function", [generator, async_generator, no_parameter, three, 3])
def test_what_cannot_be_a_hook_says_so_early_and_never_runs(function: Any) -> None:
    spec = FunctionSpec(function)
    problem = FunctionHandler().problem(spec)
    assert problem
    raw = ran(function)
    assert raw == Failed("not_started", problem)


def test_a_builtin_function_without_a_signature_gets_the_payload() -> None:
    assert FunctionSpec(dict).fault is None
    assert FunctionHandler().problem("x") is not None


def test_the_name_is_the_functions_own() -> None:
    assert FunctionSpec(sync_one).name == "sync_one"
    assert FunctionSpec(sync_one, "mine").name == "mine"
    assert FunctionSpec(functools.partial(sync_one)).name == "sync_one"
    assert FunctionSpec(Callable1()).name == "Callable1"


def test_a_function_that_blocks_is_left_behind_at_its_deadline_and_said_to_run_on() -> None:
    async def main() -> None:
        release = threading.Event()
        workers = Workers(limit=2)
        handler = FunctionHandler(workers)

        def stuck(payload: Any) -> None:
            release.wait(30)

        call = call_with(FunctionSpec(stuck))
        with pytest.raises(TimeoutError, match="still running"):
            await bounded(handler.run(call), 0.5)
        assert workers.lost == 1
        # The other thread still serves, and the loop was never blocked.
        assert await handler.run(call_with(FunctionSpec(sync_one))) == Returned(BASH)
        with pytest.raises(TimeoutError):
            await bounded(handler.run(call), 0.5)
        raw = await handler.run(call_with(FunctionSpec(sync_one)))
        assert isinstance(raw, Failed)
        assert raw.cause == "not_started"
        assert "2 functions" in raw.detail
        release.set()
        await until(lambda: workers.lost == 0)
        assert await handler.run(call_with(FunctionSpec(sync_one))) == Returned(BASH)
        await handler.close()
        await until(lambda: workers.threads == 0)

    finished(main())


def test_work_that_waits_for_a_thread_is_dropped_when_its_caller_goes() -> None:
    async def main() -> None:
        release = threading.Event()
        started: list[int] = []
        workers = Workers(limit=1)
        first = asyncio.create_task(workers.run(lambda: release.wait(30)))
        await asyncio.sleep(0.05)
        with pytest.raises(TimeoutError, match=r"^$"):
            await bounded(workers.run(lambda: started.append(1)), 0.05)
        release.set()
        assert (await first).value is True
        assert (await workers.run(lambda: "next")).value == "next"
        assert started == []
        assert workers.lost == 0
        workers.close()

    finished(main())


def test_many_functions_at_once_use_no_more_threads_than_allowed() -> None:
    async def main() -> None:
        workers = Workers(limit=4)
        most = 0

        def work() -> None:
            nonlocal most
            most = max(most, threading.active_count())
            time.sleep(0.002)

        before = threading.active_count()
        results = await asyncio.gather(*(workers.run(work) for _ in range(100)))
        assert len(results) == 100
        assert most <= before + 4
        assert workers.threads <= 4
        workers.close()
        await until(lambda: workers.threads == 0)

    finished(main())


def test_idle_threads_end_by_themselves() -> None:
    async def main() -> None:
        workers = Workers(limit=4, idle_seconds=0.01)
        await asyncio.gather(*(workers.run(lambda: None) for _ in range(8)))
        await until(lambda: workers.threads == 0)
        assert (await workers.run(lambda: 1)).value == 1

    finished(main())


def test_workers_survive_the_loop_that_waited_for_them() -> None:
    workers = Workers(limit=1)
    release = threading.Event()

    async def leaves() -> None:
        with pytest.raises(TimeoutError):
            await bounded(workers.run(lambda: release.wait(30)), 0.02)

    async def comes() -> None:
        release.set()
        await until(lambda: workers.lost == 0)
        assert (await workers.run(lambda: "served")).value == "served"
        workers.close()

    finished(leaves())
    finished(comes())


def test_racing_cancellations_leave_the_counts_at_rest() -> None:
    async def main() -> None:
        workers = Workers(limit=3)
        for round_ in range(200):
            task = asyncio.create_task(workers.run(lambda: time.sleep(0.0005)))
            await asyncio.sleep((round_ % 10) * 0.0001)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await until(lambda: workers.lost == 0)
        assert (await workers.run(lambda: "fine")).value == "fine"
        workers.close()

    finished(main())
