"""A conversation by lines: prompts and answers to questions come from standard input, one a line."""

import asyncio
from collections.abc import Callable

from hookline.agent.outside import Question, Reply
from hookline.agent.session import Agent, Told
from hookline.cli.line_input import LineInput
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.safetext import one_line

_YES = frozenset({"y", "yes", "ok"})
_ALWAYS = frozenset({"a", "always"})


class LineAsker:
    """Asks on one stream and takes the next line as the answer: y, a (always), or n with a reason."""

    def __init__(self, lines: LineInput, say: Callable[[str], None]) -> None:
        self._lines = lines
        self.say = say
        #: Set while a question waits: the next line is its answer.
        self.waiting: asyncio.Future[str | None] | None = None
        self.eager = False

    async def ask(self, question: Question) -> Reply:
        who = f"[{question.agent}] " if question.agent else ""
        call = one_line(f"{question.tool_name} {dict(question.tool_input)}", 300)
        self.say(f"? {who}{call}\n  {one_line(question.reason, 300)}\n  run it? y(es), a(lways), n(o) why")
        line = await self.next_line()
        if line is None:
            return Reply(allow=False, message="nobody answered")
        word, _, rest = line.strip().partition(" ")
        if word.casefold() in _YES:
            return Reply(allow=True)
        if word.casefold() in _ALWAYS:
            return Reply(allow=True, always=True)
        return Reply(allow=False, message=rest.strip() or "the user said no")

    async def next_line(self) -> str | None:
        """What the user answers; None when the input is over."""
        if not self.eager:
            return await self._lines.line()
        self.waiting = asyncio.get_running_loop().create_future()
        try:
            return await self.waiting
        finally:
            self.waiting = None


class Conversing:
    """Feeds an agent with lines. On a terminal what is typed during a turn is queued; a pipe is read in step."""

    def __init__(
        self, agent: Agent, lines: LineInput, asker: LineAsker, shown: Callable[[Told], None], *, eager: bool
    ) -> None:
        self._agent = agent
        self._lines = lines
        self._asker = asker
        self._shown = shown
        asker.eager = self._eager = eager
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()

    async def run(self) -> Told | None:
        """Until the input ends or a command leaves. The last thing a prompt came to."""
        pump = asyncio.ensure_future(self._pump()) if self._eager else None
        last: Told | None = None
        idle = False
        try:
            while True:
                told = await self._agent.run(wait=False, tell=self._shown)
                last = told if told is not None and told.is_an_answer else last
                if self._agent.leaving is not None:
                    return last
                if told is not None or not idle:
                    await self._wait_begins()
                idle = True
                if not await self._next():
                    # Whoever closes a terminal wants to be gone; a pipe that ends is only out of prompts.
                    more = None if self._eager else await self._agent.run(tell=self._shown)
                    self._agent.leaving = self._agent.leaving or "prompt_input_exit"
                    return more or last
        finally:
            if pump is not None:
                pump.cancel()

    async def _wait_begins(self) -> None:
        """Told once for each wait: a hook of these events that wakes the agent in vain must not run for ever."""
        await self._agent.fire(
            e.NOTIFICATION, p.Notice(message="waiting for your input", notification_type="idle_prompt")
        )
        await self._agent.fire(e.USER_INPUT_WAITING, p.InputAwaited(reason="idle"))

    async def _next(self) -> bool:
        """Wait for the user or for a hook that wakes the agent. False when the input is over."""
        typing = asyncio.ensure_future(self._typed.get() if self._eager else self._lines.line())
        waking = asyncio.ensure_future(self._agent.woken())
        done, left = await asyncio.wait({typing, waking}, return_when=asyncio.FIRST_COMPLETED)
        for one in left:
            one.cancel()
        if left:
            await asyncio.wait(left)
        if typing not in done:
            return True
        line = typing.result()
        if line is not None and line.strip():
            self._agent.submit(line)
        return line is not None

    async def _pump(self) -> None:
        while (line := await self._lines.line()) is not None:
            if not self._answered(line):
                if not self._agent.busy:
                    self._typed.put_nowait(line)
                elif line.strip():
                    self._agent.submit(line)
        # Whoever is gone answers no question any more, neither the one that waits nor those that follow.
        self._asker.eager = False
        self._answered(None)
        self._typed.put_nowait(None)

    def _answered(self, line: str | None) -> bool:
        waiting = self._asker.waiting
        if waiting is None or waiting.done():
            return False
        waiting.set_result(line)
        return True
