"""Share between the tests of all adapters: the cases of the suite, the run of its example, and hooks that watch."""

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.testing.conformance import ScriptedCall, ScriptedResponse, cases

ROOT = Path(__file__).parents[2]
ACT = ScriptedResponse(calls=(ScriptedCall("action", {}, "c1"),))
conformance = pytest.mark.parametrize("case", cases(), ids=str)


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
