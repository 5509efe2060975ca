"""Answer one request of a relay as a separate process would."""

import os
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from hookline.config.commands import HookArguments, read_hook_words
from hookline.config.engine import Engine
from hookline.handlers.process.pool import Processes
from hookline.hook.call.answer import AgentCall
from hookline.hook.daemon.cache import DaemonCache
from hookline.hook.daemon.handlers import Begin, call_handlers
from hookline.hook.daemon.protocol import RelayReply, RelayRequest
from hookline.model.wire import HookReply

#: With these set, calls bypass the daemon.
_IN_PROCESS: Final = ("HOOKLINE_TRACE", "HOOKLINE_TRACEBACK")


@lru_cache(maxsize=64)  # an agent has a few entries, and calls each of them with the same words
def read_call(words: tuple[str, ...]) -> HookArguments | None:
    """Parse the words of a call of an agent; None for anything else, which the process that has a terminal
    answers."""
    found = read_hook_words(words[1:]) if words[:1] == ("hook",) else None
    if not isinstance(found, HookArguments) or found.print_config is not None or len(found.events) > 1:
        return None
    return found if found.dialect else None


def refusal(request: RelayRequest, cache: DaemonCache) -> str | None:
    """Return why the daemon does not take a request; None if it does."""
    asked = read_call(request.words)
    if asked is None or not all(cache.dialect(name) for name in (asked.dialect, asked.source) if name):
        return "it is not a call of an agent"
    if asked.home != cache.home or request.env.get("HOME", "") != os.environ.get("HOME", ""):
        return "its HOME differs"
    if any(request.env.get(name) for name in _IN_PROCESS):
        return "tracing is on"
    if not os.path.isabs(request.directory):
        return "its working directory is gone"
    # What is no plain file may be another one in each process.
    if not all(os.path.isfile(os.path.join(request.directory, file)) for file in asked.files):
        return "it names what is no file"
    return None


class DaemonCall:
    """A running call."""

    def __init__(
        self,
        cache: DaemonCache,
        processes: Processes,
        request: RelayRequest,
        begin: Begin,
        started: Callable[[], float],
        pid: int = 0,
    ) -> None:
        """Prepare a call; `started` returns when the process that the agent started began."""
        asked = read_call(request.words)
        if asked is None or asked.dialect is None:
            raise ValueError("not a call of an agent")
        self._begin = begin
        self._cache = cache
        self._dialect = asked.dialect
        self._input = request.input
        resources = cache.resources(self._dialect, request.env)
        env = dict(request.env)
        self._journal = resources.journal(cache.journals, self._dialect)
        # One engine per call, so that nothing of it can reach another: environment, admission, background
        # work.
        self.engine = Engine(
            handlers=call_handlers(processes, env, self.begin),
            journal=self._journal,
            env=env,
            loader=resources.loader,
            observer=cache.observer,
        )
        self.call = AgentCall(
            self.engine, self._dialect, asked.events[0] if asked.events else None, asked.files or None, env,
            source=asked.source, strict=asked.strict, hooks=asked.hooks or "all", scope=asked.scope,
            directory=request.directory, resources=resources, started=started, pid=pid,
        )  # fmt: skip

    async def begin(self) -> None:
        """Announce hooks with effects, and write the journal so far."""
        self._journal.write()
        await self._begin()

    async def answer(self) -> RelayReply:
        """Return the reply. Raises nothing but cancellation."""
        call = self.call
        answer = await call.answer(self._input)
        self._journal.check()
        answer = answer.with_lines(call.problems)
        return _reply(answer, answer.without_stdout(call.outcome))

    def if_lost(self) -> RelayReply:
        """Return the relay's answer if the daemon ends while hooks run: they must not run twice."""
        key = self._dialect, self.call.event_name
        found = self._cache.if_lost.get(key)
        if found is None:
            answer = self.call.failed_answer(
                "the daemon ended while hooks were running, and hooks are not run twice; try again"
            )
            found = _reply(answer, answer.stderr or "the daemon ended while hooks were running")
            self._cache.if_lost[key] = found
        return found

    async def close(self, *, cancelled: bool = False) -> None:
        """Wait for background hooks, whose results go to the session; not if the agent gave up."""
        self._journal.write()
        if not cancelled:
            await self.engine.drain()
        if self.call.ends_session:
            self.call.record_late()
            self._cache.end_session(self._dialect, self.call.session_id)
        await self.engine.close(0)


def _reply(answer: HookReply, otherwise: str) -> RelayReply:
    return RelayReply(answer.code, _bytes(answer.stdout), _bytes(answer.stderr), _bytes(otherwise))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
