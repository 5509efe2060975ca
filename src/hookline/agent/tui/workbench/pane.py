"""The pane of the workbench: events as they fire, each with its hooks; keys read, mend, replay and test a hook."""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from prompt_toolkit.formatted_text import AnyFormattedText, FormattedText

from hookline.agent.call_text import near
from hookline.agent.tui.pages.inspector import cut
from hookline.agent.tui.workbench.details import (
    Line,
    comparison,
    details,
    explanation,
    headline_of,
    outcome_words,
    result_of,
    style_of,
)
from hookline.agent.tui.workbench.edit import Edited, edit, entry_of, script_of
from hookline.agent.tui.workbench.events import Account, accounts
from hookline.agent.tui.workbench.fire_line import fire_line, fire_payload_line, payload_document
from hookline.journal.file import state_dir
from hookline.model.safe_text import one_line

if TYPE_CHECKING:
    from hookline.agent.hooks import FiredEvent
    from hookline.agent.tui.screen import Screen
    from hookline.config.engine import Engine
    from hookline.model.hook import Hook
    from hookline.model.wire import HookInvocation

_DIM, _BOLD = "fg:ansibrightblack", "bold"
_OUTCOME = {
    "denied": "fg:ansired",
    "stopped": "fg:ansired",
    "asks": "fg:ansiyellow",
    "rewritten": "fg:ansimagenta",
}
#: Hooks that did not run are listed one by one if they are so few.
_FEW = 3
#: The way out is last.
_LIST_KEYS = ("Enter read", "r replay", "x edit", "t test", "c copy", "e explain", "k skip", "q close")
_TEXT_KEYS = ("r replay", "x edit", "t test", "c copy", "e explain", "Esc back")


def keys_line(keys: Sequence[str], columns: int) -> str:
    """Join keys; where they are too wide, those before the last are left out: the way out stays."""
    for left_out in range(len(keys)):
        kept = (*keys[: len(keys) - 1 - left_out], *["…"] * bool(left_out), keys[-1])
        if len("  ".join(kept)) <= columns:
            return "  ".join(kept)
    return keys[-1]


class _Row(Struct, frozen=True, eq=False):
    """One line of the list."""

    fired: "FiredEvent | None" = None
    account: Account | None = None
    #: A hook that is running.
    call: "HookInvocation | None" = None
    #: So many hooks that did not run.
    folded: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        run = self.account.run if self.account is not None else None
        about = (run.hook, run.source, run.run_id) if run is not None else ()
        return (id(self.fired), self.call.run_id if self.call is not None else "", about, bool(self.folded))


class _Text(Struct, eq=False):
    """A text that is read in the pane."""

    #: Returns its lines for a width.
    make: Callable[[int], list[Line]]
    fired: "FiredEvent"
    account: Account | None
    top: int = 0
    #: The width, and the lines wrapped at it.
    shown: tuple[int, list[Line]] = (0, [])


class WorkbenchPane:
    """A page beside the conversation where there is room, else on the whole screen."""

    beside = True

    def __init__(self, screen: "Screen") -> None:
        self._screen = screen
        self._events = screen.channel.events
        self._known: dict[int, tuple[int, list[Account]]] = {}
        self._unfolded: set[int] = set()
        #: The row that is chosen; None follows the newest event.
        self._chosen: tuple[object, ...] | None = None
        self._top = 0
        self._rows: list[_Row] = []
        self._texts: list[_Text] = []
        self._said = ""
        self._tasks: set[asyncio.Future[None]] = set()
        self._explaining = False
        self._drawn: tuple[int, int, str] | None = None

    @property
    def _engine(self) -> "Engine | None":
        return self._screen.channel.engine

    @property
    def is_stale(self) -> bool:
        """True if an event was fired, a hook ended or is running, or the agent asks, since it was drawn."""
        return bool(self._tasks) or self._drawn != self._state() or bool(self._screen.channel.running_hooks())

    def _state(self) -> tuple[int, int, str]:
        return self._events.count, self._screen.channel.hook_stats.count, self._waits()

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()

    # -- keys -------------------------------------------------------------------------------------------

    def press(self, key: str) -> bool:
        self._said = ""
        if self._texts:
            return self._press_in_text(key)
        if key in _STEPS:
            self._move(_STEPS[key])
        elif key in ("home", "g") and self._rows:
            self._chosen = self._rows[0].key
        elif key in ("end", "G"):
            self._chosen = None
        elif key == "enter":
            self._enter(self._row)
        elif key in _ACTIONS:
            self._act(key, self._row)
        else:
            return False
        return True

    def _press_in_text(self, key: str) -> bool:
        text = self._texts[-1]
        if key in _STEPS:
            text.top = max(0, text.top + _STEPS[key])
        elif key in ("home", "g"):
            text.top = 0
        elif key in ("end", "G"):
            text.top = len(text.shown[1])
        elif key in ("escape", "q", "backspace", "left"):
            self._texts.pop()
        elif key in _ACTIONS:
            self._act(key, _Row(text.fired, text.account))
        else:
            return key == "enter"
        return True

    def _move(self, by: int) -> None:
        if not self._rows:
            return
        at = max(0, min(self._at + by, len(self._rows) - 1))
        self._chosen = None if at == len(self._rows) - 1 and by > 0 else self._rows[at].key

    @property
    def _at(self) -> int:
        keys = [row.key for row in self._rows]
        return keys.index(self._chosen) if self._chosen in keys else max(len(keys) - 1, 0)

    @property
    def _row(self) -> _Row:
        return self._rows[self._at] if self._rows else _Row()

    def _enter(self, row: _Row) -> None:
        engine = self._engine
        if row.folded and row.fired is not None:
            self._unfolded.add(id(row.fired))
        elif row.fired is not None and row.account is not None and engine is not None:
            call = self._events.call_of(row.account.run)
            lines = details(engine, row.fired, row.account, call)
            self._read(_Text(lambda _columns: lines, row.fired, row.account))
        elif row.fired is not None:
            self._explain(row.fired)

    def _read(self, text: _Text) -> None:
        self._texts.append(text)
        self._screen.app.invalidate()

    def _explain(self, fired: "FiredEvent") -> None:
        lines = explanation(fired, self._accounts(fired))
        self._read(_Text(lambda _columns: lines, fired, self._texts[-1].account if self._texts else None))

    # -- actions ----------------------------------------------------------------------------------------

    def _act(self, key: str, row: _Row) -> None:
        if key == "k":
            self._skip(row)
            return
        if row.fired is None:
            self._said = "choose an event, or a hook below one"
            return
        if row.fired.interrupted and key == "t":
            self._said = "it was interrupted, so it has no outcome"
            return
        match key:
            case "c":
                self._copy(row.fired)
            case "e":
                self._explain(row.fired)
            case "r":
                self._start(self._replay(row.fired))
            case _:
                account = row.account or self._culprit(row.fired)
                if account is None:
                    self._said = "choose a hook below the event"
                elif key == "t":
                    self._start(self._write_test(row.fired, account))
                else:
                    self._start(self._edit(row.fired, account, script=key == "x"))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._tasks:
            work.close()
            self._said = "one thing at a time"
            return

        async def run() -> None:
            try:
                await work
            except asyncio.CancelledError:
                raise
            except Exception as problem:  # noqa: BLE001 the user must see it, whatever it is
                self._said = one_line(f"{type(problem).__name__}: {problem}", 300)
            self._screen.app.invalidate()

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _culprit(self, fired: "FiredEvent") -> Account | None:
        """Return the hook that decided, else the only one that ran."""
        ran = [account for account in self._accounts(fired) if account.ran]
        decided = [account for account in ran if account.run.decision in ("deny", "ask")]
        return decided[0] if decided else ran[0] if len(ran) == 1 else None

    def _copy(self, fired: "FiredEvent") -> None:
        engine, line = self._engine, fire_line(fired)
        if line is None and engine is not None:
            file = os.path.join(state_dir(os.environ), "fired.json")
            try:
                descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(payload_document(engine, fired))
            except OSError as problem:
                self._said = f"{file} cannot be written: {problem.strerror}"
                return
            line = fire_payload_line(file)
        if line is not None:
            self._screen.copy(line)
            self._said = f"copied: {line}"

    def _skip(self, row: _Row) -> None:
        engine = self._engine
        running = engine.status.calls if engine is not None else ()
        call = row.call or (running[-1] if running else None)
        if engine is None or call is None:
            self._said = "no hook is running now"
            return

        async def skip() -> None:
            async def ask() -> str | None:
                return engine.skip(call, "skipped by the user while it ran")

            problem = await self._screen.channel.run(ask)
            self._said = problem or f"{call.hook.name} was skipped, this once"

        self._start(skip())

    async def _replay(self, fired: "FiredEvent", said: str = "") -> None:
        from hookline.agent.tui.workbench.replay import replay  # noqa: PLC0415 only for those who replay

        engine = self._engine
        if engine is None:
            return
        self._said = f"{said}{'; ' if said else ''}replaying …"
        self._screen.app.invalidate()
        own, again = await self._screen.channel.run(lambda: replay(engine, fired))
        new = await asyncio.to_thread(accounts, own, again)
        old = await asyncio.to_thread(accounts, engine, fired)
        self._said = said
        account = self._texts[-1].account if self._texts else self._row.account
        self._read(_Text(lambda columns: comparison(fired, old, again, new, columns), fired, account))

    async def _edit(self, fired: "FiredEvent", account: Account, *, script: bool) -> None:
        engine = self._engine
        if engine is None:
            return
        hook = self._current(account.hook)
        file = (await asyncio.to_thread(script_of, engine, hook) if script else None) or entry_of(hook)
        if file is None:
            self._said = f"{hook.name} is made in code: it has no file"
            return
        edited: Edited = await edit(self._screen, hook, file)
        self._said = edited.says
        if edited.changed:
            await self._replay(fired, edited.says)

    def _current(self, hook: "Hook") -> "Hook":
        """Return the hook as it is configured now."""
        hooks = self._engine.hooks if self._engine is not None else ()
        same = [
            one
            for one in hooks
            if (one.where.file, one.event.name, one.name) == (hook.where.file, hook.event.name, hook.name)
        ]
        return same[0] if same else hook

    async def _write_test(self, fired: "FiredEvent", account: Account) -> None:
        from hookline.agent.tui.workbench.pytest_case import test_case, test_file  # noqa: PLC0415 as above
        from hookline.agent.tui.workbench.replay import replay  # noqa: PLC0415 as above

        engine, file = self._engine, account.hook.where.file
        if engine is None or not file:
            self._said = f"{account.hook.name} is made in code: a test adds it with hooks.add"
            return
        # Only the hooks of one file: a test loads no others, and must hold without them.
        own, again = await self._screen.channel.run(
            lambda: replay(engine, fired, lambda hook: hook.where.file == file)
        )
        found = await asyncio.to_thread(accounts, own, again)
        root = engine.trust.root if engine.trust is not None else fired.info.project_dir or fired.info.cwd
        target = test_file(root)

        def write() -> None:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            before = ""
            if os.path.exists(target):
                with open(target, encoding="utf-8") as stream:
                    before = stream.read()
            with open(target, "w", encoding="utf-8") as stream:
                stream.write(test_case(again, found, file, root, before))

        await asyncio.to_thread(write)
        self._said = f"wrote {near(target)} for pytest; it expects: {outcome_words(again)}"

    # -- drawing ----------------------------------------------------------------------------------------

    def text(self, columns: int, rows: int) -> AnyFormattedText:
        self._drawn = self._state()
        room = max(rows - 2, 1)
        parts = self._text_lines(columns, room) if self._texts else self._list_lines(columns, room)
        parts += [("", "")] * (room - len(parts))
        shown = [(style, f"{line}\n") for style, line in parts]
        waits = self._waits()
        says = waits or self._said
        keys = _TEXT_KEYS if self._texts else _LIST_KEYS
        return FormattedText(
            [
                *shown,
                ("fg:ansiyellow" if says else _DIM, f"{cut(one_line(says, 2000), columns - 1)}\n"),
                ("reverse", cut(keys_line(keys, columns - 1), columns - 1)),
            ]
        )

    def _waits(self) -> str:
        if self._screen.dialog.open is None and not self._screen.channel.asks:
            return ""
        where = "Tab" if self._screen.layout.is_beside else "q"
        return f"the agent asks you something: {where} goes to it"

    def _text_lines(self, columns: int, room: int) -> list[Line]:
        text = self._texts[-1]
        if text.shown[0] != columns:
            width = max(columns - 1, 10)
            wrapped = [
                (style, line[at : at + width])
                for style, line in text.make(columns)
                for at in range(0, max(len(line), 1), width)
            ]
            text.shown = (columns, wrapped)
        text.top = max(0, min(text.top, len(text.shown[1]) - room))
        return text.shown[1][text.top : text.top + room]

    def _list_lines(self, columns: int, room: int) -> list[Line]:
        self._rows = list(self._all_rows())
        at = self._at
        self._top = max(min(self._top, at), at - room + 1, 0)
        shown = self._rows[self._top : self._top + room]
        self._explain_visible(shown)
        lines: list[Line] = []
        for number, row in enumerate(shown, self._top):
            style, line = self._line(row)
            lines.append(("reverse" if number == at else style, cut(line, columns - 1)))
        if not lines:
            lines = [(_DIM, cut("no event of this session has reached a hook yet", columns - 1))]
        return lines

    def _all_rows(self) -> Sequence[_Row]:
        rows: list[_Row] = []
        for fired in self._events.events:
            rows.append(_Row(fired))
            found = self._accounts(fired)
            rows += [_Row(fired, account) for account in found if account.ran]
            idle = [account for account in found if not account.ran]
            if len(idle) > _FEW and id(fired) not in self._unfolded:
                rows.append(_Row(fired, folded=len(idle)))
            else:
                rows += [_Row(fired, account) for account in idle]
        engine = self._engine
        rows += [_Row(call=call) for call in (engine.status.calls if engine is not None else ())]
        return rows

    def _line(self, row: _Row) -> Line:
        if row.call is not None:
            seconds = time.perf_counter() - row.call.started
            return (
                "fg:ansiyellow",
                f"⏵ {row.call.hook.event_label}: {one_line(row.call.hook.name, 60)}  {seconds:.1f} s  k skips it",
            )
        fired, account = row.fired, row.account
        if fired is None:
            return "", ""
        if row.folded:
            return _DIM, f"  – {row.folded} other hooks did not run (Enter shows why)"
        if account is None:
            clock, word = time.strftime("%H:%M:%S", time.localtime(fired.at)), outcome_words(fired)
            return _OUTCOME.get(word, _BOLD), f"{clock} {word}: {headline_of(fired)}"
        word, rest = result_of(account, fired.outcome)
        mark = "–" if not account.ran else "✗" if account.run.decision == "deny" else "●"
        again = " (again)" if account.run.recheck else ""
        return style_of(
            word, account
        ), f"  {mark} {one_line(account.run.hook, 40)}{again}: {one_line(word + rest, 500)}"

    # -- why others did not run -------------------------------------------------------------------------

    def _accounts(self, fired: "FiredEvent") -> list[Account]:
        """Return what is known: all hooks with their reasons once they are computed, until then those that ran."""
        known = self._known.get(id(fired))
        if known is not None and known[0] == len(fired.runs):
            return known[1]
        hooks = {(one.hook.name, one.source): one.hook for lane in fired.lanes for one in lane.hooks}
        return [
            Account(hook, run, ran=run.status != "skipped")
            for run in tuple(fired.runs)
            if (hook := hooks.get((run.hook, run.source))) is not None and run.status != "background"
        ]

    def _explain_visible(self, rows: Sequence[_Row]) -> None:
        """Compute the reasons on another thread: patterns may be slow."""
        engine = self._engine
        wanted = {
            id(row.fired): row.fired
            for row in rows
            if row.fired is not None and self._known.get(id(row.fired), (-1, []))[0] != len(row.fired.runs)
        }
        if engine is None or self._explaining or not wanted:
            return
        self._explaining = True

        async def compute() -> None:
            try:
                for key, fired in wanted.items():
                    count = len(fired.runs)
                    self._known[key] = (count, await asyncio.to_thread(accounts, engine, fired))
            finally:
                self._explaining = False
            current = {id(fired) for fired in self._events.events}
            self._known = {key: value for key, value in self._known.items() if key in current}
            self._screen.app.invalidate()

        self._explainer = asyncio.ensure_future(compute())


_STEPS = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10, "b": -10, " ": 10}
_ACTIONS = frozenset("cerxXtk")
