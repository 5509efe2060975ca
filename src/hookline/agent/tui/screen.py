"""Run the screen: assemble its parts, show what the agent posts, and never wait for the agent or a hook."""

import asyncio
import base64
import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.input import Input

from hookline.agent.tui.activity import SILENT, LiveRows
from hookline.agent.tui.channel import Channel
from hookline.agent.tui.conversation import ConversationView
from hookline.agent.tui.dialog import Dialog
from hookline.agent.tui.input.actions import Actions
from hookline.agent.tui.input.completion import PromptCompleter
from hookline.agent.tui.input.history import forget
from hookline.agent.tui.input.keys import bindings
from hookline.agent.tui.layout import ScreenLayout
from hookline.agent.tui.output import ScreenOutput, TerminalState
from hookline.agent.tui.scrollback import Scrollback
from hookline.agent.tui.status import StatusLine, short_path
from hookline.agent.tui.text.paint import Painter
from hookline.agent.tui.text.stream import as_markdown

#: Seconds between drawings of streamed text, and between updates of times and states.
_FRAME = 0.05
_TICK = 0.1
#: Longest stretch of work before keys are handled.
_SLICE = 0.015
_REPAIR_EVERY = 1.0
#: Seconds of work after which the user may look elsewhere.
_LONG_WORK = 10.0


class Screen:
    def __init__(
        self,
        channel: Channel,
        output: ScreenOutput,
        *,
        source: Input | None = None,
        history: History | None = None,
        state: TerminalState | None = None,
        painter: Painter | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.channel = channel
        self.state = state
        self._output = output
        painter = painter or Painter()
        self.buffer = Buffer(
            multiline=True,
            history=history or InMemoryHistory(),
            completer=PromptCompleter(self._cwd, self._project_commands, self._arguments),
            complete_while_typing=Condition(lambda: self.dialog.open is None),
        )
        self.dialog = Dialog(self.buffer, clock)
        self.status = StatusLine(channel, self.dialog, self._changed)
        self.layout = ScreenLayout(self.buffer, self._live_rows, self.status.line, output, source)
        self.scrollback = Scrollback(output, self.layout, painter)
        self.talk = ConversationView(channel, self.dialog, self.status, self.scrollback, self._give_back)
        self._live = LiveRows(
            channel, self.talk, self.dialog, self.scrollback, painter, output, lambda: self.layout.columns
        )
        self.actions = Actions(self)
        self.app = self.layout.build(bindings(self))
        self.app.key_processor.before_key_press += self._key_pressed
        self.buffer.on_text_changed += self._text_changed
        #: There is something to show.
        self.awake = asyncio.Event()
        self._seen_runs = 0
        self._repaired = 0.0
        #: The state in the terminal's title, and since when.
        self._state, self._state_since = "", time.monotonic()

    def _live_rows(self, input_rows: int) -> list[str]:
        return self._live.rows(input_rows)

    def _key_pressed(self, _keys: object) -> None:
        self.actions.key_pressed()

    def _text_changed(self, _buffer: Buffer) -> None:
        self.dialog.typed()

    def _changed(self) -> None:
        self.app.invalidate()

    async def run(self, start: Callable[[], None]) -> None:
        """Run until `finish` is called. `start` is called when the screen has been drawn for the first time."""
        loop = asyncio.get_running_loop()
        self.channel.wake = lambda: _call(loop, self.awake.set)
        tasks: list[asyncio.Future[None]] = []

        def begin() -> None:
            def first() -> None:
                if self.state is not None:
                    self.state.remember()
                tasks.extend(asyncio.ensure_future(task) for task in (self._pump(), self._ticks()))
                start()

            loop.call_soon(first)

        try:
            await self.app.run_async(pre_run=begin, handle_sigint=False)
        finally:
            for task in tasks:
                task.cancel()
            self._output.clear_title()
            self._output.flush()

    def finish(self) -> None:
        """Print what is left and close, because the agent has ended."""
        self.actions.close_page()
        while self.channel.items:
            self.talk.now(self.channel.items.popleft())
        self.talk.end_stream()
        self.scrollback.flush()
        if self.app.is_running:
            self.app.exit()

    # -- posts of the agent ------------------------------------------------------------------------------

    async def _pump(self) -> None:
        while True:
            await self.awake.wait()
            self.awake.clear()
            if not self.layout.is_covered:
                await self._drain()
            self.app.invalidate()
            await asyncio.sleep(_FRAME)

    async def _drain(self) -> None:
        """Handle everything that was posted, in slices: keys are handled in between."""
        began = time.perf_counter()
        items = self.channel.items
        while items and not self.layout.is_covered:
            for _ in self.talk.handle(items.popleft()):
                if time.perf_counter() - began > _SLICE:
                    self.scrollback.flush()
                    await asyncio.sleep(0)
                    began = time.perf_counter()
        while (block := self.talk.stream.take()) is not None:
            self._live.draining = True
            self.scrollback.put(as_markdown(block), "text")
            if time.perf_counter() - began > _SLICE:
                await asyncio.sleep(0)  # to print is about as much work as to lay out
                self.scrollback.flush()
                await asyncio.sleep(0)
                began = time.perf_counter()
        self._live.draining = False
        self.scrollback.flush()

    def _give_back(self, text: str) -> None:
        """Put a blocked prompt back into the input, to be edited; text typed since follows it."""
        forget(self.buffer.history, text)
        typed = self.buffer.text
        whole = f"{text}\n{typed}" if typed else text
        self.buffer.set_document(Document(whole, len(text)), bypass_readonly=True)

    # -- periodic updates --------------------------------------------------------------------------------

    async def _ticks(self) -> None:
        beat = 0
        while True:
            await asyncio.sleep(_TICK)
            beat += 1
            if beat % 5 == 0:
                self.channel.check_alive()
            activity = self.talk.activity
            # Before the session is ready, silence is the start of it.
            activity.alive = self.channel.alive if self.channel.ready is not None else time.monotonic()
            self.status.expire_hint()
            self._notify()
            self._look_after_terminal()
            silent = time.monotonic() - activity.alive >= SILENT
            if (
                self.channel.busy
                or self.channel.running_hooks()
                or silent
                or self.dialog.open
                or (self.layout.page is not None and self.layout.page.is_stale)
                or self.status.leaving
            ):
                self.app.invalidate()

    def _notify(self) -> None:
        """Say the state in the terminal's title, and ring when the agent begins to wait after a while."""
        state, now = self.status.facts.state, time.monotonic()
        if state == self._state or self.actions.away:
            return
        worked = now - self._state_since >= _LONG_WORK
        if (state == "waits for you" or (state == "idle" and self._state == "busy")) and worked:
            self._output.bell()
        self._state, self._state_since = state, now
        self._output.set_title(f"{state} · {self.status.facts.directory} · hookline")
        self._output.flush()

    def _look_after_terminal(self) -> None:
        """Repair the terminal after hooks wrote to it or changed its settings, and redraw everything."""
        changed = self.state.put_right() if self.state is not None and self.app.is_running else False
        now, runs = time.monotonic(), self.channel.hook_stats.count
        if not changed and (runs == self._seen_runs or now - self._repaired < _REPAIR_EVERY):
            return
        self._seen_runs, self._repaired = runs, now
        if self.layout.page is None:
            self.redraw()

    def redraw(self) -> None:
        with self._output.hold():
            self._output.repair()
            self.app.erase()
            self.app.redraw_now()

    @contextmanager
    def away(self) -> Generator[None]:
        """Leave the terminal to another program: neither repair it nor react to its signals."""
        self.actions.away = True
        if self.state is not None:
            self.state.forget()
        try:
            yield
        finally:
            self.actions.away = False
            if self.state is not None:
                self.state.remember()

    def copy(self, text: str) -> None:
        """Put a text into the clipboard of the user's terminal, which may be on another machine (OSC 52)."""
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode()
        self._output.write_raw(f"\x1b]52;c;{encoded}\x07")
        self._output.flush()

    # -- for completion ---------------------------------------------------------------------------------

    def _cwd(self) -> str:
        return self.channel.ready.agent.workplace.cwd if self.channel.ready is not None else os.getcwd()

    def _project_commands(self) -> dict[str, str]:
        from hookline.agent.prompts.library import entries  # noqa: PLC0415 only for those who type a slash

        found = entries(self._cwd(), os.environ)
        return {
            name: f"a {entry.kind} of {short_path(os.path.dirname(entry.file))}"
            for name, entry in found.items()
        }

    def _arguments(self, command: str) -> Mapping[str, str]:
        if command == "mode":
            from hookline.permissions.modes import MODES  # noqa: PLC0415 see above

            return {name: row.says for name, row in MODES.items()}
        if command == "resume":
            from hookline.agent.transcript.store import SessionsStore, described  # noqa: PLC0415 see above

            return described(SessionsStore(os.environ, self._cwd()))
        return {}


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    try:
        loop.call_soon_threadsafe(function)
    except RuntimeError:
        pass  # the screen is gone
