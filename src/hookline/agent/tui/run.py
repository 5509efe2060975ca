"""Start the screen on this thread and the agent on another one, and leave the terminal as it was."""

import asyncio
import contextlib
import io
import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import clear_typeahead

from hookline.agent.tui.channel import Channel, Note
from hookline.agent.tui.input.history import prompt_history
from hookline.agent.tui.output import TerminalState, standard_output
from hookline.agent.tui.screen import Screen
from hookline.agent.user_interface import Play

#: The exit status of a session that was abandoned.
_INTERRUPTED = 130
#: Seconds between two chances for the screen's thread while Python code of a hook is busy.
_SWITCH = 0.001
#: Seconds for the session to end after the terminal is gone.
_LONGEST_END = 60.0


class AgentThread:
    """A thread that runs the agent on its own loop. It is never joined: a hook may hold it for ever."""

    def __init__(self, play: Play, channel: Channel, done: Callable[[], object]) -> None:
        self._play = play
        self._channel = channel
        self._done = done
        self.status = _INTERRUPTED
        self.error: BaseException | None = None
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="agent", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        try:
            self.status = asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001 it is raised again on the main thread
            self.error = error
        finally:
            self._channel.loop = None
            self.ended.set()
            self._done()

    async def _main(self) -> int:
        # Here and not above: this loads most of the agent, and the screen is visible already.
        from hookline.agent.tui.interface import ScreenFront  # noqa: PLC0415 see above

        return await self._play(ScreenFront(self._channel))


def run_screen(play: Play) -> int:
    """Run the screen and return the exit status. Raises what the agent raises."""
    switch = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    state = TerminalState()
    try:
        return asyncio.run(_main(play, state))
    finally:
        state.restore()
        sys.setswitchinterval(switch)


async def _main(play: Play, state: TerminalState) -> int:
    loop = asyncio.get_running_loop()
    channel, output = Channel(), standard_output()
    screen = Screen(channel, output, source=create_input(sys.stdin), history=prompt_history(), state=state)
    agent = AgentThread(play, channel, lambda: _soon(loop, screen.finish))

    def start() -> None:
        agent.start()
        threading.Thread(target=_load_ahead, name="load", daemon=True).start()

    screen.buffer.text = _typed_ahead(channel)
    screen.buffer.cursor_position = len(screen.buffer.text)
    with _signals(loop, screen), _redirected(channel):
        try:
            await screen.run(start)
        except (EOFError, OSError, termios.error):
            # The terminal was closed.
            if not screen.status.leaving:
                screen.actions.leave(signalled=True)
        if not screen.actions.abandoned and not agent.ended.is_set():
            await _wait(agent)
    clear_typeahead(screen.app.input)
    if (ready := channel.ready) is not None and ready.agent.conversation.records.path and ready.agent.turns:
        print(f"continue with: hookline agent --resume {ready.session_id}", flush=True)
    if agent.error is not None:
        raise agent.error
    return agent.status if agent.ended.is_set() else _INTERRUPTED


async def _wait(agent: AgentThread) -> None:
    """Wait for the session to end after the terminal is gone; SessionEnd hooks still have their time."""
    await asyncio.to_thread(agent.ended.wait, _LONGEST_END)


def _soon(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(function)


@contextmanager
def _signals(loop: asyncio.AbstractEventLoop, screen: Screen) -> Generator[None]:
    """Handle signals: SIGINT is Ctrl-C; SIGTERM and a closed terminal end the session."""

    def hang_up() -> None:
        if not screen.status.leaving:
            screen.actions.leave(signalled=True)
        if screen.app.is_running:
            screen.app.exit()

    reactions: dict[int, Callable[[], object]] = {
        signal.SIGINT: screen.actions.interrupt,
        signal.SIGTERM: lambda: screen.actions.leave(signalled=True),
        signal.SIGHUP: hang_up,
    }
    for number, react in reactions.items():
        loop.add_signal_handler(number, react)
    try:
        yield
    finally:
        for number in reactions:
            loop.remove_signal_handler(number)


class _Notes(io.TextIOBase):
    """Stream that turns a library's output to stdout or stderr into notes: on the terminal it would damage
    the screen.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._rest = ""

    def write(self, text: str, /) -> int:
        *lines, self._rest = f"{self._rest}{text}".split("\n")
        for line in lines:
            if line.strip():
                self._channel.post(Note(line))
        return len(text)

    def writable(self) -> bool:
        return True


@contextmanager
def _redirected(channel: Channel) -> Generator[None]:
    with contextlib.redirect_stdout(_Notes(channel)), contextlib.redirect_stderr(_Notes(channel)):
        yield


def _typed_ahead(channel: Channel) -> str:
    """Queue lines typed before the screen was up as prompts; return the unfinished one."""
    if not os.isatty(0):
        return ""
    import tty  # noqa: PLC0415 only here

    with contextlib.suppress(OSError, ValueError):
        # Without this the unfinished line could not be read; and nothing that was typed may be dropped.
        tty.setcbreak(0, termios.TCSANOW)
    typed = b""
    while select.select([0], [], [], 0)[0] and len(typed) < 1_000_000:
        try:
            chunk = os.read(0, 65536)
        except OSError:
            break
        if not chunk:
            break
        typed += chunk
    *lines, rest = typed.decode("utf-8", "replace").replace("\r", "\n").split("\n")
    channel.queue.extend(line for line in lines if line.strip())
    return "".join(character for character in rest if character.isprintable())


def _load_ahead() -> None:
    """Load the modules that the first answer needs, ahead of time."""
    from rich.text import Text  # noqa: PLC0415 on a separate thread

    from hookline.agent.tui.text.paint import Painter  # noqa: PLC0415 see above
    from hookline.agent.tui.text.stream import as_markdown  # noqa: PLC0415 see above

    painter = Painter()
    painter.text(as_markdown("# a\n\n- b\n\n```python\nc = 1\n```\n\n| d |\n|---|\n| e |\n"), 80)
    painter.text(Text("f"), 80)
