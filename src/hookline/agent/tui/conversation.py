"""Handle what the agent posts, item by item: print it when it is finished, else keep it for the live rows."""

import time
from collections.abc import Callable, Iterator, Sequence

from rich.text import Text

from hookline.agent.call_text import near
from hookline.agent.ports import Shown
from hookline.agent.tui.activity import Activity
from hookline.agent.tui.channel import (
    Channel,
    Idle,
    Item,
    Note,
    Opened,
    ReturnedPrompt,
    Stopped,
    Taken,
    UserQuestion,
    Withdrawn,
)
from hookline.agent.tui.dialog import Dialog
from hookline.agent.tui.pages.transcript import ShownHistory
from hookline.agent.tui.scrollback import Scrollback
from hookline.agent.tui.status import StatusLine
from hookline.agent.tui.text import cards
from hookline.agent.tui.text.paint import indented
from hookline.agent.tui.text.stream import Stream, as_markdown
from hookline.agent.tui.text.welcome import keys_card, welcome
from hookline.journal.run_text import NO_ANSWER
from hookline.model.run import Run

#: Events at which hooks check a prompt before it counts.
_OF_PROMPTS = frozenset({"UserPromptSubmit", "UserPromptExpansion"})

#: Prompts, answers and calls of a session that is resumed that are printed again.
_MOST_RECALLED = 60


class ConversationView:
    def __init__(
        self,
        channel: Channel,
        dialog: Dialog,
        status: StatusLine,
        scrollback: Scrollback,
        give_back: Callable[[str], None],
    ) -> None:
        self._channel = channel
        self._dialog = dialog
        self._status = status
        self._put = scrollback.put
        self._give_back = give_back
        self.stream = Stream()
        #: For the clipboard.
        self.last_answer = ""
        self.activity = Activity()
        #: For the page that shows all of it.
        self.kept = ShownHistory()
        #: The activity that the user stopped.
        self.stopping = ""
        self._stopped = False
        self._early: list[Shown] = []
        #: The last taken prompt is a command.
        self._for_command = False
        #: The last notice or warning.
        self._said = ""
        #: The prompt of the turn, and what the session had cost before it.
        self._turn: tuple[Taken, float] | None = None
        self._calls = 0
        #: The call whose subagent spoke last, and the last words of each.
        self._speaker = ""
        self._last_words: dict[str, str] = {}

    def now(self, item: Item) -> None:
        for _ in self.handle(item):
            pass

    def handle(self, item: Item) -> Iterator[None]:
        """Handle one item; yield wherever keys may be handled."""
        self.kept.add(item)
        match item:
            case Shown():
                yield from self._show(item)
            case Note():
                self._put(cards.note_lines(item.text), "note")
            case Taken():
                self._take(item)
            case UserQuestion():
                self.end_stream()
                self._dialog.ask(item)
            case Withdrawn():
                self._dialog.withdraw(item.asked)
            case ReturnedPrompt():
                self._give_back(item.text)
            case Stopped():
                self.end_stream()
                self._put(cards.stopped_card(self.stopping or "the turn", item.queued), "note")
                self.stopping = ""
                self._stopped = True
            case Opened():
                self._status.open(item.untrusted)
                yield from self._open(item)
            case Idle():
                self._put_early()
                # A command of the user that was stopped has neither a result nor a turn that settles.
                self.activity.settle()
        yield

    def _take(self, item: Taken) -> None:
        """Print a command at once; print a prompt when it counts, as hooks have left it."""
        self._for_command = item.is_command
        if not item.is_command:
            self._turn, self._calls = (item, self._status.facts.cost_usd or 0.0), 0
        if item.is_command:
            self._put(cards.command_card(item.text), "command")
        if item.text == "/help":
            self._put(keys_card(), "note")

    def _show(self, shown: Shown) -> Iterator[None]:
        nested = cards.depth(shown)
        match shown.kind:
            case "delta" | "request" | "held" | "usage" | "thinking":
                self._progress(shown, nested)
            case "answer" | "partial":
                yield from self._answer(shown, nested)
            case "prompt":
                self._put_prompt(shown)
            case "call":
                self._parent(shown)
                self.activity.begin_call(shown)
                if not nested:
                    self.activity.asked = None
            case "result":
                self._put_result(shown)
            case "retry":
                self._parent(shown)
                self._put_news(shown)
                if not nested:
                    self.activity.retries_at = time.monotonic() + shown.seconds
            case "settled":
                self.end_stream()
                self.activity.settle()
                self._end_turn()
            case _:
                self._parent(shown)
                self._news(shown)

    def _put_prompt(self, shown: Shown) -> None:
        self._channel.queue.taken = ""
        self.end_stream()
        self._put(cards.prompt_card(shown.text), "prompt")
        self._put_early()
        self._stopped = False

    def _put_result(self, shown: Shown) -> None:
        self._parent(shown)
        call = self.activity.end_call(shown)
        printed = call is not None and call.printed
        if printed and self._speaker not in ("", shown.tool_use_id):
            self._put(cards.call_card(shown), "card")
        also = self._also(shown) if shown.refused else ()
        said = self._last_words.pop(shown.tool_use_id, "")
        card = cards.result_card(shown, with_head=not printed, also=also, said=said)
        self._put(card, "result" if printed else "card")
        self._calls += 1
        if printed:
            self._speaker = ""

    def _progress(self, shown: Shown, nested: int) -> None:
        """Update the live rows without printing."""
        if shown.kind == "request" and not nested:
            self.activity.retries_at = None
        if shown.kind == "usage":
            self._status.count()
        elif nested:
            return  # a subagent's text is printed when it is complete
        elif shown.kind == "delta":
            self.activity.writes = True
            self.stream.add(shown.text)
        elif shown.kind == "thinking":
            self.activity.thinking = (self.activity.thinking + shown.text)[-_MOST_RECALLED:]
        elif shown.kind == "held":
            self.activity.held = shown.text
        else:
            self.activity.asked = (shown.text, time.monotonic())
            self.activity.held, self.activity.writes, self.activity.thinking = "", False, ""

    def _end_turn(self) -> None:
        """Print what the turn took; not after one that no prompt began."""
        if self._turn is None:
            return
        (begun, cost), self._turn = self._turn, None
        self._status.count()
        stats, now = self._channel.hook_stats, time.monotonic()
        took, spent = (
            (stats.milliseconds - begun.milliseconds) / 1000,
            (self._status.facts.cost_usd or 0.0) - cost,
        )
        self._put(cards.turn_line(now - begun.at, self._calls, stats.runs - begun.runs, took, spent), "end")

    def _also(self, shown: Shown) -> Sequence[str]:
        """Return the other hooks that denied the same, with where they are: five broken guards are five lines."""
        for fired in reversed(self._channel.events.events):
            if getattr(fired.payload, "tool_use_id", None) == shown.tool_use_id and fired.outcome.blocked:
                runs = {run.hook: run for run in fired.runs if _has_stopped(run) and run.hook != shown.hook}
                return [f"{_said_by(run)} · {near(run.source)}" for run in runs.values()]
        return ()

    def _news(self, shown: Shown) -> None:
        if self._stopped and shown.kind == "warning" and shown.text == "interrupted":
            self._stopped = False  # the user knows
            return
        if shown.event in _OF_PROMPTS and shown.kind != "blocked":
            if shown.kind != "context" or not self._for_command:  # the model is sent nothing with a command
                self._early.append(shown)
            return
        self._put_early()
        self._put_news(shown)

    def _put_news(self, shown: Shown) -> None:
        said, self._said = self._said, shown.text
        if said.startswith(f"{shown.text}: "):
            return  # the turn's last message, which a hook's limit has explained better
        card = cards.note_card(shown)
        if card is not None:
            self._put(card, "note")

    def _put_early(self) -> None:
        """Print what hooks did with a prompt after it, though they did it before it counted."""
        early, self._early = self._early, []
        for shown in early:
            self._put_news(shown)

    def _answer(self, shown: Shown, nested: int) -> Iterator[None]:
        self.last_answer = self.last_answer if nested else shown.text
        if nested:
            self._parent(shown)
            self._put(indented(as_markdown(shown.text), nested), "text")
            self._last_words[shown.under] = shown.text
            return
        if not self.streams:
            self.stream.add(shown.text)
        while (block := self.stream.take()) is not None:
            self._put(as_markdown(block), "text")
            yield
        self.end_stream()
        self.activity.asked = None

    @property
    def streams(self) -> bool:
        return self.stream.began or bool(self.stream.rest.strip())

    def end_stream(self) -> None:
        if rest := self.stream.end():
            self._put(as_markdown(rest), "text")

    def _parent(self, shown: Shown) -> None:
        """Print the head of the call that a subagent works for, before the subagent's output."""
        call = self.activity.calls.get(shown.under) if shown.under else None
        if call is None:
            return
        if not call.printed:
            call.printed = True
            self._put(cards.call_card(call.shown), "card")
        elif self._speaker not in ("", shown.under):
            self._put(cards.label_card(call.shown), "label")
        self._speaker = shown.under

    def _open(self, opened: Opened) -> Iterator[None]:
        from hookline import __version__  # noqa: PLC0415 only when a session begins

        engine = self._channel.engine
        events = [hook.policy.event_name for hook in engine.hooks] if engine is not None else []
        self._put(welcome(self._status.facts, __version__, events, opened.facts), "note")
        if opened.goes_on:
            self._put(Text(f"  continues {opened.goes_on}", "dim"), "note")
        before = len(opened.earlier) - _MOST_RECALLED
        if before > 0:
            self._put(Text(f"  … {before} earlier entries (Ctrl-T shows all)", "dim"), "note")
        for number, shown in enumerate(opened.earlier):
            self.kept.add(shown)
            if number >= before and shown.kind != "context":
                yield from self._show(shown)
        self._turn = None


def _said_by(run: Run) -> str:
    """Name a hook with what it said; a reason of Hookline's own already begins with the name."""
    said = run.reason or run.detail
    return said if said.startswith(f"hook {run.hook} ") else f"hook {run.hook}: {said}"


def _has_stopped(run: Run) -> bool:
    """Return True if a hook stopped the action, or would have, had another one not been first."""
    denied = run.decision == "deny" or (run.status in NO_ANSWER and not run.failed_open)
    return run.mode == "enforce" and denied
