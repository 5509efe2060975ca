"""The screen: prints what is finished, draws what is going on, and never waits for the agent or a hook."""

import asyncio
import os
import re
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.history import History, InMemoryHistory
from prompt_toolkit.input import Input
from rich.console import RenderableType

from hookline.agent.prompts.local_commands import LOCAL_COMMANDS, slash_of
from hookline.tui.activity import SILENT
from hookline.tui.channel import Asked, Channel
from hookline.tui.completion import PromptCompleter
from hookline.tui.conversation import Conversation
from hookline.tui.dialog import Dialog
from hookline.tui.history import forget
from hookline.tui.keys import bindings
from hookline.tui.layout import Page, ScreenLayout
from hookline.tui.output import ScreenOutput, TerminalState
from hookline.tui.pages.transcript import Transcript
from hookline.tui.status import HINT, Status, short_path
from hookline.tui.text import cards
from hookline.tui.text.paint import Painter
from hookline.tui.text.stream import as_markdown
from hookline.tui.text.welcome import keys_card

if TYPE_CHECKING:
    from hookline.engine.engine import RunningHook

#: Seconds between two drawings of streamed text, and between two looks at what changes by itself.
_FRAME = 0.05
_TICK = 0.1
#: Longest stretch of work before keys are looked at.
_SLICE = 0.015
#: Rows that the input, the rule and the status line need beside the live rows.
_OTHER_ROWS = 4
_REPAIR_EVERY = 1.0
_MOST_TAIL = 16


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
    ) -> None:
        self.channel = channel
        self._output = output
        self._painter = painter or Painter()
        self._state = state
        self.buffer = Buffer(
            multiline=True,
            history=history or InMemoryHistory(),
            completer=PromptCompleter(self._cwd, self._project_commands),
            complete_while_typing=True,
        )
        self.dialog = Dialog(self.buffer)
        self.status = Status(channel, self._changed)
        self.talk = Conversation(channel, self.dialog, self.status, self._put, self._give_back)
        self.layout = ScreenLayout(self.buffer, self._live_rows, self.status.line, output, source)
        self.app = self.layout.app(bindings(self))
        self._printed: list[str] = []
        self._last_kind = ""
        self._awake = asyncio.Event()
        self._tail_cache: tuple[object, list[str]] = (None, [])
        #: Blocks are being printed one after another: what follows them is drawn when they are.
        self._draining = False
        self._pressed = 0.0
        self._seen_runs = 0
        self._repaired = 0.0
        #: The agent's thread is left alone: it does not end.
        self.abandoned = False

    # -- running ----------------------------------------------------------------------------------------

    async def run(self, start: Callable[[], None]) -> None:
        """Until `finish` is called. `start` is called when the screen has been drawn for the first time."""
        loop = asyncio.get_running_loop()
        self.channel.wake = lambda: _call(loop, self._awake.set)
        tasks: list[asyncio.Future[None]] = []

        def begin() -> None:
            def first() -> None:
                if self._state is not None:
                    self._state.remember()
                tasks.extend(asyncio.ensure_future(task) for task in (self._pump(), self._ticks()))
                start()

            loop.call_soon(first)

        try:
            await self.app.run_async(pre_run=begin, handle_sigint=False)
        finally:
            for task in tasks:
                task.cancel()

    def finish(self) -> None:
        """The agent has ended: print what is left, and go."""
        if self.layout.page is not None:
            self.close_page()
        while self.channel.items:
            self.talk.now(self.channel.items.popleft())
        self.talk.end_stream()
        self._flush()
        if self.app.is_running:
            self.app.exit()

    async def _pump(self) -> None:
        while True:
            await self._awake.wait()
            self._awake.clear()
            if self.layout.page is None:
                await self._drain()
            self.app.invalidate()
            await asyncio.sleep(_FRAME)

    async def _drain(self) -> None:
        """Everything that was posted, in slices: keys are looked at in between."""
        began = time.perf_counter()
        items = self.channel.items
        while items and self.layout.page is None:
            for _ in self.talk.handle(items.popleft()):
                if time.perf_counter() - began > _SLICE:
                    self._flush()
                    await asyncio.sleep(0)
                    began = time.perf_counter()
        while (block := self.talk.stream.take()) is not None:
            self._draining = True
            self._put(as_markdown(block), "text")
            if time.perf_counter() - began > _SLICE:
                self._flush()
                await asyncio.sleep(0)
                began = time.perf_counter()
        self._draining = False
        self._flush()

    async def _ticks(self) -> None:
        beat = 0
        while True:
            await asyncio.sleep(_TICK)
            beat += 1
            if beat % 5 == 0:
                self.channel.check_alive()
            self.talk.activity.alive = (
                self.channel.alive if self.channel.loop is not None else time.monotonic()
            )
            self.status.expire_hint()
            self._look_after_terminal()
            silent = time.monotonic() - self.talk.activity.alive >= SILENT
            if (
                self.channel.busy
                or self.running_hooks()
                or silent
                or self.dialog.open
                or self.layout.page
                or self.status.leaving
            ):
                self.app.invalidate()

    def _look_after_terminal(self) -> None:
        """Hooks may have written to the terminal or set it: put it right, and draw everything anew."""
        changed = self._state.put_right() if self._state is not None and self.app.is_running else False
        now = time.monotonic()
        if not changed and (
            self.channel.hook_stats.count == self._seen_runs or now - self._repaired < _REPAIR_EVERY
        ):
            return
        self._seen_runs, self._repaired = self.channel.hook_stats.count, now
        if self.layout.page is None:
            self.redraw()

    def redraw(self) -> None:
        with self._output.hold():
            self._output.repair()
            self.app.renderer.erase()
            self.app.redraw_now()

    def _changed(self) -> None:
        self.app.invalidate()

    # -- printing and drawing ---------------------------------------------------------------------------

    def _give_back(self, text: str) -> None:
        """A prompt that was blocked, to be edited; what was typed since comes after it."""
        forget(self.buffer.history, text)
        typed = self.buffer.text
        whole = f"{text}\n{typed}" if typed else text
        self.buffer.set_document(Document(whole, len(text)), bypass_readonly=True)

    def _put(self, what: RenderableType, kind: str) -> None:
        """Print something that is finished. Blocks of text, and what follows them, have a blank line between."""
        if self._last_kind and kind != "prompt" and (kind == "text" or kind != self._last_kind):
            self._printed.append("\n")
        self._last_kind = kind
        lines = self._painter.lines(what, self._width)
        if kind == "text":
            lines = _without_blank_ends(lines)
        self._printed += [f"{line}\n" for line in lines]

    def put(self, what: RenderableType) -> None:
        self._put(what, "note")
        self._flush()

    def _flush(self) -> None:
        if not self._printed or self.layout.page is not None:
            return
        text = "".join(self._printed)
        self._printed.clear()
        with self._output.hold():
            if self.app.is_running:
                self.app.renderer.erase()
            self._output.write_block(text)
            if self.app.is_running:
                self.app.redraw_now()

    @property
    def _width(self) -> int:
        return self._output.get_size().columns

    def _live_rows(self) -> list[str]:
        size = self._output.get_size()
        room = max(size.rows - _OTHER_ROWS - min(self.buffer.document.line_count, 10), 3)
        panel = self._panel(size.columns, room)
        queue = list(self.channel.queue)
        taken = self.channel.queue.taken
        below: list[str] = []
        for row in self.talk.activity.rows(self.running_hooks(), taken, queue, time.monotonic()):
            row.no_wrap, row.overflow = True, "ellipsis"
            below += self._painter.lines(row, size.columns)
        below = ["", *below] if below else below
        left = max(room - len(panel) - len(below), 0)
        return [*self._tail(size.columns, left), *below[: max(room - len(panel), 0)], *panel]

    def _tail(self, width: int, rows: int) -> list[str]:
        """What is still growing; while finished blocks wait to be printed, nothing."""
        rest, rows = self.talk.stream.rest, min(rows, _MOST_TAIL)
        if not rest.strip() or rows < 2 or self._draining:
            return []
        key = (rest, width, rows)
        if self._tail_cache[0] != key:
            lines = _without_blank_ends(self._painter.lines(self.talk.stream.tail(rows), width))
            self._tail_cache = (key, ["", *lines[-(rows - 1) :]])
        return self._tail_cache[1]

    def _panel(self, width: int, rows: int) -> list[str]:
        if self.dialog.open is None:
            return []
        panel = self.dialog.panel(self._painter, width, rows - 1)
        if panel is None:
            self.dialog.is_above = True
            asyncio.get_running_loop().call_soon(self._print_question)
            panel = self.dialog.panel(self._painter, width, rows - 1)
        return ["", *self._painter.lines(panel, width)] if panel is not None else []

    def _print_question(self) -> None:
        self._put(self.dialog.whole(), "question")
        self._flush()

    # -- the status line --------------------------------------------------------------------------------
    @property
    def waits_for_answer(self) -> bool:
        """A question is open, or will be once the page is closed."""
        return self.dialog.open is not None or any(
            isinstance(item, Asked) for item in tuple(self.channel.items)
        )

    def running_hooks(self) -> "tuple[RunningHook, ...]":
        return self.channel.engine.status.now() if self.channel.engine is not None else ()

    def _cwd(self) -> str:
        return self.channel.ready.agent.workplace.cwd if self.channel.ready is not None else os.getcwd()

    def _project_commands(self) -> dict[str, str]:
        from hookline.agent.prompts.library import entries  # noqa: PLC0415 only for those who type a slash

        found = entries(self._cwd(), os.environ)
        return {
            name: f"a {entry.kind} of {short_path(os.path.dirname(entry.file))}"
            for name, entry in found.items()
        }

    # -- what the user does -----------------------------------------------------------------------------

    def send(self) -> None:
        """Enter."""
        text = self.buffer.text.strip()
        if not text:
            self.channel.release()
            return
        if self.status.leaving:
            return
        self.buffer.append_to_history()
        self.buffer.reset()
        if text == "/hooks":
            self.inspect()
            return
        slash = slash_of(text)
        if slash is not None and slash.name in LOCAL_COMMANDS:
            self.put(cards.command_card(text))
        if text == "/help":
            self.put(keys_card())
        self.channel.submit(text)
        self.app.invalidate()

    def interrupt(self) -> None:
        """Ctrl-C: a question is answered no, work is stopped, text is cleared; twice it leaves."""
        now = time.monotonic()
        twice, self._pressed = now - self._pressed < HINT, now
        if self.status.leaving:
            self._abandon()
        elif self.dialog.open is not None:
            self.dialog.answer(None)
        elif self.channel.busy and not twice:
            self._stop()
        elif self.buffer.text and not twice:
            self.buffer.reset()
        elif twice:
            self.leave()
        else:
            self.status.hint("Ctrl-C again leaves")

    def escape(self) -> None:
        if self.dialog.open is not None:
            self.dialog.answer(None)
        elif self.buffer.complete_state is not None:
            self.buffer.cancel_completion()
        elif self.channel.busy:
            self._stop()

    def _stop(self) -> None:
        self.talk.stopping = self.talk.activity.summary(self.running_hooks(), streams=self.talk.streams)
        self.channel.stop()
        self.status.hint("stopping; Ctrl-C again leaves")

    def leave(self, *, signalled: bool = False) -> None:
        """End the session; a second time, without waiting for it."""
        if self.status.leaving:
            self._abandon()
            return
        self.status.leaving = True
        self.channel.leave(signalled=signalled)
        self.dialog.dismiss_all()
        self.status.hint("the session ends; Ctrl-C again leaves at once")

    def _abandon(self) -> None:
        """Without the agent's thread: a hook may hold it for ever."""
        self.abandoned = True
        if self.app.is_running:
            self.app.exit()

    def suspend(self) -> None:
        """Ctrl-Z: to the shell, and back with `fg`."""

        async def away() -> None:
            if self._state is not None:
                self._state.forget()
            await run_in_terminal(lambda: os.kill(0, signal.SIGTSTP))
            if self._state is not None:
                self._state.remember()

        self.app.create_background_task(away())

    def next_mode(self) -> None:
        """Shift-Tab. Never to bypass: that is a choice to be typed."""
        ready = self.channel.ready
        if ready is None:
            return
        order = ("default", "acceptEdits", "plan")
        now = ready.agent.permissions.mode
        following = order[(order.index(now) + 1) % len(order)] if now in order else order[0]
        agent = ready.agent
        self.channel.call(lambda: asyncio.ensure_future(agent.set_mode(following)))
        self.status.hint(f"mode {following}")

    def take_back(self) -> bool:
        """Up on an empty line: the last queued prompt, to be edited."""
        text = self.channel.take_back() if not self.buffer.text else None
        if text is None:
            return False
        self.buffer.set_document(Document(text, len(text)), bypass_readonly=True)
        return True

    # -- pages ------------------------------------------------------------------------------------------

    def inspect(self) -> None:
        from hookline.tui.pages.inspector import Inspector  # noqa: PLC0415 only for those who look

        self.open_page(Inspector(self))

    def read_all(self) -> None:
        self.open_page(Transcript(self.talk.kept.text))

    def open_page(self, page: Page) -> None:
        if self.layout.page is None and self.dialog.open is None:
            self._flush()
            self.layout.open(self.app, page)

    def close_page(self) -> None:
        if self.layout.page is not None:
            self.layout.close(self.app)
            self._awake.set()


_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def _without_blank_ends(lines: list[str]) -> list[str]:
    """Blank lines between blocks are ours to place."""
    written = [number for number, line in enumerate(lines) if _ESCAPES.sub("", line).strip()]
    return lines[written[0] : written[-1] + 1] if written else []


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    try:
        loop.call_soon_threadsafe(function)
    except RuntimeError:
        pass  # the screen is gone
