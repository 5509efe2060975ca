"""Connect the agent to the screen: hand everything to the screen's thread, and wait for answers without blocking."""

import asyncio
import gc
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.console import RenderableType
from rich.text import Text

from hookline.agent.build import BuiltAgent
from hookline.agent.call_text import question_lines, question_title, why_lines
from hookline.agent.hooks import FiredEvent
from hookline.agent.mcp.form import FormAnswers
from hookline.agent.ports import Choice, PermissionPrompt, PermissionReply, Shown, UserPort
from hookline.agent.session.prompt_loop import talk
from hookline.agent.session.session import PromptTurn
from hookline.agent.tui.channel import (
    Channel,
    Idle,
    Note,
    Opened,
    ReturnedPrompt,
    Stopped,
    UserQuestion,
    Withdrawn,
)
from hookline.agent.tui.status import untrusted
from hookline.agent.tui.text.diffs import patch_counts, patch_diff
from hookline.agent.tui.text.paint import diff, exact, words
from hookline.agent.tui.text.stream import as_markdown
from hookline.agent.tui.text.welcome import welcome_facts
from hookline.config.engine import Engine
from hookline.model.messages import Assistant, Message, ToolMessage, ToolUse, User
from hookline.model.safe_text import one_line

T = TypeVar("T")

_YES = Choice("1", "yes", ("y", "yes", "ok"))
_NO = Choice("3", "no, and stop the turn", ("n", "no"))


class ScreenFront:
    """User interface of an agent whose screen is on another thread."""

    talks = True
    #: For `Inputs`: a user who leaves does not wait for queued prompts.
    leaves_at_end = True

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.user = UserPort(listener=self, asker=self, confirmer=self, chooser=self)
        self.answers = FormAnswers(self)
        self._said: list[str] = []
        channel.loop = asyncio.get_running_loop()
        channel.typed = self._typed = asyncio.Event()

    @property
    def queue(self) -> deque[str]:
        return self._channel.queue

    def watch(self, engine: Engine) -> None:
        engine.journal.subscribe(self._channel.hook_stats.ran)
        engine.status.subscribe(self._channel.events.started)
        self._channel.engine = engine

    def fired(self, fired: FiredEvent) -> None:
        if fired.lanes:
            self._channel.events.fired(fired)

    def show(self, shown: Shown) -> None:
        self._channel.post(shown)

    def note(self, text: str) -> None:
        self._channel.post(Note(text))

    def stopped(self, queued: int) -> None:
        self._channel.post(Stopped(queued))

    @contextmanager
    def on_signals(self, stop: Callable[[], object], leave: Callable[[], object]) -> Generator[None]:
        self._channel.reactions.append((stop, leave))
        try:
            yield
        finally:
            self._channel.reactions.pop()

    # -- the conversation -------------------------------------------------------------------------------

    def opened(self, ready: BuiltAgent) -> None:
        if self._channel.ready is None:
            # Modules and tables stay: to look through all of them for garbage would hold the screen up.
            gc.freeze()
        self._channel.alive = time.monotonic()
        self._channel.ready = ready
        engine = self._channel.engine
        facts = welcome_facts(ready)
        self._channel.post(
            Opened(ready, untrusted(engine) if engine is not None else 0, *_earlier(ready), facts)
        )

    async def talk(self, ready: BuiltAgent) -> PromptTurn | None:
        if self._channel.over:
            self._channel.queue.clear()
        return await talk(ready.agent, self, self._translated)

    async def more(self) -> bool:
        self._channel.post(Idle())
        while not self._channel.over:
            if self._channel.queue and not self._holds:
                return True
            await self._typed.wait()
            self._typed.clear()
        return False

    @property
    def _holds(self) -> bool:
        return self._channel.ready is not None and self._channel.ready.agent.holds

    def _translated(self, result: PromptTurn) -> None:
        self._channel.queue.taken = ""
        if result.rejected_text:
            self._channel.post(ReturnedPrompt(result.rejected_text))

    def ended(self, result: PromptTurn | None) -> None:
        """Do nothing: the screen closes when the agent's thread has ended."""

    # -- questions --------------------------------------------------------------------------------------

    async def ask(self, question: PermissionPrompt) -> PermissionReply:
        who = f"[{one_line(question.agent, 40)}] " if question.agent else ""
        grants = one_line(", ".join(question.grants), 200)
        session = (Choice("2", f"yes, for this session: {grants}", ("a", "always")),) if grants else ()
        key, said = await self._asked(
            title=f"{who}{question_title(question)[:1].upper()}{question_title(question)[1:]}",
            body=_call_body(question),
            why=[words(line, "yellow") for line in why_lines(question)],
            choices=(_YES, *session, _NO),
            hint="or type why not and press Enter: the agent gets your reason and continues",
            words_mean="why",
        )  # fmt: skip
        match key:
            case "1":
                return PermissionReply(allow=True)
            case "2":
                return PermissionReply(allow=True, always=True)
            case "why":
                return PermissionReply(allow=False, message=said, go_on=True)
            case _:
                return PermissionReply(allow=False)

    async def confirm(self, text: str) -> bool:
        choices = (
            Choice("1", "yes, activate it", ("y", "yes")),
            Choice("2", "no, nothing changes", ("n", "no")),
        )
        key, _said = await self._asked(
            title="May this change take effect?", body=[diff(text.split("\n"))], choices=choices
        )
        return key == "1"

    async def choose(self, title: str, body: Sequence[str], choices: Sequence[Choice]) -> str | None:
        lines: list[RenderableType] = [_diff_line(line) for line in body]
        key, _said = await self._asked(title=title, body=lines, choices=choices)
        if self._channel.over:
            # No session exists yet that could be ended properly.
            raise KeyboardInterrupt
        return key

    async def pick(
        self, title: str, body: Sequence[str], choices: Sequence[Choice], *, words: bool = False
    ) -> tuple[str | None, str]:
        return await self._asked(
            title=title,
            body=[exact(line) for line in body],
            choices=choices,
            hint="or type another answer and press Enter" if words else "",
            words_mean="words" if words else None,
        )

    def say(self, text: str, /) -> None:
        """Add text to the next question of a form, and to the conversation."""
        self._said.append(text)
        self.note(text)

    async def next_line(self) -> str | None:
        said, self._said = self._said, []
        key, line = await self._asked(
            title="An MCP server asks",
            body=[words(text) for text in said],
            hint="Enter sends your answer, Esc cancels",
            takes_line=True,
        )
        self.note("  > (no answer)" if key is None else f"  > {line}")
        return None if key is None else line

    async def _asked(
        self,
        *,
        title: str,
        body: Sequence[RenderableType] = (),
        why: Sequence[RenderableType] = (),
        choices: Sequence[Choice] = (),
        hint: str = "",
        words_mean: str | None = None,
        takes_line: bool = False,
    ) -> tuple[str | None, str]:
        """Return the key of the choice and the typed words; withdraw the question if the agent needs no
        answer any more.
        """
        if self._channel.over:
            return None, ""
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[tuple[str | None, str]] = loop.create_future()

        def answer(key: str | None, said: str) -> None:
            self._channel.call(lambda: _settle(answered, (key, said)))

        asked = UserQuestion(
            title=title, body=body, why=why, choices=choices, hint=hint,
            words_mean=words_mean, takes_line=takes_line, answer=answer,
        )  # fmt: skip
        self._channel.post(asked)
        try:
            return await answered
        finally:
            if answered.cancelled():
                self._channel.post(Withdrawn(asked))


def _earlier(ready: BuiltAgent) -> tuple[str, Sequence[Shown]]:
    """Describe the session that is continued, and return what was said in it."""
    messages = ready.agent.conversation.messages
    if ready.source == "startup":
        return "", ()
    what = "a copy of an earlier session" if ready.source == "fork" else "an earlier session"
    goes_on = f"{what}: {len(messages)} message{'' if len(messages) == 1 else 's'}"
    return goes_on, tuple(_shown_again(messages))


def _shown_again(messages: Sequence[Message]) -> Iterator[Shown]:
    calls: dict[str, ToolUse] = {}
    for message in messages:
        match message:
            case User(by=""):
                yield Shown(kind="prompt", text=message.text)
            case User():
                yield Shown(kind="context", text=message.text, hook=message.by)
            case Assistant():
                calls |= {call.id: call for call in message.tool_calls}
                if message.text.strip():
                    yield Shown(kind="answer", text=message.text)
            case ToolMessage():
                call = calls.get(message.tool_use_id, ToolUse())
                yield Shown(
                    kind="result", tool=message.name, tool_input={} if isinstance(call.input, str) else call.input,
                    text=message.text, is_error=message.is_error, tool_use_id=message.tool_use_id,
                )  # fmt: skip


def _settle(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():
        future.set_result(result)


def _call_body(question: PermissionPrompt) -> list[RenderableType]:
    """Return everything a person must see to judge the call."""
    lines = question_lines(question)
    if isinstance(question.tool_input.get("plan"), str) and question.title:
        return [as_markdown(question.tool_input["plan"])]
    if question.patch:
        file = str(question.tool_input.get("file_path", ""))
        return [
            Text(lines[0]).append(f"  {patch_counts(question.patch)}", "dim"),
            patch_diff(question.patch, file),
        ]
    if len(question.tool_input) == 1 and isinstance(question.tool_input.get("command"), str):
        return [exact(question.tool_input["command"], "bold")]
    return [Text(line) for line in lines]


def _diff_line(line: str) -> RenderableType:
    return diff(line.split("\n")) if line.lstrip()[:1] in ("+", "-", "@") else words(line)
