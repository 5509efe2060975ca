"""Ask questions one at a time, in a panel above the input. Text being typed when one appears can never answer it."""

import time
from collections import deque
from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from rich.box import ROUNDED
from rich.console import RenderableType
from rich.panel import Panel
from rich.text import Text

from hookline.agent.tui.channel import UserQuestion
from hookline.agent.tui.text.paint import Painter, marked, stack, words

#: Seconds without a key before keys count as answers.
GUARD = 0.5
#: Seconds since the last key in which a user is still typing their prompt.
TYPING = 1.5


class Dialog:
    """The open question, those behind it, and the draft that was being typed."""

    def __init__(self, buffer: Buffer, clock: Callable[[], float] = time.monotonic) -> None:
        self._buffer = buffer
        self._clock = clock
        self._waiting: deque[UserQuestion] = deque()
        self._draft = Document()
        self._quiet_since = 0.0
        #: When the user typed something last, and True if that was just before the question appeared.
        self._typed_at = -TYPING
        self._was_typing = False
        self._chosen: int | None = None
        self.open: UserQuestion | None = None
        #: All of the question is above the panel: it was too long for it.
        self.is_above = False
        self.problem = ""

    def typed(self) -> None:
        """Note that the user is typing a prompt."""
        if self.open is None:
            self._typed_at = self._clock()

    def ask(self, asked: UserQuestion) -> None:
        self._waiting.append(asked)
        if self.open is None:
            self._draft = self._buffer.document
            self._next()

    def withdraw(self, asked: UserQuestion) -> None:
        if self.open is asked:
            self._next()
        elif asked in self._waiting:
            self._waiting.remove(asked)

    def _next(self) -> None:
        self.open = self._waiting.popleft() if self._waiting else None
        self._chosen, self.problem, self.is_above = None, "", False
        self._quiet_since = self._clock()
        self._was_typing = self._quiet_since - self._typed_at < TYPING
        self._buffer.set_document(self._draft if self.open is None else Document(), bypass_readonly=True)

    # -- keys -------------------------------------------------------------------------------------------

    @property
    def listens(self) -> bool:
        """True if keys answer: a user who was typing when the question appeared has stopped."""
        return self._clock() - self._quiet_since >= GUARD

    @property
    def draft(self) -> str:
        """The text that returns to the input after the last question."""
        return self._draft.text

    def early_key(self, text: str) -> None:
        """Handle a key that came too early. It belongs to the draft if the user was typing; an answer is dropped."""
        self._quiet_since = self._clock()
        if not self._was_typing:
            self.problem = "too early: the question had just appeared; press it again"
            if not text or (self.open is not None and any(text == one.key for one in self.open.choices)):
                return
        before, after = self._draft.text_before_cursor + text, self._draft.text_after_cursor
        self._draft = Document(before + after, len(before))

    def is_choice(self, key: str) -> bool:
        """Return True if the key answers at once, as long as nothing was typed."""
        return (
            self.open is not None
            and not self._buffer.text
            and any(key == one.key for one in self.open.choices)
        )

    def move(self, by: int) -> None:
        choices = self.open.choices if self.open is not None else ()
        if choices:
            first = 0 if by > 0 else len(choices) - 1
            self._chosen = first if self._chosen is None else (self._chosen + by) % len(choices)

    def enter(self) -> None:
        asked, text = self.open, self._buffer.text.strip()
        if asked is None:
            return
        if asked.takes_line:
            self.answer("line", self._buffer.text)
            return
        if not text:
            if self._chosen is not None:
                self.answer(asked.choices[self._chosen].key)
            return
        word = " ".join(text.casefold().split())
        found = next((one.key for one in asked.choices if word == one.key or word in one.words), None)
        if found is None and asked.words_mean is None:
            # Another Enter must not choose what was marked before this text.
            self.problem, self._chosen = f"answer with {', '.join(one.key for one in asked.choices)}", None
            self._buffer.reset()
            return
        self.answer(found or asked.words_mean, "" if found else text)

    def answer(self, key: str | None, said: str = "") -> None:
        """Answer the question; None: the user does not answer, which is a no."""
        asked = self.open
        if asked is not None:
            self._next()
            asked.answer(key, said)

    def dismiss_all(self) -> None:
        while self.open is not None:
            self.answer(None)

    # -- drawing ----------------------------------------------------------------------------------------

    def panel(self, painter: Painter, width: int, rows: int) -> RenderableType | None:
        """Draw at most `rows` rows: a body that does not fit was printed above it."""
        asked = self.open
        if asked is None:
            return None
        panel = self._panel(asked, width, [*asked.why], hint=True)
        if len(painter.lines(panel, width)) <= rows:
            return panel
        if not self.is_above:
            return None
        # The choices come first: what is left out here is printed above.
        short = self._panel(asked, width, [], hint=True)
        fits = len(painter.lines(short, width)) <= rows
        return short if fits else self._panel(asked, width, [], hint=False)

    def _panel(self, asked: UserQuestion, width: int, why: list[RenderableType], *, hint: bool) -> Panel:
        parts = [*why]
        if asked.body and (why or not self.is_above):
            parts += [Text("")] * bool(why)
            parts += (
                [Text("(it is long: all of it is printed above)", "dim")] if self.is_above else asked.body
            )
        parts += [Text("")] * bool(parts and asked.choices)
        for number, choice in enumerate(asked.choices):
            mark = "❯ " if number == self._chosen else "  "
            parts.append(marked(f"{mark}{choice.key} ", "bold", words(choice.text)))
        if asked.hint and hint:
            parts.append(Text(f"  {asked.hint}", "dim"))
        if self.problem:
            parts.append(Text(f"  {self.problem}", "yellow"))
        title = words(asked.title, "bold")
        title.no_wrap, title.overflow = True, "ellipsis"
        title.truncate(max(width - 8, 1), overflow="ellipsis")
        return Panel(stack(parts), title=title, title_align="left", box=ROUNDED, border_style="yellow")

    def whole(self) -> RenderableType:
        """Return the text to print above the panel where it is too long for it."""
        asked = self.open
        parts = (*asked.why, *asked.body) if asked is not None else ()
        title = words(asked.title if asked is not None else "", "bold")
        return stack([Text(""), title, *parts])
