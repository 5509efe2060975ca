"""Draw the changing rows above the input: growing text, running calls and hooks with times, the queue, a question."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.text import Text

from hookline.agent.call_text import headline, near
from hookline.agent.ports import Shown
from hookline.agent.prompts.prompt import Steering
from hookline.agent.tui.channel import Channel
from hookline.agent.tui.dialog import Dialog
from hookline.agent.tui.output import ScreenOutput
from hookline.agent.tui.scrollback import Scrollback, without_blank_ends
from hookline.agent.tui.text.paint import Painter
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.agent.tools.user import Todo
    from hookline.agent.tui.conversation import ConversationView
    from hookline.engine.running import RunningHook

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_MOST_HOOKS = 5
_MOST_CALLS = 5
_MOST_QUEUED = 3
#: Faster hooks are not shown: a row that flashes by is of no use.
_QUICK = 0.3
#: Seconds without a sign of life before the user is warned.
SILENT = 3.0
#: Rows that the input, the rule and the status line need beside the live rows.
_OTHER_ROWS = 4
_MOST_TAIL = 16
#: Steps of the model's list.
_MOST_TODOS = 6


def _no_lines(_tool_use_id: str) -> Sequence[str]:
    return ()


class RunningCall(Struct, eq=False):
    """A running call."""

    shown: Shown
    since: float
    #: Its head was printed, because something of a subagent came below it.
    printed: bool = False


class Activity:
    """Current activity, as far as the screen knows."""

    def __init__(self) -> None:
        self.calls: dict[str, RunningCall] = {}
        #: The model was asked, and since when; it has not answered all of it yet.
        self.asked: tuple[str, float] | None = None
        #: Text of the answer has arrived.
        self.writes = False
        #: The agent waits until then before it repeats a request.
        self.retries_at: float | None = None
        #: The end of what the model thinks.
        self.thinking = ""
        #: Hooks for which the text is held back.
        self.held = ""
        #: The agent's last sign of life.
        self.alive = time.monotonic()

    def begin_call(self, shown: Shown) -> None:
        self.calls[shown.tool_use_id or str(id(shown))] = RunningCall(shown, time.monotonic())

    def end_call(self, shown: Shown) -> RunningCall | None:
        return self.calls.pop(shown.tool_use_id, None)

    def settle(self) -> None:
        self.calls.clear()
        self.asked = self.retries_at = None
        self.held = ""

    def summary(self, hooks: "Sequence[RunningHook]", *, streams: bool) -> str:
        """Describe in words what would be stopped now."""
        parts = [f"hook {one_line(hook.hook, 60)} ({hook.label})" for hook in hooks[:2]]
        parts += [headline(call.shown.tool, call.shown.tool_input, 80) for call in self.calls.values()]
        if not parts and (streams or self.asked is not None):
            parts = ["the model's answer"]
        return ", ".join(parts[:3]) or "the turn"

    def rows(
        self,
        hooks: "Iterable[RunningHook]",
        taken: str,
        queue: Sequence[str],
        now: float,
        *,
        asks: bool,
        tail: Callable[[str], Sequence[str]] = _no_lines,
    ) -> Iterator[Text]:
        """Yield the rows.

        `taken` is the prompt that hooks check before it counts; `asks`: a question waits for the user; `tail`
        returns the last lines of a running command.
        """
        if taken:
            yield Text(f"> {one_line(taken, 160)}", "dim cyan")
        waited = [hook for hook in hooks if now - hook.since >= _QUICK or hook.message]
        calls = [call for call in self.calls.values() if not call.printed and now - call.since >= _QUICK]
        for call in calls[:_MOST_CALLS]:
            yield _running(headline(call.shown.tool, call.shown.tool_input, 200), now - call.since, "")
            yield from (Text(f"  │ {one_line(line, 200)}", "dim") for line in tail(call.shown.tool_use_id))
        if len(calls) > _MOST_CALLS:
            yield Text(f"  … {len(calls) - _MOST_CALLS} more calls", "dim")
        for hook in waited[:_MOST_HOOKS]:
            name = one_line(hook.hook, 60)
            event = f"{hook.label}: {name}" if hook.message else hook.label
            about = " · ".join(filter(None, (event, near(hook.source))))
            yield _running(hook.message or f"hook {name}", now - hook.since, about)
        if len(waited) > _MOST_HOOKS:
            yield Text(f"  … {len(waited) - _MOST_HOOKS} more hooks", "dim")
        if not waited and not calls and not asks:
            yield from self._model_rows(now)
        if now - self.alive >= SILENT:
            yield _silent(now - self.alive, waited)
        for number, text in enumerate(queue[:_MOST_QUEUED], 1):
            row = Text(f"queued {number}: {one_line(text, 160)}", "dim")
            yield row.append("  (after the next calls)") if isinstance(text, Steering) else row
        if queue:
            more = len(queue) - _MOST_QUEUED
            rest = f"… {more} more · " if more > 0 else ""
            other = (
                "sends it after the turn"
                if isinstance(queue[-1], Steering)
                else "sends it after the next calls"
            )
            yield Text(f"  {rest}Up takes the last one back · Tab {other}", "dim")

    def _model_rows(self, now: float) -> Iterator[Text]:
        if self.retries_at is not None:
            left = max(self.retries_at - now, 0.0)
            yield Text("↻ ", "yellow").append(f"retry in {left:.0f} s").append("  (Esc stops it)", "dim")
        elif self.asked is not None:
            model, since = self.asked
            held = f"its answer is held back for {one_line(self.held, 80)}" if self.held else "Esc stops it"
            does = "writes" if self.writes else "thinks" if self.thinking else "is working"
            yield _running(f"{one_line(model, 60)} {does}", now - since, held)
            if self.thinking and not self.writes:
                last = self.thinking.rstrip().rsplit("\n", 2)[-2:]
                yield from (Text(f"  │ {one_line(line, 200)}", "dim italic") for line in last if line.strip())


def _running(what: str, seconds: float, about: str) -> Text:
    mark = _SPINNER[int(seconds * 10) % len(_SPINNER)]
    text = Text(f"{mark} ", "yellow").append(what).append(f"  {seconds:.1f} s", "dim")
    return text.append(f"  ({one_line(about, 160)})", "dim") if about else text


def _silent(seconds: float, hooks: "Sequence[RunningHook]") -> Text:
    who = f": hook {one_line(hooks[-1].hook, 60)} ({near(hooks[-1].source)})" if hooks else ""
    says = f"! the agent has not answered for {seconds:.0f} s{who}. You can type; Ctrl-C three times leaves."
    return Text(says, "bold red")


_MARKS = {"pending": "☐", "in_progress": "▶", "completed": "☑"}


def _todo_rows(todos: "Sequence[Todo]") -> Iterator[Text]:
    """Yield the model's steps while some are left: those around the one it works on."""
    left = next((at for at, todo in enumerate(todos) if todo.status != "completed"), None)
    if left is None:
        return
    first = max(0, min(left - 1, len(todos) - _MOST_TODOS))
    for todo in todos[first : first + _MOST_TODOS]:
        now = todo.status == "in_progress"
        text = todo.activeForm if now and todo.activeForm else todo.content
        yield Text(f"{_MARKS[todo.status]} {one_line(text, 160)}", "bold" if now else "dim")
    done = sum(todo.status == "completed" for todo in todos)
    if len(todos) > _MOST_TODOS:
        yield Text(f"  {done} of {len(todos)} steps done", "dim")


class LiveRows:
    """All live rows, as many as fit."""

    def __init__(
        self,
        channel: Channel,
        talk: "ConversationView",
        dialog: Dialog,
        scrollback: Scrollback,
        painter: Painter,
        output: ScreenOutput,
        columns: Callable[[], int],
    ) -> None:
        self._channel = channel
        self._columns = columns
        self._talk = talk
        self._dialog = dialog
        self._scrollback = scrollback
        self._painter = painter
        self._output = output
        self._tail_cache: tuple[object, list[str]] = (None, [])
        #: Blocks are being printed one by one: text after them is drawn afterwards.
        self.draining = False

    def rows(self, input_rows: int) -> list[str]:
        columns = self._columns()
        room = max(self._output.get_size().rows - _OTHER_ROWS - input_rows, 3)
        panel = self._panel(columns, room)
        queue = self._channel.queue
        hooks = self._channel.running_hooks()
        below: list[str] = []
        asks = self._dialog.open is not None
        rows = self._talk.activity.rows(
            hooks, queue.taken, list(queue), time.monotonic(), asks=asks, tail=self._channel.tail
        )
        for row in (*rows, *_todo_rows(self._channel.todos)):
            row.no_wrap, row.overflow = True, "ellipsis"
            below += self._painter.lines(row, columns)
        below = ["", *below] if below else below
        left = max(room - len(panel) - len(below), 0)
        return [*self._tail(columns, left), *below[: max(room - len(panel), 0)], *panel]

    def _tail(self, width: int, rows: int) -> list[str]:
        """Return the growing text; nothing while finished blocks wait to be printed."""
        stream = self._talk.stream
        rest, rows = stream.rest, min(rows, _MOST_TAIL)
        if not rest.strip() or rows < 2 or self.draining:
            return []
        key = (rest, width, rows)
        if self._tail_cache[0] != key:
            lines = without_blank_ends(self._painter.lines(stream.tail(rows), width))
            self._tail_cache = (key, ["", *lines[-(rows - 1) :]])
        return self._tail_cache[1]

    def _panel(self, width: int, rows: int) -> list[str]:
        if self._dialog.open is None:
            return []
        panel = self._dialog.panel(self._painter, width, rows - 1)
        if panel is None:
            self._dialog.is_above = True
            asyncio.get_running_loop().call_soon(self._print_question)
            panel = self._dialog.panel(self._painter, width, rows - 1)
        return ["", *self._painter.lines(panel, width)] if panel is not None else []

    def _print_question(self) -> None:
        self._scrollback.put(self._dialog.whole(), "question")
        self._scrollback.flush()
