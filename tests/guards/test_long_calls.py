"""Test that guards judge calls with much text in a thread of their own, with the same answers."""

import asyncio
import threading
import time
from typing import Any

import pytest

from hookline import Engine
from hookline.guards import GUARD_NAMES, guard
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


_MEGABYTE = 1_000_000
_FIELDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a line": ("Bash", ("command",)),
    "content": ("Write", ("content",)),
    "a path": ("Write", ("file_path",)),
    "an undeclared tool": ("mcp__x__do", ("command", "path", "code")),
}
_HOSTILE = ("é", "../", "rm x; ", "漢字/ ", "$(", '{"a":"b"},', "*** Update File: a\n@@\n-a\n+b\n")


@pytest.mark.parametrize("field", _FIELDS)
def test_no_step_of_the_loop_takes_long_for_a_megabyte(field: str) -> None:
    """The rest is judged beside it. Processor time of the loop's thread: it does not grow when others compute."""
    tool, names = _FIELDS[field]

    async def longest(texts: list[str]) -> float:
        engine = Engine(env={"HOME": "/home/ada"})
        for name in GUARD_NAMES:
            if name != "self-protection":
                engine.add(PRE_TOOL_USE, guard(name))
        session, worst, done = engine.session("s", cwd="/home/ada/project"), 0.0, False

        async def ticks() -> None:
            nonlocal worst
            last = time.thread_time()
            while not done:
                await asyncio.sleep(0)
                now = time.thread_time()
                worst, last = max(worst, now - last), now

        ticking = asyncio.create_task(ticks())
        for text in texts:
            given = {"file_path": "a.md", "content": "x", **dict.fromkeys(names, text)}
            await session.dispatch(PRE_TOOL_USE, ToolCall(tool_name=tool, tool_input=given))
        done = True
        await ticking
        await engine.close()
        return worst

    # What is loaded on demand takes its time once.
    asyncio.run(longest(["rm x"]))
    texts = [(text * (_MEGABYTE // len(text) + 1))[:_MEGABYTE] for text in _HOSTILE]
    assert asyncio.run(longest(texts)) <= 0.02
