"""The program that is measured at a terminal: the real screen and agent, and a clock in the screen's loop.

`python -m bench.screen_child stall SECONDS FILE` plays slow hooks and a long answer; `turns COUNT FILE` plays many
turns; what was measured is written to the file as JSON.
"""

import asyncio
import gc
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.agent_stall import EVENTS
from bench.process_cases import Held
from hookline.agent.models.port import CompletionRequest, CompletionResponse, Piece, TextPiece
from hookline.agent.tui import run
from hookline.agent.tui.screen import Screen
from hookline.agent.user_interface import UserInterface
from hookline.cli.commands.agent import play as playing
from hookline.cli.main import build_parser
from hookline.config.engine import Engine
from hookline.events import PRE_TOOL_USE
from hookline.model.messages import ToolUse, Usage

_TICK = 0.01
PIECES = 2000
#: Events of one turn at which the agent waits; the others of the table do not happen here.
_HAPPEN = tuple(event for event in EVENTS if event in {
    "SessionStart", "UserPromptSubmit", "TurnStart", "PreToolSelection", "PreModelCall", "PreToolUse", "PostToolUse",
    "PostToolBatch", "TurnEnd", "Stop", "TurnSettled", "Notification", "SessionEnd",
})  # fmt: skip


class Ticking(Screen):
    """Notes when its loop had time."""

    ticks: list[float]
    #: The time that this thread has worked, at each tick.
    worked: list[float]

    async def run(self, start: Callable[[], None]) -> None:
        Ticking.ticks, Ticking.worked = [], []
        ticking = asyncio.ensure_future(self._tick())
        try:
            await super().run(start)
        finally:
            ticking.cancel()

    async def _tick(self) -> None:
        while True:
            Ticking.ticks.append(time.perf_counter())
            Ticking.worked.append(time.thread_time())
            await asyncio.sleep(_TICK)


class Streaming:
    """Calls a tool three times, then answers in many pieces."""

    def __init__(self) -> None:
        self._asked = 0

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        del request
        self._asked += 1
        if self._asked <= 3:
            use = ToolUse(id=f"call_{self._asked}", name="Read", input={"file_path": "notes.txt"})
            yield CompletionResponse(text="", tool_calls=(use,), usage=Usage(input_tokens=1))
            return
        text = _answer()
        size = len(text) // PIECES + 1
        for at in range(0, len(text), size):
            yield TextPiece(text[at : at + size])
            await asyncio.sleep(0.002)
        yield CompletionResponse(text=text, usage=Usage(input_tokens=1))

    async def close(self) -> None:
        """Nothing is held."""


def _answer() -> str:
    step = (
        "## Step {0}\n\nThe **price** of item {0} is `net * {0}`, see [the page](http://localhost/{0}):\n\n"
        "```python\ndef price_{0}(net: int) -> int:\n    return net * {0}\n```\n\n- first\n- second\n- third\n\n"
    )
    return "".join(step.format(number) for number in range(100)) + "That is all.\n"


class Turning:
    """One call and a short answer a turn, for ever."""

    def __init__(self) -> None:
        self._calls = 0
        self._called = False

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Piece]:
        if not request.tools:
            yield CompletionResponse(text="they talked")
        elif self._called:
            self._called = False
            yield TextPiece("the answer is **forty-two**\n\n- one\n- two\n")
            yield CompletionResponse(
                text="the answer is **forty-two**\n\n- one\n- two\n", usage=Usage(input_tokens=700)
            )
        else:
            self._calls += 1
            self._called = True
            use = ToolUse(id=f"call_{self._calls}", name="Read", input={"file_path": "notes.txt"})
            yield CompletionResponse(tool_calls=(use,), usage=Usage(input_tokens=700))

    async def close(self) -> None:
        """Nothing is held."""


async def _blocks(call: object) -> None:
    """An async function that does what it must not."""
    del call
    time.sleep(float(os.environ["BENCH_BLOCKS"]))


def _computes(call: object) -> None:
    del call
    until = time.perf_counter() + float(os.environ["BENCH_BLOCKS"])
    while time.perf_counter() < until:
        sum(range(1000))


class Measured:
    """A front that adds hooks in Python to the engine, and learns when the session is over."""

    def __init__(self, front: Any, add: Callable[[Engine], None]) -> None:
        self._front = front
        self._add = add

    def watch(self, engine: Engine) -> None:
        self._front.watch(engine)
        self._add(engine)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._front, name)


def _play(model: Any, words: list[str], add: Callable[[Engine], None]) -> Callable[[UserInterface], Any]:
    args = build_parser("agent").parse_args(["agent", "--model", "scripted:none", *words])
    args.format, args.screen = "text", None
    patched: Any = playing

    def provider_model(*given: Any, **named: Any) -> Any:
        del given, named
        return model

    patched.provider_model = provider_model

    async def play(front: UserInterface) -> int:
        measured: Any = Measured(front, add)
        return await playing.play(args, measured)

    return play


def stall(seconds: float) -> dict[str, Any]:
    entry = {"type": "command", "command": f"sleep {seconds}", "once": True}
    hooks = {event: [{"hooks": [entry]}] for event in _HAPPEN}
    Path(".hookline").mkdir(exist_ok=True)
    Path(".hookline/hooks.json").write_text(json.dumps({"hooks": hooks}))

    def add(engine: Engine) -> None:
        engine.add(PRE_TOOL_USE, _blocks, name="blocks the loop")
        engine.add(PRE_TOOL_USE, _computes, name="computes")

    run.Screen = Ticking
    with _ticks_alone() as alone:
        run.run_screen(_play(Streaming(), ["go", "/exit"], add))
    work = max(later - earlier for earlier, later in itertools.pairwise(Ticking.worked))
    return {**_gaps(Ticking.ticks), "work": work, "alone": _gaps(alone)}


def _gaps(ticks: Sequence[float]) -> dict[str, Any]:
    gaps = sorted(later - earlier - _TICK for earlier, later in itertools.pairwise(ticks))
    return {"longest": gaps[-1], "p99": gaps[int(len(gaps) * 0.99)], "ticks": len(gaps)}


@contextmanager
def _ticks_alone() -> Generator[list[float]]:
    """Measure this machine with a process that only ticks: nothing can be better than that."""
    line = [sys.executable, "-c", _TICKER, str(_TICK)]
    with tempfile.TemporaryFile("w+") as seen:
        process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=seen)
        ticks: list[float] = []
        try:
            yield ticks
        finally:
            process.communicate()
            seen.seek(0)
            ticks += map(float, seen.read().split())


#: Ends with its input.
_TICKER = """
import select, sys, time
while not select.select([0], [], [], float(sys.argv[1]))[0]:
    print(time.perf_counter())
"""


def turns(count: int) -> dict[str, Any]:
    """Measure what is held after a tenth of the turns, and at the end."""
    held: list[int] = []
    sizes: list[int] = []

    async def look(call: object) -> None:
        del call
        looked.append(1)
        if len(looked) in (count // 10, count):
            gc.collect()
            held.append(Held.now().memory)
            sizes.append(len(gc.get_objects()))

    looked: list[int] = []
    words = [*(f"and what of number {number}?" for number in range(count)), "/exit"]
    run.run_screen(
        _play(
            Turning(), ["--compact-at", "600", *words], lambda engine: engine.add(PRE_TOOL_USE, look) and None
        )
    )
    return {"memory": held[1] - held[0], "objects": sizes[1] - sizes[0], "turns": len(looked)}


def main() -> None:
    kind, amount, file = sys.argv[1:4]
    found = stall(float(amount)) if kind == "stall" else turns(int(amount))
    Path(file).write_text(json.dumps(found))
    os._exit(0)


if __name__ == "__main__":
    main()
