"""The failure matrix on the real engine: every cause, every reaction, every event that can block."""

import asyncio
from collections.abc import Callable
from typing import Any

from bench.findings import Finding
from hookline.events import EVENTS, Capability, EventSpec
from hookline.model.policy import CAUSES, Cause
from hookline.model.raw import Failed
from tests.engine.scripted_hooks import ScriptedHost
from tests.engine.test_run_hook import REACTIONS, native, sample


async def r13(say: Callable[[str], None]) -> list[Finding]:
    blocking = [event for event in EVENTS.values() if event.may & Capability.BLOCK]
    cases: list[tuple[EventSpec[Any], str, Cause]] = [
        (event, word, cause) for event in blocking for word in REACTIONS for cause in CAUSES
    ]
    say(f"{len(cases)} cases")
    wrong: list[str] = []
    for event, word, cause in cases:
        host = ScriptedHost([native(event, Failed(cause, "x"), on_failure=REACTIONS[word])])
        outcome = await host.session.dispatch(event, sample(event))
        asks = word == "ask" and bool(event.may & Capability.PERMIT)
        closes = word == "closed" or (word == "ask" and not asks)
        if (outcome.blocked, outcome.permission == "ask", host.runs[0].cause) != (closes, asks, cause):
            wrong.append(f"{event.name}/{word}/{cause}")
        await asyncio.sleep(0)
    return [Finding("R13 answers that are not the table's", f"{len(wrong)} of {len(cases)}", "0", not wrong)]
