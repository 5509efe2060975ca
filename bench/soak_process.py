"""The figures of the process runner at full count: nothing leaks, nothing survives, nothing is late.

Each function runs real processes for some seconds, tells what it is doing through `say`, and gives back its
figures. `scale` multiplies the counts.
"""

import asyncio
import random
from collections.abc import Callable

from bench.findings import Finding
from bench.process_cases import (
    alone,
    cancelled,
    crowd,
    engine_killed,
    floods,
    held_pipes,
    mixed,
    unread_stdin,
)

Say = Callable[[str], None]

GRACE = 0.5


def counted(count: int, scale: float) -> int:
    return max(int(count * scale), 1)


async def r1(say: Say, scale: float = 1.0) -> list[Finding]:
    count = counted(16, scale) * 500
    say(f"R1: {count} hooks: good, failing, late, loud and deaf")
    seen = await mixed(count)
    leaks = {
        name: getattr(seen.after, name) - getattr(seen.before, name)
        for name in ("fds", "zombies", "threads", "tasks")
    }
    growth = (seen.after.memory - seen.before.memory) / (1 << 20)
    fifth = count // 5
    wanted = {"exited 0": 2 * fifth, "exited 1": fifth, "timed_out": fifth, "exited 0 truncated": fifth}
    return [
        Finding(f"R1 leaks of {count} hooks", str(leaks), "all 0", not any(leaks.values())),
        Finding("R1 memory growth", f"{growth:.1f} MB", "<= 5 MB", growth <= 5),
        Finding("R1 results", str(dict(seen.results)), "each as it should be", seen.results == wanted),
    ]


async def r2(say: Say, scale: float = 1.0) -> list[Finding]:
    findings: list[Finding] = []
    for containment in ("group", "subreaper"):
        rounds = counted(25, scale)
        say(f"R2: {rounds} rounds of every escape, contained by {containment}")
        seen = await asyncio.to_thread(alone, "escapes", containment, str(rounds), "0.4")
        late = (seen["longest"] - GRACE) * 1000
        survivors = sum(seen["survivors"].values())
        findings += [
            Finding(f"R2 survivors of {seen['runs']} ({containment})", str(survivors), "0", survivors == 0),
            Finding(f"R2 tree dead after grace ({containment})", f"{late:.0f} ms", "<= 150 ms", late <= 150),
        ]
    return findings


async def r4(say: Say, scale: float = 1.0) -> list[Finding]:
    count = counted(50, scale)
    say(f"R4: {count} hooks that ignore TERM, cancelled at once")
    seen = await cancelled(count)
    return [
        Finding(f"R4 all of {count} dead", f"{seen.dead * 1000:.0f} ms", "<= 1000 ms", seen.dead <= 1),
        Finding("R4 left", str(seen.left), "0", seen.left == 0),
        Finding("R4 still usable", str(seen.usable), "True", seen.usable),
    ]


async def r5(say: Say, scale: float = 1.0) -> list[Finding]:
    kills = counted(20, scale)
    left = before = 0
    for number in range(kills):
        say(f"R5: engine {number + 1} of {kills} is killed")
        alive, survivors = await asyncio.to_thread(engine_killed, random.uniform(0, 0.3))
        before += alive
        left += survivors
    goal = "0 after 1 s"
    return [Finding(f"R5 hook processes left of {before} after {kills} kills", str(left), goal, left == 0)]


async def r6(say: Say, scale: float = 1.0) -> list[Finding]:
    count = counted(10, scale)
    say(f"R6: {count} floods of 2 s, then {count} that are cut off")
    endless = await floods(count, 2.0, endless=True)
    ended = await floods(count, 60.0, endless=False)
    findings: list[Finding] = []
    for name, seen, cause in (("endless", endless, "timed_out"), ("cut off", ended, "truncated")):
        kept = f"{seen.kept_stdout} + {seen.kept_stderr} bytes"
        right = seen.results == {cause: count} and seen.drained
        in_caps = seen.kept_stdout <= 1 << 20 and seen.kept_stderr <= 1 << 18
        growth = seen.growth / (1 << 20)
        findings += [
            Finding(f"R6 {name} floods", str(dict(seen.results)), f"all {cause}", right),
            Finding(f"R6 kept of {name} floods", kept, "<= 1 MiB + 256 KiB", in_caps),
            Finding(f"R6 memory growth, {name}", f"{growth:.1f} MB", "<= 8 MB", growth <= 8),
            Finding(f"R6 loop stall, {name}", f"{seen.stall * 1000:.1f} ms", "<= 50 ms", seen.stall <= 0.05),
        ]
    return findings


async def r7(say: Say, scale: float = 1.0) -> list[Finding]:
    count = counted(200, scale)
    say(f"R7: {count} hooks that do not read 5 MB")
    seen = await unread_stdin(count)
    right = seen.results == {"exited 7": 2 * count}
    slower, overrun = seen.slower * 1000, seen.overrun * 1000
    return [
        Finding("R7 unread stdin", str(dict(seen.results)), "no error", right),
        Finding("R7 delay by unread stdin, p99", f"{slower:.1f} ms", "<= 50 ms", slower <= 50),
        Finding("R7 deaf hook past its deadline", f"{overrun:.0f} ms", "<= 150 ms", overrun <= 150),
    ]


async def r8(say: Say, scale: float = 1.0) -> list[Finding]:
    count = counted(100, scale)
    say(f"R8: {count} hooks that leave a child on their pipes")
    seen = await held_pipes(count)
    longest = seen.longest * 1000
    whole = f"{seen.flagged} flagged, {seen.whole} whole, {seen.left} left"
    right = (seen.flagged, seen.whole, seen.left) == (count, count, 0)
    return [
        Finding(f"R8 held pipes of {count}", whole, "all flagged, all whole, 0 left", right),
        Finding("R8 longest", f"{longest:.0f} ms", "<= 300 ms", longest <= 300),
    ]


async def r9(say: Say, scale: float = 1.0) -> list[Finding]:
    count = counted(500, scale)
    say(f"R9: {count} Python hooks at once, 5 s each")
    seen = await crowd(count, 32, 5.0)
    results = str(dict(seen.results))
    waited = f"{seen.most_waited_ms:.0f} ms in line, {seen.slowest:.1f} s in all"
    return [
        Finding(f"R9 results of {count}", results, "no false timeout", seen.results == {"exited 0": count}),
        Finding("R9 waiting is reported", waited, "> 0", seen.most_waited_ms > 0),
    ]


ALL = (r1, r2, r4, r5, r6, r7, r8, r9)


async def main() -> None:
    for info in ALL:
        for finding in await info(print):
            print(finding)


if __name__ == "__main__":
    asyncio.run(main())
