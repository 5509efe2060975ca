"""Run the real agent on the real screen, at a terminal in memory: pyte draws the output, keys come from a pipe."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pyte
import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input

from hookline.agent.tui.channel import Channel
from hookline.agent.tui.dialog import GUARD
from hookline.agent.tui.output import ScreenOutput
from hookline.agent.tui.run import AgentThread
from hookline.agent.tui.screen import Screen
from hookline.agent.tui.text.paint import Painter
from hookline.agent.user_interface import UserInterface
from hookline.cli.commands.agent import play as playing
from hookline.cli.main import build_parser
from hookline.config.engine import Engine
from hookline.handlers.process.pool import Processes
from tests.agent.tui.real_terminal import row_text
from tests.trusting import trust_all_of
from tests.waiting import LONG

ROWS, COLUMNS = 30, 90


class Emulator:
    """A file that is a terminal."""

    encoding = "utf-8"

    def __init__(self, rows: int, columns: int) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=5000, ratio=0.1)
        self._stream = pyte.Stream(self.screen)
        self._written: list[str] = []
        self._seen: dict[str, list[str]] = {}

    @property
    def raw(self) -> str:
        return "".join(self._written)

    def write(self, text: str) -> int:
        self._written.append(text)
        self._seen.clear()
        # pyte knows no private mode 47.
        self._stream.feed(text)
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError("in memory")

    @property
    def rows(self) -> list[str]:
        """Worked out once for each change: tests look more often than anything is written."""
        if "rows" not in self._seen:
            self._seen["rows"] = [row_text(self.screen.buffer[at]) for at in range(self.screen.lines)]
        return self._seen["rows"]

    @property
    def scrolled(self) -> list[str]:
        """Return the rows that have left the screen at its top."""
        if "scrolled" not in self._seen:
            lines: Any = self.screen.history.top
            self._seen["scrolled"] = [row_text(line) for line in lines]
        return self._seen["scrolled"]

    def size(self) -> Size:
        return Size(rows=self.screen.lines, columns=self.screen.columns)


class HandClock:
    """A clock that stands still until a test moves it: a question listens when the test says so, on any machine."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class OnScreen:
    """Somebody at the terminal."""

    def __init__(
        self, screen: Screen, emulator: Emulator, keys: PipeInput, agent: AgentThread, clock: HandClock
    ) -> None:
        self._clock = clock
        self.screen = screen
        self.emulator = emulator
        self.agent = agent
        self._keys = keys

    def types(self, text: str) -> None:
        self._keys.send_text(text)

    @property
    def text(self) -> str:
        """Return what is on the screen, without blank rows at its end."""
        return "\n".join(self.emulator.rows).rstrip() + "\n"

    @property
    def everything(self) -> str:
        return "\n".join([*self.emulator.scrolled, *self.emulator.rows])

    def since(self, begin: str) -> str:
        """From there to the end: how far it has scrolled depends on how many rows were drawn below it."""
        return self.everything[self.everything.index(begin) :].rstrip() + "\n"

    async def until(self, wanted: str | Callable[[], object], seconds: float = LONG) -> str:
        end = time.monotonic() + seconds
        holds = (lambda: wanted in self.text) if isinstance(wanted, str) else wanted
        while not holds():
            assert time.monotonic() < end, f"{wanted!r} was never shown:\n{self.text}"
            await asyncio.sleep(0.02)
        return self.text

    @property
    def words(self) -> str:
        """Everything as one line: where it is wrapped says nothing."""
        return " ".join(self.everything.split())

    async def until_words(self, wanted: str) -> None:
        await self.until(lambda: wanted in self.words)

    async def answers(self, key: str) -> None:
        """Answer the question that is open, or comes, once it listens."""
        await self.until(lambda: self.screen.dialog.open is not None)
        self._clock.now += GUARD
        self.types(key)

    async def idle(self) -> None:
        await self.until(lambda: self.screen.channel.ready is not None and not self.screen.channel.busy)
        await self.until(lambda: not self.screen.channel.items)
        await self.until("idle ·")
        await self.until(lambda: not self.screen.channel.items)

    async def left(self) -> int:
        """The screen has gone, and the agent with it."""
        await self.until(self.agent.ended.is_set)
        await self.until(lambda: not self.screen.app.is_running)
        return self.agent.status


def _processes(containment: str, *, warm: bool) -> Processes:
    del containment, warm
    return Processes()


class Project:
    """A home whose user trusts the project in it."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.root = directory / "home", directory / "home" / "project"
        self.root.mkdir(parents=True)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.delenv("HOOKLINE_MODEL", raising=False)
        monkeypatch.chdir(self.root)
        # The tests' own process must not become the parent of what hooks leave behind.
        monkeypatch.setattr(playing, "Processes", _processes)

    def write(self, name: str, text: str) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def trust(self) -> None:
        trust_all_of(self.home, self.root)

    @asynccontextmanager
    async def agent(
        self,
        script: Sequence[Mapping[str, Any]],
        hooks: Mapping[str, Any] | None = None,
        *words: str,
        rows: int = ROWS,
        columns: int = COLUMNS,
        trusted: bool = True,
        add: Callable[[Engine], None] | None = None,
    ) -> AsyncGenerator[OnScreen]:
        if trusted:
            self.trust()
        self.write("script.json", json.dumps(list(script)))
        if hooks is not None:
            self.write(".hookline/hooks.json", json.dumps({"hooks": hooks}, indent=1))
        async with self.play(
            "--model", "scripted:script.json", *words, rows=rows, columns=columns, add=add
        ) as one:
            yield one

    @asynccontextmanager
    async def play(
        self,
        *words: str,
        rows: int = ROWS,
        columns: int = COLUMNS,
        add: Callable[[Engine], None] | None = None,
    ) -> AsyncGenerator[OnScreen]:
        """`hookline agent` with these words, in a project that is there already."""
        args = build_parser("agent").parse_args(["agent", *words])
        args.format, args.screen = "text", None

        async def play(front: UserInterface) -> int:
            if add is not None:
                watch, patched, also = front.watch, cast("Any", front), add

                def watched(engine: Engine) -> None:
                    watch(engine)
                    also(engine)

                patched.watch = watched
            return await playing.play(args, front)

        async with on_screen(play, rows, columns) as one:
            yield one


@asynccontextmanager
async def on_screen(
    play: Callable[[UserInterface], Any], rows: int, columns: int
) -> AsyncGenerator[OnScreen]:
    emulator = Emulator(rows, columns)
    loop = asyncio.get_running_loop()
    with create_pipe_input() as keys:
        output = ScreenOutput(cast("Any", emulator), emulator.size, "xterm")
        channel = Channel()
        clock = HandClock()
        screen = Screen(channel, output, source=keys, painter=Painter({"NO_COLOR": "1"}), clock=clock)
        agent = AgentThread(play, channel, lambda: loop.call_soon_threadsafe(screen.finish))
        running = asyncio.ensure_future(screen.run(agent.start))
        one = OnScreen(screen, emulator, keys, agent, clock)
        try:
            yield one
        finally:
            if not agent.ended.is_set():
                screen.actions.leave(signalled=True)
                await one.left()
            await asyncio.wait_for(running, LONG)
            if agent.error is not None:
                raise agent.error
