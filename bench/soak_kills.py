"""Commands that are killed while a hook runs that does everything to leave processes behind: nothing may be left."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from signal import SIGKILL, Signals

from bench.findings import Finding
from bench.kill_cases import COMMANDS, KINDS, SETTLED, SIGNALS, Killed, apart
from hookline.checks.commands.programs import containment_tier, survivors

Say = Callable[[str], None]

_ROUNDS = 100
#: Each scene runs a hundred processes; more at once would be late because the machine is busy.
_AT_ONCE = 1


def kills(say: Say, scale: float = 1.0) -> Iterator[Finding]:
    rounds = max(int(_ROUNDS * scale), 1)
    say(f"{rounds} kills of each of {len(COMMANDS)} commands by each of {len(SIGNALS)} signals")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        scenes = [
            (command, number, pool.submit(apart, command, number, rounds))
            for command in COMMANDS
            for number in SIGNALS
        ]
        for command, number, info in scenes:
            yield _finding(command, number, info.result())
    yield from _known_gaps(max(rounds // 20, 1))


def _finding(command: str, number: Signals, seen: Killed) -> Finding:
    left = ", ".join(f"{count} by {kind!r}" for kind, count in seen.left.items()) or "0"
    return Finding(
        f"{seen.rounds} x {number.name} to hookline {command}: left of {seen.before} processes of {len(KINDS)} kinds",
        f"{left} (all dead after {seen.longest * 1000:.0f} ms)",
        f"0 after {SETTLED:g} s",
        not seen.left,
    )


def _known_gaps(rounds: int) -> Iterator[Finding]:
    """Check that exactly the processes that doctor lists get away here."""
    for row in survivors(containment_tier()):
        if row.example:
            left = sum(apart("fire", SIGKILL, rounds, row.kind).left.values())
            yield Finding(f"listed by the doctor: {row.kind}", f"{left} of {rounds}", "printed", left > 0)
        else:
            yield Finding(f"listed by the doctor: {row.kind}", "not tried", "printed", True)
