"""Draw the line at the bottom: state, queue, mode, context, cost, hooks, model, directory."""

import asyncio
import operator
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from hookline.agent.tui.channel import Channel
from hookline.agent.tui.dialog import Dialog
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.config.engine import Engine
    from hookline.model.hook import Hook

#: Seconds that a hint is shown.
HINT = 2.0


class StatusFacts(Struct, kw_only=True):
    """Facts of the status line and the start screen. Read while the agent changes it: each value is whole."""

    model: str = ""
    mode: str = ""
    directory: str = ""
    #: Tokens of the conversation, and those that its model takes.
    tokens: int = 0
    window: int | None = None
    cost_usd: float | None = None
    hooks: int | None = None
    #: Switched to shadow or off.
    not_enforced: int = 0
    #: Not trusted, so they do not run.
    untrusted: int = 0
    queued: int = 0
    #: Running background tasks.
    tasks: int = 0
    state: str = "starting"
    hint: str = ""


class StatusLine:
    """State of the session for display; `changed` is called when it must be redrawn."""

    def __init__(self, channel: Channel, dialog: Dialog, changed: Callable[[], None]) -> None:
        self._channel = channel
        self._dialog = dialog
        self._changed = changed
        self._hint_until = 0.0
        self.leaving = False
        #: The hooks whose trust was looked up; how many had been refused, and how often the user had trusted some.
        self._counted: tuple[Hook, ...] = ()
        self._answers = (0, 0)
        self.facts = StatusFacts(directory=short_path(os.getcwd()))

    def line(self, width: int) -> str:
        self.refresh()
        return status_line(self.facts, width)

    def refresh(self) -> None:
        ready, engine, facts = self._channel.ready, self._channel.engine, self.facts
        facts.queued = len(self._channel.queue)
        if self.leaving:
            facts.state = "leaving"
        elif self._dialog.open is not None:
            facts.state = "waits for you"
        elif ready is None:
            facts.state = "starting"
        else:
            facts.state = "busy" if ready.agent.busy else "on hold" if ready.agent.holds else "idle"
        if ready is None:
            return
        agent, facts.tasks = ready.agent, ready.tasks.running
        facts.model = agent.model_name
        facts.mode = agent.permissions.mode
        facts.directory = short_path(agent.workplace.cwd)
        self.count()
        hooks = engine.hooks if engine is not None else ()
        changed = len(hooks) != len(self._counted) or not all(map(operator.is_, hooks, self._counted))
        # The files that a hook runs may change, too.
        trust = engine.trust if engine is not None else None
        answers = (self._channel.hook_stats.refused, trust.answers if trust is not None else 0)
        if changed or answers != self._answers:
            self._counted, self._answers = hooks, answers
            self._count_untrusted()
        facts.hooks = len(hooks)
        facts.not_enforced = (
            sum(engine.mode_of(hook) != "enforce" for hook in hooks) if engine is not None else 0
        )

    def open(self, untrusted: int) -> None:
        """Show a new session, in which so many hooks are not trusted."""
        self.facts.untrusted = untrusted
        self._counted = self._channel.engine.hooks if self._channel.engine is not None else ()
        self.refresh()

    def _count_untrusted(self) -> None:
        """Count untrusted hooks on another thread: trust reads files."""
        engine = self._channel.engine
        if engine is None:
            return

        def count() -> int:
            return untrusted(engine)

        def counted(done: "asyncio.Future[int]") -> None:
            if not done.cancelled() and done.exception() is None:
                self.facts.untrusted = done.result()
                self._changed()

        asyncio.ensure_future(asyncio.to_thread(count)).add_done_callback(counted)

    def count(self) -> None:
        """Show the session's usage so far."""
        ready = self._channel.ready
        if ready is not None:
            agent = ready.agent
            self.facts.tokens = agent.conversation.tokens or 0
            self.facts.window = agent.compaction.window(agent.model_name)
            self.facts.cost_usd = agent.totals.cost_usd

    def hint(self, text: str) -> None:
        self.facts.hint = text
        self._hint_until = time.monotonic() + HINT
        self._changed()

    def expire_hint(self) -> None:
        if self.facts.hint and time.monotonic() > self._hint_until:
            self.facts.hint = ""
            self._changed()


def untrusted(engine: "Engine") -> int:
    """Count the hooks that do not run because they are not trusted. Reads files."""
    trust = engine.trust
    return sum(trust.holds_back(hook) for hook in engine.hooks) if trust is not None else 0


def status_line(facts: StatusFacts, width: int) -> str:
    """Return as many parts as fit, the most important first."""
    cost = facts.cost_usd
    parts = [
        facts.hint,
        facts.state,
        f"{facts.queued} queued" if facts.queued else "",
        f"{facts.tasks} task{'' if facts.tasks == 1 else 's'}" if facts.tasks else "",
        facts.mode,
        _context(facts),
        f"${cost:.{2 if cost >= 0.01 else 4}f}" if cost is not None else "",
        _hooks(facts),
        one_line(facts.model, 40),
        one_line(facts.directory, 30),
        "F2 hooks",
    ]
    parts = [text for text in parts if text]
    while len(" · ".join(parts)) > width - 2 and len(parts) > 1:
        parts.pop()
    return f" {one_line(' · '.join(parts), width - 2)}".ljust(width)


def _hooks(facts: StatusFacts) -> str:
    if facts.hooks is None:
        return ""
    if not facts.hooks:
        return "no hooks"
    notes = [
        f"{facts.not_enforced} not enforced" if facts.not_enforced else "",
        f"{facts.untrusted} untrusted" if facts.untrusted else "",
    ]
    more = ", ".join(filter(None, notes))
    return f"{facts.hooks} hook{'' if facts.hooks == 1 else 's'}{f' ({more})' if more else ''}"


def _context(facts: StatusFacts) -> str:
    """Return the part of the window that the conversation takes; its tokens, where the window is not known."""
    if facts.window:
        return f"{100 * facts.tokens / facts.window:.0f} % context"
    tokens = facts.tokens
    return f"{tokens} tok" if tokens < 10_000 else f"{tokens / 1000:.0f}k tok"


def short_path(directory: str) -> str:
    home = os.path.expanduser("~").rstrip("/")
    shown = f"~{directory[len(home) :]}" if home and f"{directory}/".startswith(f"{home}/") else directory
    return one_line(shown, 200)
