"""Slots: few at once, in order, and never lost."""

import asyncio

import pytest

from bench.process_cases import said, shell
from hookline.extending import Exited, Failed
from hookline.handlers.process.pool import Processes, Slots


def test_slots_are_given_in_the_order_they_were_asked_for() -> None:
    async def main() -> list[int]:
        slots = Slots(2)
        order: list[int] = []

        async def one(number: int) -> None:
            await slots.take()
            order.append(number)
            await asyncio.sleep(0)
            slots.give_back()

        await asyncio.gather(*map(one, range(20)))
        assert slots.taken == 0
        assert slots.waiting == 0
        return order

    assert asyncio.run(main()) == list(range(20))


def test_never_more_than_the_limit_run_at_once() -> None:
    async def main() -> int:
        slots = Slots(3)
        now = most = 0

        async def one() -> None:
            nonlocal now, most
            await slots.take()
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1
            slots.give_back()

        await asyncio.gather(*(one() for _ in range(30)))
        return most

    assert asyncio.run(main()) == 3


def test_a_full_line_answers_at_once() -> None:
    async def main() -> None:
        slots = Slots(1, queue=1)
        assert await slots.take() == 0.0
        waiting = asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        assert await slots.take() is None
        slots.give_back()
        assert (await waiting or 0.0) > 0

    asyncio.run(main())


def test_a_place_in_line_that_is_cancelled_is_not_called_up() -> None:
    async def main() -> None:
        slots = Slots(1)
        await slots.take()
        given_up = asyncio.create_task(slots.take())
        next_one = asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.sleep(0)
        slots.give_back()
        assert await next_one is not None
        slots.give_back()
        assert slots.taken == 0

    asyncio.run(main())


def test_a_slot_given_to_somebody_who_is_cancelled_in_that_moment_goes_on_to_the_next() -> None:
    async def main() -> None:
        slots = Slots(1)
        await slots.take()
        called_up = asyncio.create_task(slots.take())
        next_one = asyncio.create_task(slots.take())
        await asyncio.sleep(0)
        slots.give_back()
        called_up.cancel()
        await asyncio.wait_for(next_one, 5)
        assert called_up.cancelled()
        slots.give_back()
        assert slots.taken == 0

    asyncio.run(main())


def test_places_in_line_of_a_closed_loop_are_skipped() -> None:
    slots = Slots(1)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(slots.take())
    stranded = loop.create_task(slots.take())
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    slots.give_back()
    assert asyncio.run(slots.take()) == 0.0
    # Its loop is gone, so the task can only be silenced.
    stranded._log_destroy_pending = False  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(("limit", "queue"), [(0, 1), (-1, 1), (1, -1)])
def test_impossible_limits_are_refused(limit: int, queue: int) -> None:
    with pytest.raises(ValueError, match="at least"):
        Slots(limit, queue)


def test_time_in_line_is_reported_and_does_not_count_against_the_deadline() -> None:
    async def main() -> None:
        processes = Processes(Slots(1))
        results = await asyncio.gather(*(shell(processes, "sleep 0.2", 1.0) for _ in range(7)))
        assert [said(result) for result in results] == ["exited 0"] * 7
        last = results[-1]
        assert isinstance(last, Exited)
        assert last.queue_ms > 1100
        assert processes.slots.taken == 0
        await processes.close()

    asyncio.run(main())


def test_a_full_queue_is_a_hook_that_did_not_start() -> None:
    async def main() -> None:
        processes = Processes(Slots(1, queue=0))
        first = asyncio.create_task(shell(processes, "sleep 0.2"))
        await asyncio.sleep(0)
        refused = await shell(processes, "exit 0")
        assert isinstance(refused, Failed)
        assert refused.cause == "not_started"
        assert "slot" in refused.detail
        assert said(await first) == "exited 0"
        await processes.close()

    asyncio.run(main())


def test_a_hook_that_does_not_start_gives_its_slot_back() -> None:
    async def main() -> None:
        processes = Processes(Slots(1))
        for _ in range(3):
            result = await processes.run(["/no/such/thing"], env={}, cwd="/", timeout=5, run_id="r")
            assert said(result) == "not_started"
        assert processes.slots.taken == 0
        assert processes.alive == 0
        await processes.close()

    asyncio.run(main())
