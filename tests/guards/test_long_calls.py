"""Test that guards judge calls with much text in a thread of their own, with the same answers."""

import asyncio
import threading
from typing import Any

import pytest

from hookline import Engine
from hookline.guards import guard
from hookline.guards.runner import GuardRunner
from hookline.handlers.builtin import is_long
from hookline.model.events import PRE_TOOL_USE
from hookline.model.payloads import ToolCall

_LONG = "é" * 40_000


@pytest.mark.parametrize(
    ("tool", "given", "denied"),
    [
        ("Bash", {"command": f"rm -rf src # {_LONG}"}, True),
        ("Bash", {"command": f"echo a # {_LONG}"}, False),
        ("Write", {"file_path": "a.md", "content": _LONG}, False),
        ("Bash", {"command": "rm -rf src"}, True),
    ],
)
def test_a_long_call_is_judged_beside_the_loop(
    tool: str, given: dict[str, Any], denied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    judged = GuardRunner.decision

    def noted(*args: Any, **named: Any) -> Any:
        seen.append(threading.current_thread().name)
        return judged(*args, **named)

    monkeypatch.setattr(GuardRunner, "decision", noted)

    async def dispatched() -> bool:
        engine = Engine(env={"HOME": "/home/ada"})
        engine.add(PRE_TOOL_USE, guard("delete-recursive"))
        session = engine.session("s", cwd="/home/ada/project")
        call = ToolCall(tool_name=tool, tool_input=given)
        outcome = await session.dispatch(PRE_TOOL_USE, call)
        assert is_long(call) == (len(str(given)) > 16_384)
        await engine.close()
        return outcome.blocked

    assert asyncio.run(dispatched()) is denied
    expected = "hookline-guards" if len(str(given)) > 16_384 else "MainThread"
    assert seen
    assert all(name.startswith(expected) for name in seen), seen


def test_many_values_are_long_too() -> None:
    assert is_long(ToolCall(tool_name="x", tool_input={"a": [["b"]] * 2000}))
    assert not is_long(ToolCall(tool_name="x", tool_input={"a": ["b"] * 20}))
