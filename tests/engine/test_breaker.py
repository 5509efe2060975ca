"""A hook that only fails is not run for a while; its failure policy decides meanwhile."""

import asyncio
from typing import Any

from hookline import Engine
from hookline.engine.breaker import IN_A_ROW, OF_THE_LAST
from hookline.engine.memory import memory_of
from hookline.events import PRE_TOOL_USE
from hookline.model.payloads import ToolCall
from tests.every import every

CALL = ToolCall(tool_name="Bash", tool_input={"command": "ls"})


class Flaky:
    """A guard that fails on command."""

    def __init__(self) -> None:
        self.ran = 0
        self.fails = True

    def __call__(self, call: ToolCall) -> None:
        del call
        self.ran += 1
        if self.fails:
            raise RuntimeError("it broke")


async def dispatch(engine: Engine, times: int) -> list[bool]:
    session = engine.session("s")
    return [(await session.dispatch(PRE_TOOL_USE, CALL)).blocked for _ in range(times)]


def test_after_five_failures_a_guard_is_not_run_and_stays_closed_until_one_try_is_fine() -> None:
    async def main() -> None:
        guard = Flaky()
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, guard, name="guard")
            assert all(await dispatch(engine, IN_A_ROW + 4))
            assert guard.ran == IN_A_ROW
            last = engine.journal.recent()[-1]
            assert last.status == "not_started"
            assert "5 failures in a row" in last.detail
            (breaker,) = memory_of(engine).breakers.values()
            breaker.open_until = 1e-9  # its time is over
            assert all(await dispatch(engine, 3))
            assert guard.ran == IN_A_ROW + 1, "one try"
            breaker.open_until, guard.fails = 1e-9, False
            assert not any(await dispatch(engine, 3))
            assert guard.ran == IN_A_ROW + 4

    asyncio.run(main())


def test_more_than_half_of_twenty_open_it_and_half_do_not() -> None:
    async def main(pattern: str) -> int:
        guard = Flaky()
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, guard)
            for letter in pattern:
                guard.fails = letter == "x"
                await dispatch(engine, 1)
        return guard.ran

    assert asyncio.run(main("x." * OF_THE_LAST)) == 2 * OF_THE_LAST
    assert asyncio.run(main("xx." * OF_THE_LAST)) < 2 * OF_THE_LAST


@every(
    ("options", "runs"),
    [
        ({"required": True}, 12),
        ({"scope": "managed"}, 12),
        ({"on_failure": "open"}, IN_A_ROW),
        ({}, IN_A_ROW),
    ],
)
def test_hooks_that_must_run_have_none(options: dict[str, Any], runs: int) -> None:
    async def main() -> None:
        guard = Flaky()
        async with Engine() as engine:
            engine.add(PRE_TOOL_USE, guard, **options)
            blocked = await dispatch(engine, 12)
            assert blocked == [options.get("on_failure") != "open"] * 12
            assert guard.ran == runs

    asyncio.run(main())
