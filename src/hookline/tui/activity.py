"""The rows above the input that change: what runs, for how long, what waits; and a sign of life of the agent."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.text import Text

from hookline.agent.call_text import headline, near
from hookline.agent.ports import Shown
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.engine.engine import RunningHook

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_MOST_HOOKS = 5
_MOST_CALLS = 5
_MOST_QUEUED = 3
#: Hooks that are faster are not shown: a row that flashes by tells nobody anything.
_QUICK = 0.3
#: Seconds without a sign of life before the user is told.
SILENT = 3.0


class Call(Struct, eq=False):
    """A call that runs."""

    shown: Shown
    since: float
    #: Its head was printed, because something of a sub-agent came below it.
    printed: bool = False


class Activity:
    """What is going on, as far as the screen knows."""

    def __init__(self) -> None:
        self.calls: dict[str, Call] = {}
        #: The model was asked, and since when; it is not answering yet.
        self.asked: tuple[str, float] | None = None
        #: Hooks for which the text is held back.
        self.held = ""
        #: The agent's last sign of life.
        self.alive = time.monotonic()

    def begin_call(self, shown: Shown) -> None:
        self.calls[shown.tool_use_id or str(id(shown))] = Call(shown, time.monotonic())

    def end_call(self, shown: Shown) -> Call | None:
        return self.calls.pop(shown.tool_use_id, None)

    def settle(self) -> None:
        self.calls.clear()
        self.asked = None
        self.held = ""

    def summary(self, hooks: "Sequence[RunningHook]", *, streams: bool) -> str:
        """In words, what would be stopped now."""
        parts = [f"hook {one_line(hook.hook, 60)} ({hook.event})" for hook in hooks[:2]]
        parts += [headline(call.shown.tool, call.shown.tool_input, 80) for call in self.calls.values()]
        if not parts and (streams or self.asked is not None):
            parts = ["the model's answer"]
        return ", ".join(parts[:3]) or "the turn"

    def rows(
        self, hooks: "Iterable[RunningHook]", taken: str, queue: Sequence[str], now: float
    ) -> Iterator[Text]:
        """`taken` is the prompt that hooks look at before it counts."""
        if taken:
            yield Text(f"> {one_line(taken, 160)}", "dim cyan")
        waited = [hook for hook in hooks if now - hook.since >= _QUICK or hook.message]
        calls = [call for call in self.calls.values() if not call.printed and now - call.since >= _QUICK]
        for call in calls[:_MOST_CALLS]:
            yield _running(headline(call.shown.tool, call.shown.tool_input, 200), now - call.since, "")
        if len(calls) > _MOST_CALLS:
            yield Text(f"  … {len(calls) - _MOST_CALLS} more calls", "dim")
        for hook in waited[:_MOST_HOOKS]:
            name = one_line(hook.hook, 60)
            event = f"{hook.event}: {name}" if hook.message else hook.event
            about = " · ".join(filter(None, (event, near(hook.source))))
            yield _running(hook.message or f"hook {name}", now - hook.since, about)
        if len(waited) > _MOST_HOOKS:
            yield Text(f"  … {len(waited) - _MOST_HOOKS} more hooks", "dim")
        if self.asked is not None and not waited and not calls:
            model, since = self.asked
            held = f"its answer is held back for {one_line(self.held, 80)}" if self.held else ""
            yield _running(f"{one_line(model, 60)} is at work", now - since, held)
        if now - self.alive >= SILENT:
            yield _silent(now - self.alive, waited)
        for number, text in enumerate(queue[:_MOST_QUEUED], 1):
            yield Text(f"queued {number}: {one_line(text, 160)}", "dim")
        if queue:
            more = len(queue) - _MOST_QUEUED
            rest = f"… {more} more · " if more > 0 else ""
            yield Text(f"  {rest}Up takes the last one back", "dim")


def _running(what: str, seconds: float, about: str) -> Text:
    mark = _SPINNER[int(seconds * 10) % len(_SPINNER)]
    text = Text(f"{mark} ", "yellow").append(what).append(f"  {seconds:.1f} s", "dim")
    return text.append(f"  ({one_line(about, 160)})", "dim") if about else text


def _silent(seconds: float, hooks: "Sequence[RunningHook]") -> Text:
    who = f": hook {one_line(hooks[-1].hook, 60)} ({near(hooks[-1].source)})" if hooks else ""
    says = f"! the agent has not answered for {seconds:.0f} s{who}. You can type; Ctrl-C three times leaves."
    return Text(says, "bold red")
