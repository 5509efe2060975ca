"""Act on keys and signals: send a prompt, stop something, leave, open a page."""

import asyncio
import os
import signal
import time
from typing import TYPE_CHECKING

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.document import Document

from hookline.agent.tui.layout import FullScreenPage
from hookline.agent.tui.pages.transcript import TranscriptPage
from hookline.agent.tui.status import HINT

if TYPE_CHECKING:
    from hookline.agent.tui.screen import Screen

#: Shift-Tab goes through these. Never to bypass: that is a choice to be typed.
_MODES = ("default", "acceptEdits", "plan")


#: Lines of a pasted text that are shown as they are.
_MOST_PASTED = 10


class Actions:
    def __init__(self, screen: "Screen") -> None:
        self._screen = screen
        self._channel = screen.channel
        self._buffer = screen.buffer
        self._dialog = screen.dialog
        self._status = screen.status
        #: Long pasted texts by the marks that stand for them in the input.
        self._pastes: dict[str, str] = {}
        #: When Ctrl-C was pressed last, and how many keys had been pressed by then.
        self._pressed = (0.0, 0)
        self._keys = 0
        #: The agent's thread is left alone: it does not end.
        self.abandoned = False
        #: Another program has the terminal, and gets its signals, too.
        self.away = False

    def key_pressed(self) -> None:
        """Count a key, whatever it does."""
        self._keys += 1

    def send(self) -> None:
        """Handle Enter."""
        text = self._unfolded(self._buffer.text).strip()
        if not text:
            self._channel.release()
            return
        if self._status.leaving:
            return
        self._buffer.history.append_string(text)
        self._buffer.reset()
        self._pastes.clear()
        if text in ("/hooks", "/copy"):
            (self.inspect if text == "/hooks" else self.copy)()
            return
        self._channel.submit(text)
        self._screen.app.invalidate()

    def paste(self, text: str) -> None:
        """Insert pasted text; a long one as a mark, in whose place it is sent."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.removesuffix("\n").count("\n") + 1
        if lines > _MOST_PASTED:
            mark = f"[pasted {lines:,} lines]"
            mark = mark if mark not in self._pastes else f"[pasted {lines:,} lines, {len(self._pastes) + 1}]"
            self._pastes[mark], text = text, mark
        self._buffer.insert_text(text)

    def _unfolded(self, text: str) -> str:
        for mark, pasted in self._pastes.items():
            text = text.replace(mark, pasted)
        return text

    def copy(self) -> None:
        """Put the last answer into the clipboard."""
        answer = self._screen.talk.last_answer
        if answer:
            self._screen.copy(answer)
        self._status.hint("the last answer is in the clipboard" if answer else "there is no answer yet")

    def edit(self) -> None:
        """Handle Ctrl-X Ctrl-E: write the prompt in the user's editor."""
        from hookline.agent.tui.editor import EditorError, edit_text  # noqa: PLC0415 only for those who use it

        async def write() -> None:
            try:
                text = (
                    await edit_text(self._screen, "prompt.md", self._unfolded(self._buffer.text).encode())
                ).decode("utf-8", "replace")
            except EditorError as problem:
                self._status.hint(str(problem))
            else:
                self._buffer.set_document(Document(text.rstrip(), len(text.rstrip())), bypass_readonly=True)

        self._screen.app.create_background_task(write())

    def take_back(self) -> None:
        """Handle Up on an empty line: edit the last queued prompt."""
        text = self._channel.take_back() if not self._buffer.text else None
        if text is not None:
            self._buffer.set_document(Document(text, len(text)), bypass_readonly=True)

    def undo(self) -> None:
        """Handle Esc twice on an empty line while the agent waits."""
        self._channel.submit("/undo")

    def switch_last(self) -> None:
        """Handle Tab on an empty line: the last queued prompt steers the turn, or waits for its end."""
        self._channel.switch_last()
        self._screen.app.invalidate()

    def next_mode(self) -> None:
        """Handle Shift-Tab."""
        ready = self._channel.ready
        if ready is None:
            return
        agent = ready.agent
        now = agent.permissions.mode
        following = _MODES[(_MODES.index(now) + 1) % len(_MODES)] if now in _MODES else _MODES[0]
        self._channel.call(lambda: asyncio.ensure_future(agent.set_mode(following)))
        self._status.hint(f"mode {following}")

    # -- stopping and leaving ---------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Handle Ctrl-C: answer a question with no, stop work, or clear text; leave the second time."""
        if self.away:
            return
        now = time.monotonic()
        before, keys = self._pressed
        # A key in between means that the first was not to leave; the second is one key itself, or a signal.
        twice, self._pressed = now - before < HINT and self._keys - keys <= 1, (now, self._keys)
        if self._status.leaving:
            self._abandon()
        elif self._dialog.open is not None:
            self._dialog.answer(None)
        elif self._channel.busy and not twice:
            self._stop()
        elif self._buffer.text and not twice:
            self._buffer.reset()
            self._status.hint("cleared; Ctrl-C again leaves")
        elif twice:
            self.leave()
        else:
            self._status.hint("Ctrl-C again leaves")

    def escape(self) -> None:
        if self._dialog.open is not None:
            self._dialog.answer(None)
        elif self._buffer.complete_state is not None:
            self._buffer.cancel_completion()
        elif self._channel.busy:
            self._stop()

    def _stop(self) -> None:
        talk = self._screen.talk
        talk.stopping = talk.activity.summary(self._channel.running_hooks(), streams=talk.streams)
        self._channel.stop()
        self._status.hint("stopping; Ctrl-C again leaves")

    def leave(self, *, signalled: bool = False) -> None:
        """End the session; the second time, without waiting for it."""
        if self._status.leaving:
            self._abandon()
            return
        self._status.leaving = True
        self._channel.leave(signalled=signalled)
        self._dialog.dismiss_all()
        self._status.hint("the session ends; Ctrl-C again leaves at once")

    def _abandon(self) -> None:
        """Leave without the agent's thread: a hook may hold it for ever."""
        self.abandoned = True
        if self._screen.app.is_running:
            self._screen.app.exit()

    def suspend(self) -> None:
        """Handle Ctrl-Z: suspend to the shell, and return with `fg`."""

        async def away() -> None:
            with self._screen.away():
                await run_in_terminal(lambda: os.kill(0, signal.SIGTSTP))

        self._screen.app.create_background_task(away())

    # -- pages ------------------------------------------------------------------------------------------

    def inspect(self) -> None:
        from hookline.agent.tui.pages.inspector import Inspector  # noqa: PLC0415 only for those who look

        self._open(Inspector(self._screen))

    def workbench(self) -> None:
        """Handle F3: open the pane, or give it the keys again."""
        from hookline.agent.tui.workbench.pane import WorkbenchPane  # noqa: PLC0415 only for those who look

        if isinstance(self._screen.layout.page, WorkbenchPane):
            self._screen.layout.focus_page(page=True)
        else:
            self._open(WorkbenchPane(self._screen))

    def read_all(self) -> None:
        self._open(TranscriptPage(self._screen.talk.kept.text))

    def _open(self, page: FullScreenPage) -> None:
        if self._screen.layout.page is None:
            self._screen.scrollback.flush()
            self._screen.layout.open(page)

    def close_page(self) -> None:
        if self._screen.layout.page is not None:
            self._screen.layout.close()
            self._screen.awake.set()
