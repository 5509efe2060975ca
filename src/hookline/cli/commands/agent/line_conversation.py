"""Hold a conversation by lines: prompts, and answers to questions, from standard input."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Sequence

from hookline.agent.call_text import question_lines, question_title, why_lines
from hookline.agent.ports import Choice, PermissionPrompt, PermissionReply
from hookline.agent.session.prompt_loop import talk
from hookline.agent.session.session import Agent, PromptTurn
from hookline.model.safe_text import one_line, printable

_CHUNK = 65536
_LONGEST = 1_000_000
_YES = frozenset({"y", "yes", "ok"})
_NO = frozenset({"n", "no"})
_MOST_TRIES = 5


class LineInput:
    """Lines of a descriptor, be it a terminal, a pipe or a file, read without blocking the loop."""

    def __init__(self, descriptor: int) -> None:
        self._fd = descriptor
        self._lines: deque[str] = deque()
        self._rest = b""
        self._over = False

    async def line(self) -> str | None:
        """Return the next line; None after the last, again and again."""
        while not self._lines and not self._over:
            self._take(await self._chunk())
        return self._lines.popleft() if self._lines else None

    async def _chunk(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._fd, _set_ready, ready)
        except (OSError, ValueError, NotImplementedError):
            # A plain file is always ready, and the loop cannot watch it.
            return self._read()
        try:
            await ready
        finally:
            loop.remove_reader(self._fd)
        return self._read()

    def _read(self) -> bytes:
        try:
            return os.read(self._fd, _CHUNK)
        except OSError:
            return b""

    def _take(self, chunk: bytes) -> None:
        if not chunk:
            self._over = True
        whole = self._rest + chunk
        if len(whole) > _LONGEST:
            # Too long to be typed: cut here, so that it does not grow without limit.
            whole += b"\n"
        *lines, self._rest = whole.split(b"\n")
        if self._over and self._rest:
            lines, self._rest = [*lines, self._rest], b""
        self._lines.extend(line.decode("utf-8", "replace").rstrip("\r") for line in lines)


def _set_ready(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)


class LineAsker:
    """Asker on one stream, with numbered choices, which takes the next line as the answer."""

    def __init__(self, lines: LineInput, say: Callable[[str], None]) -> None:
        self._lines = lines
        self._say = say
        #: Set while a question waits: the next line is its answer.
        self.waiting: asyncio.Future[str | None] | None = None
        #: Set while a question beside the conversation is open: only a clear yes or no is its answer.
        self._offer: asyncio.Future[bool] | None = None
        self._offered = ""
        self.eager = False

    def say(self, text: str, /) -> None:
        self._say(text)

    async def ask(self, question: PermissionPrompt) -> PermissionReply:
        choices = permission_choices(question)
        who = f"[{one_line(question.agent, 40)}] " if question.agent else ""
        lines = [f"permission: {who}{question_title(question)}"]
        lines += [f"  {line}" for line in (*question_lines(question), *why_lines(question))]
        lines += [f"  {choice.key} {choice.text}" for choice in choices]
        self.say("\n".join(lines))
        while True:
            line = await self.next_line()
            if self._offer is not None:
                # The answer was for this call: the other question is still open.
                self.say(self._offered)
            if line is None:
                return PermissionReply(allow=False, message="no answer: the input has ended")
            reply = _reply(line, choices)
            if reply is not None:
                return reply
            self.say("  answer with the number of a choice; 4 and why not tells the agent")

    async def choose(self, title: str, body: Sequence[str], choices: Sequence[Choice]) -> str | None:
        """Return the key of the choice; None at the end of the input, and after a few invalid lines."""
        lines = [*([f"? {title}"] if title else []), *(f"  {line}" for line in body)]
        lines += [f"  {choice.key} {choice.text}" for choice in choices]
        self.say("\n".join(lines))
        for _ in range(_MOST_TRIES):
            line = await self.next_line()
            if line is None:
                break
            word = " ".join(line.casefold().split())
            found = next((each for each in choices if word == each.key or word in each.words), None)
            if found is not None:
                return found.key
            self.say(f"  answer with {', '.join(choice.key for choice in choices)}")
        return None

    async def pick(
        self, title: str, body: Sequence[str], choices: Sequence[Choice], *, words: bool = False
    ) -> tuple[str | None, str]:
        if not words:
            return await self.choose(title, body, choices), ""
        hint = "  or another answer"
        rows = [f"  {choice.key} {printable(choice.text)}" for choice in choices]
        self.say("\n".join([f"? {printable(title)}", *map(printable, body), *rows, hint]))
        line = await self.next_line()
        if line is None or not line.strip():
            return None, ""
        found = next((choice.key for choice in choices if line.strip() == choice.key), None)
        return (found, "") if found is not None else ("words", line.strip())

    async def confirm(self, text: str) -> bool:
        """Ask a question beside the conversation; other lines than its answer are prompts, as usual."""
        self._offer = asyncio.get_running_loop().create_future()
        self._offered = f"? {printable(text)}\n  activate this? y(es), n(o); until then nothing changes"
        self.say(self._offered)
        try:
            return await self._offer
        finally:
            self._offer = None

    def settles(self, line: str | None) -> bool:
        """Return True if a line answers that question. The end of the input is a no."""
        if self._offer is None or self._offer.done():
            return False
        word = None if line is None else line.strip().casefold()
        if word is None or word in _YES or word in _NO:
            self._offer.set_result(word is not None and word in _YES)
            return True
        return False

    async def next_line(self) -> str | None:
        """Return the next line the user types; None if the input has ended."""
        if not self.eager:
            return await self._lines.line()
        self.waiting = asyncio.get_running_loop().create_future()
        try:
            return await self.waiting
        finally:
            self.waiting = None


def permission_choices(question: PermissionPrompt) -> tuple[Choice, ...]:
    grants = one_line(", ".join(question.grants), 200)
    session = (Choice("2", f"yes, for this session: {grants}", ("a", "always")),) if question.grants else ()
    return (
        Choice("1", "yes", ("y", "yes", "ok")),
        *session,
        Choice("3", "no, and stop the turn", ("n", "no")),
        Choice("4", "no, with a reason for the agent: 4 WHY", ()),
    )


def _reply(line: str, choices: Sequence[Choice]) -> PermissionReply | None:
    """Read the user's answer; None for an invalid line."""
    first, _, rest = line.strip().partition(" ")
    word, rest = first.casefold(), rest.strip()
    found = next((each for each in choices if word == each.key or word in each.words), None)
    if found is None:
        return None
    if found.key in {"3", "4"} and rest:
        return PermissionReply(allow=False, message=rest, go_on=True)
    match found.key:
        case "1":
            return None if rest else PermissionReply(allow=True)
        case "2":
            return None if rest else PermissionReply(allow=True, always=True)
        case "3":
            return PermissionReply(allow=False)
        case _:
            return None


class LineConversation:
    """Conversation that feeds an agent with lines.

    On a terminal (`eager`) lines typed in a turn are queued; a pipe is read in step.
    """

    def __init__(
        self,
        agent: Agent,
        lines: LineInput,
        asker: LineAsker,
        shown: Callable[[PromptTurn], None],
        *,
        eager: bool,
    ) -> None:
        self._agent = agent
        self._lines = lines
        self._asker = asker
        self._shown = shown
        asker.eager = self.leaves_at_end = eager
        #: Set when a line was queued, or the input has ended.
        self._typed = asyncio.Event()
        self._over = False

    async def run(self) -> PromptTurn | None:
        """Play until the input ends or a command leaves; return the result of the last prompt."""
        pump = asyncio.ensure_future(self._pump()) if self.leaves_at_end else None
        try:
            return await talk(self._agent, self, self._shown)
        finally:
            if pump is not None:
                pump.cancel()

    async def more(self) -> bool:
        if not self.leaves_at_end:
            line = await self._lines.line()
            if line is not None and line.strip():
                self._agent.submit(line)
            return line is not None
        if not self._over:
            await self._typed.wait()
            self._typed.clear()
        return not self._over or len(self._agent.queue) > 0

    async def _pump(self) -> None:
        while (line := await self._lines.line()) is not None:
            if not self._answered(line):
                # An empty line, too, releases prompts that an interrupt has put on hold.
                self._agent.holds = False
                if line.strip():
                    self._agent.submit(line)
                self._typed.set()
        # The input has ended: neither the waiting question nor later ones get an answer.
        self._asker.eager = False
        self._answered(None)
        self._asker.settles(None)
        self._over = True
        self._typed.set()

    def _answered(self, line: str | None) -> bool:
        waiting = self._asker.waiting
        if waiting is None or waiting.done():
            return self._asker.settles(line)
        waiting.set_result(line)
        return True
