"""The answer on its way out: written whole or not at all, and the streams closed behind it."""

import asyncio
import os
import select
import signal
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from time import time
from typing import Any, cast

from msgspec.structs import replace

from hookline.cli.commands.hook.caller import (
    CLOSED,
    FAILED,
    Asked,
    Caller,
    CallError,
    caller_of,
    document_of,
    name_event,
    read_input,
    without_cut_arguments,
)
from hookline.cli.commands.hook.hooks import hooks_for
from hookline.cli.engines import command_engine
from hookline.cli.output import tell
from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.dialects.registry import OWN_FORMAT
from hookline.engine.session import Session
from hookline.model.errors import ConfigError, HooklineError
from hookline.model.events import EventSpec, May, field_of
from hookline.model.outcome import GO_ON, Outcome, Vote
from hookline.model.run import Run
from hookline.model.safe_text import one_line, printable
from hookline.model.wire import HookReply, Parsed


def give(told: HookReply, outcome: Outcome) -> int:
    """Write the answer; the status to exit with. A no, or a question, that cannot be written is a no by status."""
    if not _written(1, told.stdout) and outcome.permission in ("deny", "ask", "defer"):
        told = HookReply(2, "", told.stderr or outcome.reason or "")
    _written(2, told.stderr if not told.stderr or told.stderr.endswith("\n") else f"{told.stderr}\n")
    return told.code


def close_streams() -> None:
    """The agent has its answer; what still runs must not keep it waiting for more."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        os.close(nowhere)


def _written(stream: int, text: str) -> bool:
    left = text.encode("utf-8", "replace")
    try:
        while left:
            try:
                left = left[os.write(stream, left) :]
            except BlockingIOError:
                select.select((), (stream,), ())
    except OSError:
        return False
    return True


#: How runs of Hookline itself, as the hook of another agent, stand in the journal.
RUN_NAME, RUN_TYPE = "hookline hook", "answer"
#: How deep hooks that run agents whose hooks are ours may nest; beyond it, something calls itself.
DEEPEST = 4
DEPTH = "HOOKLINE_HOOK_DEPTH"
_REMOVAL = "removal of keys"


class Answering:
    """One call under way. How much is known when something breaks decides how that is told."""

    def __init__(
        self,
        engine: Engine,
        dialect: str,
        event: str | None,
        files: Sequence[str] | None = None,
        env: MutableMapping[str, str] = os.environ,
    ) -> None:
        self.engine = engine
        self.outcome: Outcome = GO_ON
        self._dialect = dialect
        self._word = event
        self._files = files
        self._env = env
        self._caller: Caller | None = None
        self._asked: Asked | None = None
        self._session: Session | None = None

    async def told(self, raw: bytes | CallError) -> HookReply:
        """What the agent is answered to its payload, or to why there is none. Nothing is raised but cancellation."""
        try:
            return await self._told(raw)
        except ConfigError as problem:
            return self._refused("; ".join(one.message for one in problem.diagnostics))
        except HooklineError as problem:
            return self._refused(str(problem))
        except Exception as problem:  # noqa: BLE001 a guard that breaks must not let things pass
            return self._refused(f"it broke: {type(problem).__name__}: {problem}")

    async def _told(self, raw: bytes | CallError) -> HookReply:
        caller = self._caller = caller_of(self.engine.loader, self._dialect)
        if self._word is not None:
            self._asked = caller.named(self._word)
        if isinstance(raw, CallError):
            raise raw
        _deeper(self._env)
        document = document_of(raw, caller, self._env)
        asked = self._asked = name_event(document, caller, self._asked)
        try:
            parsed = caller.parse(document)
        except ConfigError:
            if self._concerns_nobody(caller, document):
                return HookReply()
            raise
        loaded = self._load(parsed)
        session = self._session_for(parsed, asked)
        if session.has(parsed.event):
            self.outcome = await session.dispatch(parsed.event, parsed.payload)
        told = _honest(caller.answer(asked.name, self.outcome), self.outcome, parsed.payload)
        if told.lost:
            self._record(dropped=told.lost, why=f"{caller.name} cannot be told this at {asked.name}")
        return _with_problems(told, loaded, parsed.event)

    def _load(self, parsed: Parsed) -> Loaded:
        loaded = hooks_for(self.engine, parsed.scene.cwd or os.getcwd(), self._dialect, self._files)
        self.engine.swap(loaded.hooks)
        return loaded

    def _session_for(self, parsed: Parsed, asked: Asked) -> Session:
        cwd = parsed.scene.cwd or os.getcwd()
        self._session = session = self.engine.session(parsed.scene.session_id or RUN_NAME)
        session.scene = replace(
            parsed.scene,
            session_id=session.id,
            cwd=cwd,
            project_dir=parsed.scene.project_dir or cwd,
            attended=bool(asked.policy.may & May.PERMIT),
        )
        return session

    def _concerns_nobody(self, caller: Caller, document: dict[str, Any]) -> bool:
        """Arguments that the agent cut off cannot be judged; but where no hook asks about the tool, none need be."""
        rest = without_cut_arguments(document) if caller.name == "codewhale" else None
        if rest is None:
            return False
        parsed = caller.parse(rest)
        self._load(parsed)
        subject = field_of(parsed.payload, parsed.event.subject or "")
        return not any(
            hook.event is parsed.event and (hook.matcher is None or hook.matcher.matches(str(subject)))
            for hook in self.engine.hooks
        )

    def _refused(self, why: str) -> HookReply:
        """No hook could be asked, or what they said could not be told."""
        words = one_line(f"hookline hook --dialect {self._dialect}: {why}", 2000)
        caller, asked = self._caller, self._asked
        told = HookReply(CLOSED, "", words) if caller is None else caller.closed(asked, words)
        closed = asked is None or asked.guards
        self.outcome = Outcome(votes=(Vote("block", words),)) if closed else GO_ON
        self._record(
            status="failed", detail=why, decision="deny" if closed else None, passed_without_answer=not closed
        )
        return told

    def record_late(self) -> None:
        """What hooks said after the answer: nobody inside the agent can hear it any more."""
        late = self._session.inbox.take_all() if self._session is not None else ()
        if late:
            names = tuple(dict.fromkeys(f"late {item.kind} of {item.hook}" for item in late))
            self._record(dropped=names, why="it came after the answer")

    def _record(self, **facts: Any) -> None:
        asked, scene = self._asked, self._session.scene if self._session is not None else None
        self.engine.journal.record(
            Run(
                hook=RUN_NAME,
                type=RUN_TYPE,
                dialect=self._dialect,
                event=asked.event.name if asked is not None else "",
                spelled=asked.name if asked is not None else "",
                session=scene.session_id if scene is not None else "",
                agent=scene.agent_id if scene is not None else None,
                at=time(),
                **facts,
            )
        )


def _deeper(env: MutableMapping[str, str]) -> None:
    """Counts how often we run inside of ourselves: a hook may start an agent, and that one has hooks, too."""
    told = env.get(DEPTH, "")
    depth = int(told) if told.isascii() and told.isdecimal() and len(told) < 4 else 0
    if depth >= DEEPEST:
        raise CallError(
            f"a hook runs hookline hook again and again ({DEPTH}={depth}): take that call out of the hook"
        )
    env[DEPTH] = str(depth + 1)


def _honest(told: HookReply, outcome: Outcome, payload: Any) -> HookReply:
    """A wire does not know the payload. What is laid over an input loses nothing where no key was taken away."""
    if _REMOVAL not in told.lost:
        return told
    before, after = field_of(payload, "tool_input"), outcome.updated_input
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return told
    kept = set(cast("Mapping[str, Any]", before)) <= set(cast("Mapping[str, Any]", after))
    return replace(told, lost=tuple(one for one in told.lost if one != _REMOVAL)) if kept else told


def _with_problems(told: HookReply, loaded: Loaded, event: EventSpec[Any]) -> HookReply:
    """A file nobody could read may have held hooks for this event. Guards in it have said no by themselves."""
    unread = [one for one in loaded.found if one.unreadable and one.dialect == OWN_FORMAT]
    if not unread or event.guard:
        return told
    lines = "\n".join(
        printable(str(one)) for one in loaded.errors if one.where.file in {f.file for f in unread}
    )
    silent = told.code == 0 and not told.stdout
    return replace(told, code=FAILED if silent else told.code, stderr=f"{told.stderr}\n{lines}".strip())


#: Seconds that hooks nobody waits for have after the answer.
DRAIN = 5.0


def serve(dialect: str | None, words: Sequence[str], files: Sequence[str] | None) -> int:
    """The exit status; what there is to say is written by then."""
    if dialect is None:
        tell("hookline hook: say which agent calls: hookline hook --dialect NAME [EVENT]")
        return CLOSED
    if len(words) > 1:
        tell(printable(f"hookline hook: one event at a time, not {' '.join(words)}"))
        return CLOSED
    engine = command_engine()
    answering = Answering(engine, dialect, words[0] if words else None, files)
    # Before the loop starts: whoever waits for input must be stopped by the first signal.
    raw = _input()
    signalled: list[int] = []
    status = asyncio.run(_serve(answering, raw, signalled))
    if signalled:
        # So that the agent sees what it did.
        signal.signal(signalled[0], signal.SIG_DFL)
        os.kill(os.getpid(), signalled[0])
    return status


def _input() -> bytes | CallError:
    try:
        return read_input()
    except CallError as problem:
        return problem


async def _serve(answering: Answering, raw: bytes | CallError, signalled: list[int]) -> int:
    _stop_on_signals(signalled)
    engine = answering.engine
    status = CLOSED
    try:
        told = _with_journal(await answering.told(raw), engine)
        status = give(told, answering.outcome)
        close_streams()
        await engine.drain(DRAIN)
        answering.record_late()
    except asyncio.CancelledError:
        if not signalled:
            raise
    finally:
        await engine.close(0)
    return status


def _stop_on_signals(signalled: list[int]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop(number: int) -> None:
        signalled.append(number)
        if task is not None:
            task.cancel()

    for name in ("SIGTERM", "SIGHUP"):
        # Not every system has both, nor lets a loop wait for them.
        with suppress(AttributeError, ValueError, RuntimeError, NotImplementedError):
            number = getattr(signal, name)
            loop.add_signal_handler(number, stop, number)


def _with_journal(told: HookReply, engine: Engine) -> HookReply:
    """What is wrong with the journal, where stderr does not give the reason for something."""
    if told.code != 0 or not engine.journal.problems:
        return told
    lines = "\n".join(printable(f"hookline: {problem}") for problem in engine.journal.problems)
    return replace(told, stderr=f"{told.stderr}\n{lines}".strip())
