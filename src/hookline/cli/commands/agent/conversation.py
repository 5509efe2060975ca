"""A conversation by lines: prompts, and answers to questions of the agent and of MCP servers, from standard input."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, cast

from hookline.agent.mcp.elicitation import ServerAnswer, ServerQuestion
from hookline.agent.mcp.schema import arguments_problem
from hookline.agent.ports import Question, Reply
from hookline.agent.session.session import Agent, PromptResult
from hookline.model import events as e
from hookline.model import payloads as p
from hookline.model.safe_text import one_line, printable

_CHUNK = 65536
_LONGEST = 1_000_000
_YES = frozenset({"y", "yes", "ok"})
_NO = frozenset({"n", "no"})
_ALWAYS = frozenset({"a", "always"})
#: Values of a yes-or-no field in the form of an MCP server.
_TRUE = frozenset({"y", "yes", "true", "ok", "1"})
_FALSE = frozenset({"n", "no", "false", "0"})
_MOST_TRIES = 3
_DECLINE, _CANCEL = ServerAnswer(action="decline"), ServerAnswer(action="cancel")


class LineInput:
    """Lines of a descriptor, be it a terminal, a pipe or a file, read without blocking the loop."""

    def __init__(self, descriptor: int) -> None:
        self._fd = descriptor
        self._lines: deque[str] = deque()
        self._rest = b""
        self._over = False

    async def line(self) -> str | None:
        """The next line; None after the last, again and again."""
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
    """Asks on one stream and takes the next line as the answer: y, a (always), or n with a reason."""

    def __init__(self, lines: LineInput, say: Callable[[str], None]) -> None:
        self._lines = lines
        self.say = say
        #: Set while a question waits: the next line is its answer.
        self.waiting: asyncio.Future[str | None] | None = None
        #: Set while a question beside the conversation is open: only a clear yes or no is its answer.
        self._offer: asyncio.Future[bool] | None = None
        self._offered = ""
        self.eager = False

    async def ask(self, question: Question) -> Reply:
        who = f"[{question.agent}] " if question.agent else ""
        call = one_line(f"{question.tool_name} {dict(question.tool_input)}", 300)
        self.say(f"? {who}{call}\n  {one_line(question.reason, 300)}\n  run it? y(es), a(lways), n(o) why")
        line = await self.next_line()
        if self._offer is not None:
            # What was typed was for this call: the other question is still open.
            self.say(self._offered)
        if line is None:
            return Reply(allow=False, message="no answer: the input has ended")
        word, _, rest = line.strip().partition(" ")
        if word.casefold() in _YES:
            return Reply(allow=True)
        if word.casefold() in _ALWAYS:
            return Reply(allow=True, always=True)
        return Reply(allow=False, message=rest.strip() or "the user said no")

    async def confirm(self, text: str) -> bool:
        """A question beside the conversation; other lines than its answer are prompts, as ever."""
        self._offer = asyncio.get_running_loop().create_future()
        self._offered = f"? {printable(text)}\n  put this in force? y(es), n(o); until then nothing changes"
        self.say(self._offered)
        try:
            return await self._offer
        finally:
            self._offer = None

    def settles(self, line: str | None) -> bool:
        """Whether a line answers that question. The end of the input is a no."""
        if self._offer is None or self._offer.done():
            return False
        word = None if line is None else line.strip().casefold()
        if word is None or word in _YES or word in _NO:
            self._offer.set_result(word is not None and word in _YES)
            return True
        return False

    async def next_line(self) -> str | None:
        """The next line the user types; None if the input has ended."""
        if not self.eager:
            return await self._lines.line()
        self.waiting = asyncio.get_running_loop().create_future()
        try:
            return await self.waiting
        finally:
            self.waiting = None


class Conversation:
    """Feeds an agent with lines. On a terminal (`eager`) lines typed in a turn are queued; a pipe is read in step."""

    def __init__(
        self,
        agent: Agent,
        lines: LineInput,
        asker: LineAsker,
        shown: Callable[[PromptResult], None],
        *,
        eager: bool,
    ) -> None:
        self._agent = agent
        self._lines = lines
        self._asker = asker
        self._shown = shown
        asker.eager = self._eager = eager
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()

    async def run(self) -> PromptResult | None:
        """Until the input ends or a command leaves; returns the result of the last prompt."""
        pump = asyncio.ensure_future(self._pump()) if self._eager else None
        last: PromptResult | None = None
        idle = False
        try:
            while True:
                result = await self._agent.run(wait=False, tell=self._shown)
                last = result if result is not None and result.is_answer else last
                if self._agent.leaving is not None:
                    return last
                if result is not None or not idle:
                    await self._wait_begins()
                idle = True
                if not await self._next():
                    # A closed terminal means to leave at once; the end of a pipe only that there are no more prompts.
                    more = None if self._eager else await self._agent.run(tell=self._shown)
                    self._agent.leaving = self._agent.leaving or "prompt_input_exit"
                    return more or last
        finally:
            if pump is not None:
                pump.cancel()

    async def _wait_begins(self) -> None:
        """Fired once for each wait, or a hook that wakes the agent would run again and again."""
        await self._agent.fire(
            e.NOTIFICATION, p.Notice(message="waiting for your input", notification_type="idle_prompt")
        )
        await self._agent.fire(e.USER_INPUT_WAITING, p.InputAwaited(reason="idle"))

    async def _next(self) -> bool:
        """Wait for the user or for a hook that wakes the agent. False when the input is over."""
        typing = asyncio.ensure_future(self._typed.get() if self._eager else self._lines.line())
        waking = asyncio.ensure_future(self._agent.wait_for_wake())
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
        # The input has ended: neither the waiting question nor later ones get an answer.
        self._asker.eager = False
        self._answered(None)
        self._asker.settles(None)
        self._typed.put_nowait(None)

    def _answered(self, line: str | None) -> bool:
        waiting = self._asker.waiting
        if waiting is None or waiting.done():
            return self._asker.settles(line)
        waiting.set_result(line)
        return True


class _EndedError(Exception):
    """The user declined or cancelled."""

    def __init__(self, answer: ServerAnswer) -> None:
        super().__init__(answer.action)
        self.answer = answer


class LineAnswers:
    """Answers questions of MCP servers: one line for each field of the form."""

    def __init__(self, lines: LineAsker) -> None:
        self._lines = lines

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        shown = one_line(question.message, 500)
        self._lines.say(f"? the MCP server {one_line(question.server, 60)} asks: {shown}")
        try:
            if question.mode == "url":
                return await self._visit(question)
            return await self._form(question.schema)
        except _EndedError as ended:
            return ended.answer

    async def _visit(self, question: ServerQuestion) -> ServerAnswer:
        address = one_line(question.url or "", 500)
        self._lines.say(f"  it asks you to open {address}\n  y when you agree, n to decline")
        agreed = await self._typed({"type": "boolean"})
        return ServerAnswer(action="accept") if agreed else _DECLINE

    async def _form(self, schema: Mapping[str, Any]) -> ServerAnswer:
        known = _table(schema.get("properties"))
        if not known:
            self._lines.say("  y to accept, n to decline")
            return (
                ServerAnswer(action="accept", content={})
                if await self._typed({"type": "boolean"})
                else _DECLINE
            )
        self._lines.say("  a line for each; /decline says no, /cancel leaves it unanswered")
        required: Any = schema.get("required")
        needed = cast("list[Any]", required) if isinstance(required, list) else []
        content: dict[str, Any] = {}
        for name, rules in known.items():
            value = await self._field(str(name), _table(rules), needed=name in needed)
            if value is not None:
                content[str(name)] = value
        return ServerAnswer(action="accept", content=content)

    async def _field(self, name: str, rules: Mapping[str, Any], *, needed: bool) -> Any:
        title = str(rules.get("title") or rules.get("description") or "")
        of = f" ({one_line(title, 120)})" if title else ""
        self._lines.say(
            f"  {one_line(name, 60)}{of}{_choices(rules)}{'' if needed else ', may be left empty'}:"
        )
        return await self._typed(rules, needed=needed)

    async def _typed(self, rules: Mapping[str, Any], *, needed: bool = True) -> Any:
        """A line that is a valid value; the user gets a few tries, each with what is wrong."""
        for _ in range(_MOST_TRIES):
            line = await self._lines.next_line()
            if line is None or line.strip() == "/cancel":
                raise _EndedError(_CANCEL)
            if line.strip() == "/decline":
                raise _EndedError(_DECLINE)
            if not line.strip() and not needed:
                return rules.get("default")
            value = _value(line.strip(), rules)
            problem = arguments_problem({"properties": {"it": rules}}, {"it": value})
            if problem is None and (value != "" or not needed):
                return value
            self._lines.say(f"  that does not fit: {one_line(problem or 'it is empty', 200)}")
        raise _EndedError(_CANCEL)


def _value(line: str, rules: Mapping[str, Any]) -> Any:
    """The line as a value of the type that is asked for; unchanged if it is not one."""
    match rules.get("type"):
        case "boolean" if line.casefold() in _TRUE | _FALSE:
            return line.casefold() in _TRUE
        case "integer" | "number":
            return _number(line)
        case "array":
            return [part.strip() for part in line.split(",") if part.strip()]
        case _:
            return line


def _number(line: str) -> Any:
    for kind in (int, float):
        try:
            return kind(line)
        except (ValueError, OverflowError):
            continue
    return line


def _choices(rules: Mapping[str, Any]) -> str:
    if rules.get("type") == "boolean":
        return ", y or n"
    of: Any = rules.get("enum") or _table(rules.get("items")).get("enum")
    if not isinstance(of, list):
        return ""
    return f", one of {one_line(', '.join(map(str, cast('list[Any]', of))), 300)}"


def _table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
