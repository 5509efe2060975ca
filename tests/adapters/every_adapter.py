"""Share between the tests of all adapters: the cases of the suite, the run of its example, and hooks that watch."""

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, SessionInfo, ask
from hookline.adapters.sessions import RUN_CONTEXT
from hookline.events import PRE_TOOL_USE
from hookline.host import LATER
from hookline.testing.conformance import ScriptedCall, ScriptedResponse, cases

ROOT = Path(__file__).parents[2]
ACT = ScriptedResponse(calls=(ScriptedCall("action", {}, "c1"),))
conformance = pytest.mark.parametrize("case", cases(), ids=str)


#: What the user answers to a question that waited: what was paid then, and what the model reads.
LATE_ANSWERS: list[tuple[Any, list[int], str]] = [
    (True, [9], "paid 9"),
    (False, [], "not approved: it pays"),
    ({"allow": True, "arguments": {"amount": 5}}, [5], "paid 5"),
    ({"allow": False, "message": "ask me tomorrow"}, [], "ask me tomorrow"),
]
PAY = ScriptedResponse(calls=(ScriptedCall("pay", {"amount": 9}, "c1"),))


def asks_later() -> Engine:
    """Return an engine whose hook asks about every call, and whose user is not there yet."""
    engine = Engine(approve=lambda _question: LATER)
    engine.add(PRE_TOOL_USE, lambda _call: ask("it pays"), quick=True)
    return engine


def run_contexts(engine: Engine) -> list[Any]:
    """Return the framework's objects of the runs, as hooks find them."""
    seen: list[Any] = []

    async def note(_payload: Any, info: SessionInfo) -> None:
        seen.append((info.extra or {}).get(RUN_CONTEXT))

    engine.add(PRE_TOOL_USE, note)
    return seen


def check_example(adapter: str) -> None:
    """All examples do the same, each with its framework."""
    example = ROOT / f"examples/adapters/use_{adapter}.py"
    ran = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    assert ran.stdout == "deploy is for people: ask one\n(sandbox) ls\nDone.\n"


def watched(engine: Engine) -> list[str]:
    """The names of all events that fire, in their order."""
    fired: list[str] = []
    for event in engine.events.values():
        if not event.needs_matcher:
            engine.add(event, partial(_note, fired, event.name))
    return fired


def _note(fired: list[str], name: str, _payload: Any) -> None:
    fired.append(name)


def of_calls(fired: list[str]) -> list[str]:
    return [name for name in fired if name in {"PreToolUse", "PostToolUse", "PostToolUseFailure"}]
