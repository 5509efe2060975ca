"""Check the output of hooks, at full count: spoilt outputs (R10), exit 2 (R12)."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.findings import Finding
from hookline.documents.strict_json import StrictJsonError, read_strict
from hookline.model.events import PRE_TOOL_USE, STOP, USER_PROMPT_SUBMIT
from hookline.model.policy import CAUSES
from hookline.model.raw import Exited, RawResult, Replied
from tests.dialects.native.calls import WIRE, call
from tests.dialects.native.hostile import STDERRS, STDOUTS, hostile_outputs
from tests.documents.heavy_json import HEAVY

Say = Callable[[str], None]

_KINDS = ("command", "http", "prompt", "agent", "mcp_tool")
_WORST_MS = 50.0


def r10(say: Say, scale: float = 1.0) -> list[Finding]:
    """Spoilt outputs give typed results only; the worst mebibyte is read in 50 ms."""
    count = max(500, int(10_000 * scale))
    calls = {kind: call(PRE_TOOL_USE, kind=kind) for kind in _KINDS}
    wrong = 0
    for number, output in enumerate(hostile_outputs(count, seed=time.time_ns())):
        kind = _KINDS[number % len(_KINDS)]
        raw: RawResult = (
            Exited(0, output) if kind == "command" else Replied(output, 200 if kind == "http" else None)
        )
        wrong += not _typed(calls[kind], raw, output, say)
        if number % 2000 == 1999:
            say(f"R10: {number + 1:,} of {count:,} outputs")
    name, slowest = _worst(say)
    return [
        Finding("R10 spoilt outputs that were not a typed result", f"{wrong} of {count:,}", "0", wrong == 0),
        Finding(
            f"R10 worst parse at 1 MiB ({name})",
            f"{slowest:.1f} ms",
            f"<= {_WORST_MS:.0f} ms",
            slowest <= _WORST_MS,
        ),
    ]


def _typed(spoilt: Any, raw: RawResult, output: bytes, say: Say) -> bool:
    try:
        decoded = WIRE.decode(spoilt, raw)
    except Exception as error:
        say(f"R10: {error!r} for {output!r}")
        return False
    return decoded.failure is None or (decoded.failure.cause in CAUSES and not decoded.outcome.votes)


def _worst(say: Say) -> tuple[str, float]:
    found: dict[str, float] = {}
    for name, make in HEAVY.items():
        parse = partial(_parse, make())
        found[name] = min(_ms(parse) for _ in range(3))
    worst = max(found, key=lambda name: found[name])
    say(f"R10: the slowest of {len(found)} heavy texts is {worst!r}")
    return worst, found[worst]


def _parse(text: bytes) -> None:
    try:
        read_strict(text)
    except StrictJsonError:
        pass


def r12(say: Say, scale: float = 1.0) -> list[Finding]:  # noqa: ARG001 - there are as many as there are
    """Exit 2 blocks whatever was printed."""
    tried = passed = 0
    for event in (PRE_TOOL_USE, USER_PROMPT_SUBMIT, STOP):
        for stdout in STDOUTS.values():
            for stderr in STDERRS.values():
                for truncated in (False, True):
                    tried += 1
                    decoded = WIRE.decode(call(event), Exited(2, stdout, stderr, truncated))
                    passed += not (decoded.outcome.blocked and decoded.outcome.reason)
    say(f"R12: {tried} combinations")
    return [Finding("R12 exits with 2 that did not block", f"{passed} of {tried}", "0", passed == 0)]


def _ms(work: Callable[[], Any]) -> float:
    """Time on the processor: nothing here waits, and a busy machine must not count."""
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1000
