"""One request of a relay: the call that it makes, answered as a process of its own would."""

import os
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from hookline.handlers.process.pool import Processes
from hookline.model.wire import HookReply
from hookline.resident.call.answer import AgentCall
from hookline.resident.call.reply import with_lines, without_stdout
from hookline.resident.handlers import Begin, call_handlers
from hookline.resident.keep import Keep, KeptForCall
from hookline.resident.protocol import Reply, Request

#: Whoever sets this wants to see what happens on the terminal of the agent.
_IN_PROCESS: Final = ("HOOKLINE_TRACE", "HOOKLINE_TRACEBACK")


class Asked(Struct, frozen=True):
    """What `hookline hook` is asked for, in the form in which agents call it."""

    dialect: str
    event: str | None = None
    strict: bool = False
    #: The home directory that the entry names.
    home: str | None = None


def read_words(words: Sequence[str]) -> Asked | None:
    """None for anything but `hook --dialect NAME [--home DIR] [EVENT] [--strict]`.

    The process that has a terminal answers the rest.
    """
    if not words or words[0] != "hook":
        return None
    dialect: str | None = None
    home: str | None = None
    events: list[str] = []
    strict = False
    rest = iter(words[1:])
    for word in rest:
        if word == "--dialect" and dialect is None:
            dialect = next(rest, None)
        elif word == "--home" and home is None:
            home = next(rest, "")
        elif word == "--strict":
            strict = True
        elif word.startswith("-") or not word:
            return None
        else:
            events.append(word)
    if dialect is None or len(events) > 1:
        return None
    return Asked(dialect, events[0] if events else None, strict, home)


def refusal(request: Request, keep: Keep) -> str | None:
    """Why a request is not for the resident; None: it takes it."""
    asked = read_words(request.words)
    dialect = keep.dialect(asked.dialect) if asked is not None else None
    if asked is None or dialect is None:
        return "it is no call of an agent"
    if asked.home != keep.home or request.env.get("HOME", "") != os.environ.get("HOME", ""):
        return "its HOME is another one"
    if any(request.env.get(name) for name in _IN_PROCESS):
        return "it is to be traced"
    if not os.path.isabs(request.directory):
        return "its working directory is gone"
    return None


class ResidentCall:
    """A call that is under way."""

    def __init__(
        self,
        keep: Keep,
        processes: Processes,
        request: Request,
        begin: Begin,
        started: Callable[[], float],
    ) -> None:
        """`started` says when the process began that the agent has started."""
        asked = read_words(request.words)
        if asked is None:
            raise ValueError("not a call of an agent")
        self._begin = begin
        self._keep = keep
        self._asked = asked
        self._input = request.input
        dialect = keep.dialect(asked.dialect)
        varying = dialect.payload_variables if dialect is not None else ()
        caller = keep.caller(asked.dialect, request.env, varying)
        env = dict(request.env)
        self._journal = caller.journal(keep.journals)
        self.engine = caller.engine(env, call_handlers(processes, env, self.begin), self._journal)
        kept = KeptForCall(keep, caller, asked.dialect, started)
        self.call = AgentCall(
            self.engine, asked.dialect, asked.event, None, env,
            strict=asked.strict, directory=request.directory, kept=kept,
        )  # fmt: skip

    async def begin(self) -> None:
        """Hooks with effects are to start. What was done until then is written down now."""
        self._journal.write()
        await self._begin()

    async def answer(self) -> Reply:
        """Raises nothing but cancellation."""
        call = self.call
        answer = await call.answer(self._input)
        self._journal.check()
        answer = with_lines(answer, call.problems)
        return _reply(answer, without_stdout(answer, call.outcome))

    def if_lost(self) -> Reply:
        """What the relay is to answer if the resident ends while hooks run: they must not run twice."""
        answer = self.call.failed_answer(
            "the resident ended while hooks were running, and hooks are not run twice; ask again"
        )
        return _reply(answer, answer.stderr or "the resident ended while hooks were running")

    async def close(self, *, cancelled: bool = False) -> None:
        """Wait for hooks in the background, whose words go to the session; not if the agent gave up."""
        self._journal.write()
        if not cancelled:
            await self.engine.drain()
        if self.call.ends_session:
            self.call.record_late()
            self._keep.end_session(self._asked.dialect, self.call.session_id)
        await self.engine.close(0)


def _reply(answer: HookReply, otherwise: str) -> Reply:
    return Reply(answer.code, _bytes(answer.stdout), _bytes(answer.stderr), _bytes(otherwise))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
