"""Test that listeners get both outputs completely as they come, also what is too long to keep."""

import asyncio

from hookline.extending import Exited, RawResult
from hookline.handlers.process.pool import Processes
from hookline.handlers.process.run import Listeners, RunLimits


def test_listeners_hear_more_than_is_kept() -> None:
    out, err = bytearray(), bytearray()

    async def main() -> RawResult:
        processes = Processes(bounds=RunLimits(stdout=10, stderr=10))
        result = await processes.run(
            ["/bin/sh", "-c", "yes | head -c 200000; echo end; yes n | head -c 100000 >&2"],
            env={"PATH": "/usr/bin:/bin"},
            cwd="/",
            timeout=30,
            run_id="1",
            listeners=Listeners(out.extend, err.extend),
        )
        await processes.close()
        return result

    result = asyncio.run(main())
    assert isinstance(result, Exited)
    assert (result.stdout, result.truncated) == (b"y\n" * 5, True)
    assert len(out) == 200_004
    assert out.endswith(b"end\n")
    assert err == b"n\n" * 50_000
