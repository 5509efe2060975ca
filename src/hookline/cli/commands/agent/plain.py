"""Run the agent without a screen: labelled lines for pipes, dumb terminals and screen readers, or the answer alone."""

import asyncio
import signal
import sys
import termios
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from hookline.agent.build import BuiltAgent
from hookline.agent.call_text import headline, near, patch_lines, result_text, rewrite_text
from hookline.agent.hooks import FiredEvent
from hookline.agent.mcp.form import FormAnswers
from hookline.agent.ports import Choice, Listener, Shown, UserPort
from hookline.agent.session.session import PromptTurn
from hookline.cli.commands.agent.line_conversation import LineAsker, LineConversation, LineInput
from hookline.cli.output import note, show
from hookline.cli.text import count_of
from hookline.config.engine import Engine
from hookline.engine.running import RunningHooks
from hookline.model.safe_text import one_line, printable

_WIDEST = 160
_MOST_PATCH = 40


class ProgressLines:
    """Listener that prints one labelled line on stderr for each thing that happens, but not the answer."""

    def show(self, shown: Shown) -> None:
        for line in _lines(shown):
            note(f"{_who(shown)}{line}")

    def running(self, hooks: RunningHooks) -> None:
        """Do nothing: a line for each status of a hook would be too many."""


class PlainLines(ProgressLines):
    """Listener for a conversation in lines: the agent's words on stdout as they arrive, a whole line at a time."""

    def __init__(self) -> None:
        self._rest = ""
        self._speaks = False
        self._message: str | None = None

    def show(self, shown: Shown) -> None:
        match shown.kind:
            case "delta":
                *lines, self._rest = f"{self._rest}{shown.text}".split("\n")
                for line in lines:
                    self._say(line, shown)
            case "answer":
                # The streamed text is printed already, up to its last line.
                text = self._rest if self._speaks or self._rest else shown.text
                for line in text.split("\n") if text or not self._speaks else ():
                    self._say(line, shown)
                self._rest, self._speaks = "", False
            case "settled" | "call" | "partial" if self._rest or self._speaks:
                self._end(shown)
                super().show(shown)
            case "prompt":
                note(f"you: {printable(shown.text)}")
            case _:
                super().show(shown)

    def _say(self, line: str, shown: Shown) -> None:
        label = " " * 7 if self._speaks else "agent: "
        self._speaks = True
        show(f"{_who(shown)}{label}{printable(line)}".rstrip())

    def _end(self, shown: Shown) -> None:
        """Show what arrived of an answer that broke off."""
        if self._rest:
            self._say(self._rest, shown)
        self._rest, self._speaks = "", False

    def running(self, hooks: RunningHooks) -> None:
        """Show the status message of a hook, once when it changes."""
        message, self._message = self._message, hooks.message
        if self._message is not None and self._message != message:
            note(f"hook: {self._message}")


def _who(shown: Shown) -> str:
    return f"[{one_line(shown.agent, 40)}] " if shown.agent else ""


def _by(shown: Shown) -> str:
    """Describe the hook that it comes from, and where it is configured."""
    where = ", ".join(filter(None, (f"hook {shown.hook}" if shown.hook else "", near(shown.source))))
    return f" ({one_line(where, 200)})" if where else ""


def _lines(shown: Shown) -> list[str]:
    match shown.kind:
        case "call":
            lines = [f"tool: {headline(shown.tool, shown.tool_input, _WIDEST)}"]
        case "result":
            lines = _result(shown)
        case "retry":
            lines = [f"warning: {printable(shown.text)}, in {shown.seconds:.0f} s"]
        case "warning" | "notice" | "blocked":
            label = "note" if shown.kind == "notice" else shown.kind
            lines = [f"{label}: {printable(shown.text)}{_by(shown)}"]
        case "wake":
            lines = [
                f"hook: the agent continues because of this: {one_line(shown.text, _WIDEST)}{_by(shown)}"
            ]
        case "rewrite" if shown.field != "messages":
            changed = rewrite_text(shown.field, shown.before, shown.after, _WIDEST)
            lines = [f"hook: changed {changed}{_by(shown)}"]
        case _:
            lines = []
    return lines


def _result(shown: Shown) -> list[str]:
    if shown.refused:
        call = headline(shown.tool, shown.tool_input, _WIDEST)
        return [f"tool: {call}", f"  denied: {one_line(shown.text, 1000)}{_by(shown)}"]
    if shown.is_error:
        return [f"  failed: {one_line(shown.text, _WIDEST)}"]
    patch = patch_lines(shown.patch)
    more = [f"  [... {len(patch) - _MOST_PATCH} more lines ...]"] if len(patch) > _MOST_PATCH else []
    return [
        *(f"  {line}" for line in patch[:_MOST_PATCH]),
        *more,
        f"  = {one_line(result_text(shown), _WIDEST)}",
    ]


def _ignore(fired: FiredEvent) -> None:
    del fired


class LineFront:
    """User interface by lines; without `lines` no user can be asked, and only queued prompts are played."""

    def __init__(
        self,
        lines: LineInput | None,
        listener: Listener,
        answers: "PrintedAnswers | None" = None,
        fired: Callable[[FiredEvent], None] = _ignore,
    ) -> None:
        self._lines = lines
        self._fired = fired
        self._engine: Engine | None = None
        self._answers = answers
        self._asker = LineAsker(lines, note) if lines is not None else None
        self.talks = lines is not None and sys.stdin.isatty()
        self.user = UserPort(
            listener=listener,
            asker=self._asker,
            confirmer=self._asker if self.talks else None,
            chooser=self._asker if self.talks else None,
        )
        self.answers = FormAnswers(self._asker) if self._asker is not None else None
        self.queue: deque[str] = deque()

    def watch(self, engine: Engine) -> None:
        self._engine = engine
        if isinstance(self.user.listener, ProgressLines):
            engine.status.subscribe(self.user.listener.running)

    def note(self, text: str) -> None:
        note(text)

    def fired(self, fired: FiredEvent) -> None:
        self._fired(fired)

    def stopped(self, queued: int) -> None:
        waiting = f"; {queued} queued, Enter sends the first" if queued else ""
        note(f"stopped; Ctrl-C once more, or /exit, leaves{waiting}")

    def opened(self, ready: BuiltAgent) -> None:
        """Print one line about a new session, at a terminal."""
        if not self.talks or not isinstance(self.user.listener, PlainLines):
            return
        agent, hooks = ready.agent, len(self._engine.hooks) if self._engine is not None else 0
        earlier = len(agent.conversation.messages)
        goes_on = f", {count_of(earlier, 'message')} of an earlier session" if earlier else ""
        note(
            f"hookline: {one_line(agent.model_name, 80)}, mode {agent.permissions.mode}, "
            f"{count_of(hooks, 'active hook')}{goes_on}; /help lists commands, Ctrl-D leaves"
        )

    async def choose(self, title: str, body: Sequence[str], choices: Sequence[Choice]) -> str | None:
        """Ask the user; None for Ctrl-C, too. Text typed before the question appeared is not an answer."""
        if self._asker is None or not (self.talks and sys.stderr.isatty()):
            return None
        typing = asyncio.ensure_future(self._asker.choose(title, body, choices))
        left: list[bool] = []

        def leave() -> None:
            left.append(True)
            typing.cancel()

        with self.on_signals(typing.cancel, leave):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
            await asyncio.wait({typing})
        if left:
            raise KeyboardInterrupt
        return None if typing.cancelled() else typing.result()

    @contextmanager
    def on_signals(self, stop: Callable[[], object], leave: Callable[[], object]) -> Generator[None]:
        loop = asyncio.get_running_loop()
        signals = {signal.SIGINT: stop, signal.SIGTERM: leave, signal.SIGHUP: leave}
        for number, react in signals.items():
            loop.add_signal_handler(number, react)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    async def talk(self, ready: BuiltAgent) -> PromptTurn | None:
        if self._lines is None or self._asker is None:
            return await ready.agent.run(tell=self._translated)
        conversation = LineConversation(
            ready.agent, self._lines, self._asker, self._translated, eager=self.talks
        )
        return await conversation.run()

    def _translated(self, result: PromptTurn) -> None:
        if self._answers is not None:
            self._answers.add(result)

    def ended(self, result: PromptTurn | None) -> None:
        del result
        if self._answers is not None:
            self._answers.end()


class PrintedAnswers:
    """Printer of the answers alone, on stdout. The last one comes at the end: an interrupt after it changes nothing."""

    def __init__(self) -> None:
        self._last: PromptTurn | None = None

    def add(self, result: PromptTurn) -> None:
        self.end()
        self._last = result

    def end(self) -> None:
        if self._last is not None and self._last.text:
            show(printable(self._last.text))
        self._last = None
