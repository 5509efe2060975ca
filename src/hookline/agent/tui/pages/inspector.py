"""Show every active hook with its runs and reasons (F2 or /hooks). The user can switch one for this session."""

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from prompt_toolkit.formatted_text import AnyFormattedText, FormattedText

from hookline.agent.call_text import near
from hookline.model.safe_text import one_line, printable

if TYPE_CHECKING:
    from hookline.agent.hooks import FiredEvent
    from hookline.agent.tui.screen import Screen
    from hookline.config.engine import Engine
    from hookline.engine.explain import MatchResult
    from hookline.engine.session import Session
    from hookline.model.hook import Hook
    from hookline.model.run import Mode
    from hookline.trust.trust import Trust

_MODES: "dict[str, Mode]" = {"s": "shadow", "o": "off", "e": "enforce"}
_KEYS = "s shadow  o off  e enforce (this session only)  Enter why  q back"
_LONGEST_WHY = 2.0


class Inspector:
    """A page of the alternate screen, redrawn while hooks run."""

    def __init__(self, screen: "Screen") -> None:
        self._screen = screen
        self._at = 0
        self._top = 0
        self._said = ""
        self._why: list[str] | None = None
        self._asked: Hook | None = None
        self._trust: dict[int, str] = {}
        self._asking: asyncio.Future[None] | None = None
        self._look_up_trust()

    @property
    def _engine(self) -> "Engine | None":
        return self._screen.channel.engine

    @property
    def _hooks(self) -> "Sequence[Hook]":
        """Return the hooks by event, in the order they run."""
        hooks = (*(self._engine.hooks if self._engine is not None else ()), *self._session_hooks)
        order = list(dict.fromkeys(hook.event.name for hook in hooks))
        return sorted(hooks, key=lambda hook: order.index(hook.event.name))

    @property
    def _session(self) -> "Session | None":
        ready = self._screen.channel.ready
        return ready.agent.hooks.session if ready is not None else None

    @property
    def _session_hooks(self) -> "Sequence[Hook]":
        """Return hooks of skills and definitions, which apply only in this session."""
        return self._session.hooks if self._session is not None else ()

    @property
    def is_stale(self) -> bool:
        """True: times of running hooks change all the time."""
        return True

    def close(self) -> None:
        """Do nothing: what it computes is of no use to others."""

    # -- keys -------------------------------------------------------------------------------------------

    def press(self, key: str) -> bool:
        if self._why is not None:
            if key in ("escape", "q", "enter", "backspace"):
                self._why = None
                return True
            return False
        hooks = self._hooks
        step = {"up": -1, "k": -1, "down": 1, "j": 1, "pageup": -10, "pagedown": 10}.get(key)
        if step is not None:
            self._at = max(0, min(self._at + step, len(hooks) - 1))
            self._said = ""
        elif key in _MODES and hooks:
            self._switch(hooks[min(self._at, len(hooks) - 1)], _MODES[key])
        elif key == "enter" and hooks:
            self._ask_why(hooks[min(self._at, len(hooks) - 1)])
        else:
            return False
        return True

    def _switch(self, hook: "Hook", mode: "Mode") -> None:
        if self._engine is not None:
            problem = self._engine.set_mode(hook, mode)
            self._said = problem or f"{hook.name}: {mode}, until this session ends"
            if mode == "off" and not problem:
                self._end_running(self._engine, hook)

    def _end_running(self, engine: "Engine", hook: "Hook") -> None:
        """End runs of a hook that was switched off."""
        for call in engine.status.calls:
            if (call.hook.name, call.hook.where) == (hook.name, hook.where):
                self._screen.channel.call(lambda call=call: engine.skip(call, "switched off while it ran"))

    def _ask_why(self, hook: "Hook") -> None:
        self._asked = hook
        self._why = [*self._facts(hook), "", "asking why it would run, or would not …"]
        self._asking = asyncio.ensure_future(self._fill_in_why(hook))

    async def _fill_in_why(self, hook: "Hook") -> None:
        """Compute the reason on another thread: patterns may be slow."""
        facts = self._facts(hook)
        try:
            lines = await asyncio.wait_for(asyncio.to_thread(self._explain, hook), _LONGEST_WHY)
        except TimeoutError:
            lines = ["it takes too long to find out"]
        if self._why is not None and self._asked is hook:
            self._why = [*facts, "", *lines]
            self._screen.app.invalidate()

    def _explain(self, hook: "Hook") -> list[str]:
        """Explain why the hook ran, or did not, at the last event of its kind."""
        channel = self._screen.channel
        fired, session = channel.events.last(hook.event.name), self._session
        if fired is None:
            return [f"no {hook.event_label} has happened yet in this session"]
        decisions: Sequence[MatchResult] = (
            session.explain(hook.event, fired.payload) if session is not None else ()
        )
        found = next((decision for decision in decisions if decision.prepared.hook is hook), None)
        if found is None:
            found = next((one for one in decisions if one.prepared.hook.name == hook.name), None)
        if found is None:
            return ["it is not active"]
        return [f"at the last {hook.event_label}: {_happened(hook, fired, found)}"]

    def _facts(self, hook: "Hook") -> list[str]:
        record, engine = self._screen.channel.hook_stats.of(hook), self._engine
        last = record.last
        lines = [
            f"{hook.event_label}: {hook.name}",
            f"  from      {near(str(hook.where))} ({hook.dialect}, {hook.scope})",
            f"  mode      {engine.mode_of(hook) if engine is not None else hook.mode}",
            f"  trust     {self._trust.get(id(hook), _TRUSTED)}",
            f"  runs      {record.runs}, {record.failed_open} without an answer",
        ]
        if last is not None:
            lines += [
                f"  last      {last.status}{f', {last.decision}' if last.decision else ''}, {last.duration_ms:.0f} ms",
                *([f"  said      {last.reason}"] if last.reason else []),
                *([f"  problem   {last.detail}"] if last.detail else []),
                *([f"  stderr    {last.stderr}"] if last.stderr else []),
            ]
        return [printable(line) for line in lines]

    def _look_up_trust(self) -> None:
        engine = self._engine
        trust = engine.trust if engine is not None else None
        if engine is None or trust is None:
            return
        hooks = self._hooks

        async def look_up() -> None:
            states = await asyncio.to_thread(lambda: [_trust_of(trust, hook) for hook in hooks])
            self._trust = {id(hook): state for hook, state in zip(hooks, states, strict=True)}

        self._asking = asyncio.ensure_future(look_up())

    # -- drawing ----------------------------------------------------------------------------------------

    def text(self, columns: int, rows: int) -> AnyFormattedText:
        if self._why is not None:
            shown = [("", f"{line}\n") for text in self._why for line in _wrapped(text, columns)]
            return FormattedText([*shown[: rows - 2], ("reverse", "\nEsc back")])
        hooks = self._hooks
        self._at = max(0, min(self._at, len(hooks) - 1))
        room = max(rows - 4, 1)
        self._top = max(min(self._top, self._at), self._at - room + 1)
        rows_shown = [self._row(hook) for hook in hooks[self._top : self._top + room]]
        widths = _widths([_TITLES, *rows_shown], columns)
        parts = [("bold", f"{_line(_TITLES, widths, columns)}\n")]
        for number, row in enumerate(rows_shown, self._top):
            style = "reverse" if number == self._at else ""
            parts.append((style, f"{_line(row, widths, columns)}\n"))
        if not hooks:
            parts.append(("", "no hook is active; `hookline guard add recommended` adds five guards\n"))
        waits = (
            "the agent asks for your permission: q goes back to it"
            if self._screen.dialog.open is not None or self._screen.channel.asks
            else ""
        )
        parts.append(("ansiyellow", f"\n{one_line(waits or self._said, columns - 1)}\n"))
        parts.append(("", cut(_KEYS, columns - 1)))
        return FormattedText(parts)

    def _row(self, hook: "Hook") -> tuple[str, ...]:
        record, engine = self._screen.channel.hook_stats.of(hook), self._engine
        median, last = record.median_ms, record.last
        running = any(
            one.hook == hook.name and one.source == str(hook.where)
            for one in self._screen.channel.running_hooks()
        )
        state = "running" if running else last.status if last is not None else "never ran"
        held = self._trust.get(id(hook), "").startswith("no:")
        return (
            str(engine.mode_of(hook) if engine is not None else hook.mode),
            hook.policy.event_name,
            hook.name,
            str(record.runs),
            f"{median:.0f} ms" if median is not None else "",
            "untrusted" if held else state,
            (last.decision or "") if last is not None else "",
            near(str(hook.where)) if hook.where.file else os.path.basename(hook.kind),
        )


_TRUSTED = "yes"
_TITLES = ("mode", "event", "hook", "runs", "p50", "last", "decided", "where")
_WIDEST = (8, 18, 28, 6, 9, 11, 8)
#: Columns left out first on a narrow terminal: runs and times matter less than decisions.
_SPARE = (3, 4, 1)
_LEAST_WHERE = 16


def _trust_of(trust: "Trust", hook: "Hook") -> str:
    standing = trust.status(hook)
    if standing.state == "disabled" or standing.runs:
        return _TRUSTED
    why = f"{standing.state}, {standing.why}"
    return f"no: {why}" if trust.holds_back(hook) else f"not needed to deny and to ask ({why})"


def _happened(hook: "Hook", fired: "FiredEvent", decision: "MatchResult") -> str:
    """Describe the recorded run; its reason is computed now, when the hook may be in another mode."""
    run = next((run for run in fired.runs if (run.hook, run.source) == (hook.name, str(hook.where))), None)
    if run is not None and run.status not in ("skipped", "untrusted"):
        return f"it ran: {decision.why}"
    if run is not None:
        return f"it did not run: {run.status}{f', {run.detail}' if run.detail else ''}"
    return f"it did not run{', but would now' if decision.selected else ''}: {decision.why}"


def _widths(rows: Sequence[Sequence[str]], columns: int) -> list[int]:
    widths = [min(max(len(row[number]) for row in rows), widest) for number, widest in enumerate(_WIDEST)]
    for spare in _SPARE:
        if sum(widths) + len(widths) + _LEAST_WHERE > columns:
            widths[spare] = 0
    return widths


def _line(cells: Sequence[str], widths: Sequence[int], columns: int) -> str:
    parts = [f"{one_line(cell, width):{width}}" for cell, width in zip(cells, widths, strict=False) if width]
    return cut(" ".join([*parts, one_line(cells[-1], columns)]), columns - 1)


def cut(text: str, width: int) -> str:
    """Cut a text to the width; blanks between columns stay."""
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"


def _wrapped(text: str, columns: int) -> list[str]:
    width = max(columns - 1, 10)
    return [line[at : at + width] for line in text.split("\n") for at in range(0, max(len(line), 1), width)]
