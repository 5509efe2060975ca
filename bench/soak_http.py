"""Http hooks under attack, and what one costs beside a bare POST."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from statistics import median

from bench.findings import Finding
from hookline.handlers.http.handler import HttpSpec
from tests.handlers.calls import BASH, call_with
from tests.handlers.http import attacks
from tests.handlers.http.attacks import handling
from tests.handlers.servers import serving

Say = Callable[[str], None]


async def s6(say: Say, scale: float = 1.0) -> list[Finding]:
    """Forbidden addresses: spellings, redirects, names that change."""
    tried = len(attacks.FORBIDDEN_SPELLINGS) * 2 + len(attacks.FORBIDDEN_URLS)
    wrong: list[str] = []
    for name, attack in (
        ("spellings", attacks.try_addresses()),
        ("urls", attacks.try_urls()),
        ("rebinding", attacks.try_rebinding(max(2, int(100 * scale) // 2 * 2))),
        ("mixed answers", attacks.try_mixed_answers()),
        ("redirects", attacks.try_redirects()),
    ):
        say(f"S6 {name}")
        wrong += await attack
    for each in wrong:
        say(f"S6 WRONG {each}")
    measured = f"{len(wrong)} connects or wrong answers in {tried} spellings, redirects and rebinding"
    return [Finding("S6 http addresses", measured, "0", not wrong)]


async def s7(say: Say, scale: float = 1.0) -> list[Finding]:
    """Header tricks."""
    wrong: list[str] = []
    for round_ in range(max(1, int(scale))):
        say(f"S7 round {round_ + 1}")
        wrong += await attacks.try_tricks() + await attacks.try_header_names()
    for each in wrong:
        say(f"S7 WRONG {each}")
    tried = len(attacks.TRICKS) + len(attacks.FORBIDDEN_HEADERS)
    return [Finding("S7 http headers", f"{len(wrong)} of {tried} tricks", "0", not wrong)]


async def post_cost(say: Say, scale: float = 1.0) -> list[Finding]:
    """An http hook on loopback beside a bare POST with the same client library, taken in turns."""
    import httpx2

    rounds = max(20, int(400 * scale))
    async with (
        serving() as server,
        handling() as handler,
        httpx2.AsyncClient(trust_env=False) as client,
    ):
        call = call_with(HttpSpec(f"{server.url}/hook"), kind="http", payload=BASH)
        body = call.hook.wire.encode(call).document

        async def bare() -> None:
            await client.post(f"{server.url}/hook", content=body)

        async def hook() -> None:
            await handler.run(call)

        bare_times, hook_times = await _in_turns(bare, hook, rounds)
    say(f"bare {bare_times * 1e6:.0f} us, hook {hook_times * 1e6:.0f} us")
    ratio = hook_times / bare_times
    return [Finding("http hook / bare POST", f"{ratio:.2f}x", "<= 1.3x", ratio <= 1.3)]


async def _in_turns(
    first: Callable[[], Awaitable[None]], second: Callable[[], Awaitable[None]], rounds: int
) -> tuple[float, float]:
    """Return the median of each; warmed up, and interleaved so that a busy second hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for round_ in range(rounds + 10):
        for work, kept in ((first, times[0]), (second, times[1])):
            started = time.perf_counter()
            await work()
            if round_ >= 10:
                kept.append(time.perf_counter() - started)
    return median(times[0]), median(times[1])


async def everything(say: Say, scale: float = 1.0) -> list[Finding]:
    return [*await s6(say, scale), *await s7(say, scale), *await post_cost(say, scale)]


if __name__ == "__main__":
    for finding in asyncio.run(everything(print)):
        print(finding)
