"""Make one decision: read the payload of an event, return the answer of a native hook.

The hooks are those of the server. Nothing that a caller sends chooses files, programs or addresses here.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from time import perf_counter, time
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.dialects.dialect import HomeDialect
from hookline.documents.strict_json import StrictJsonError, read_strict
from hookline.engine.judge import NO_ANSWER_RANK
from hookline.handlers.registry import Handler
from hookline.handlers.specs import GUARDS
from hookline.matching.patterns import LONGEST_PATH
from hookline.model.errors import ConfigError, HooklineError
from hookline.model.events import PRE_TOOL_USE, EventSpec
from hookline.model.outcome import PASS, Outcome
from hookline.model.payloads import ToolCall
from hookline.model.raw import RawResult
from hookline.model.run import Run, Status
from hookline.model.wire import HookInvocation, Parsed

#: The version of requests and answers; it is also in the path.
VERSION = 1
#: Under which name and type decisions are in the journal, beside the runs of the hooks.
RUN_NAME, RUN_TYPE = "hookline serve", "decision"


class Lifetimes(Struct, frozen=True):
    """Seconds for which callers may repeat an answer without asking again. A failure is never repeated."""

    deny: float = 5.0
    allow: float = 0.0


class ServedDecision(Struct, frozen=True):
    """An HTTP answer with its decision id."""

    status: int
    body: bytes
    id: str
    #: Seconds for which the caller may repeat it.
    repeatable: int = 0
    denied: bool = False


class UnreadablePayloadError(HooklineError):
    """A payload that hooks cannot be run on."""


class InServerDirectory:
    """A handler that runs commands in the server's directory: the caller's directory is on another machine."""

    kind = "command"

    def __init__(self, handler: Handler, directory: str) -> None:
        self._handler = handler
        self._directory = directory
        self.own_clock = handler.own_clock

    async def run(self, call: HookInvocation) -> RawResult:
        call.directory = self._directory
        return await self._handler.run(call)

    def problem(self, spec: Any) -> str | None:
        return self._handler.problem(spec)

    async def close(self) -> None:
        await self._handler.close()


def revision_of(loaded: Loaded) -> str:
    """Return a digest of the configuration: equal for files with the same text, wherever they are."""
    digest = sha256()
    for found in sorted(loaded.found, key=lambda each: (each.dialect, os.path.basename(each.file))):
        try:
            with open(found.file, "rb") as file:
                content = file.read()
        except OSError:
            content = b"unreadable"
        for part in (found.dialect.encode(), os.path.basename(found.file).encode(), content):
            digest.update(len(part).to_bytes(8) + part)
    return digest.hexdigest()[:16]


async def load_guards(engine: Engine) -> None:
    """Run the built-in guards on a made-up call, so that loading them does not slow down the first decision."""
    guards = [hook for hook in engine.hooks if hook.kind == "builtin" and hook.spec.name in GUARDS]
    trial = Engine(guards, handlers=engine.handlers, loader=engine.loader, env=engine.env)
    call = ToolCall(tool_name="Bash", tool_input={"command": "cd . && git status"})
    await trial.session("").dispatch(PRE_TOOL_USE, call)


class Decider:
    """Decisions by the hooks of an engine. Its journal records each one with its id."""

    def __init__(
        self, engine: Engine, home: HomeDialect, revision: str, deadline: float, lifetimes: Lifetimes
    ) -> None:
        self.engine = engine
        self.revision = revision
        self._home = home
        self._deadline = deadline
        self._lifetimes = lifetimes

    async def decide(self, body: bytes, received: float, slots: asyncio.Semaphore) -> ServedDecision:
        """Return the answer to one payload by the deadline, which counts from its arrival."""
        decision_id = os.urandom(12).hex()
        try:
            parsed = self._parsed(body)
        except UnreadablePayloadError as problem:
            return self.failed(400, str(problem), decision_id)
        open_passes = self.engine.journal.failed_open
        outcome: Outcome | None = None
        with suppress(TimeoutError):
            async with asyncio.timeout(self._deadline - (perf_counter() - received)), slots:
                outcome = await self._dispatch(parsed, decision_id)
        # A builtin lets nothing else run meanwhile, and a timeout is only found at a pause. Here is none: all that has
        # arrived would be decided before this one is answered, and everything would be late.
        if outcome is None or perf_counter() - received > self._deadline:
            why = f"no decision within {self._deadline:g} s"
            self._record(parsed, decision_id, received, status="timed_out", cause="timed_out", detail=why)
            return self.failed(504, why, decision_id)
        answer = self._home.wire.answer(parsed.event.name, outcome, parsed.payload)
        if answer.code:
            why = f"the answer cannot be written: {answer.stderr}"
            self._record(parsed, decision_id, received, status="failed", cause="unreadable", detail=why)
            return self.failed(500, why, decision_id)
        status: Status = "blocked" if outcome.blocked else "ok"
        facts = {"decision": outcome.permission, "reason": outcome.reason, "dropped": answer.lost}
        self._record(parsed, decision_id, received, status=status, **facts)
        passed = self.engine.journal.failed_open != open_passes
        repeatable = 0 if passed else _repeatable(outcome, parsed.event, self._lifetimes)
        return ServedDecision(
            200, self._enveloped(answer.stdout, decision_id), decision_id, repeatable, outcome.blocked
        )

    def failed(self, status: int, why: str, decision_id: str) -> ServedDecision:
        """Return an error without a decision.

        The caller's own entry says what happens then: by default it fails closed.
        """
        envelope = {"version": VERSION, "decision_id": decision_id, "revision": self.revision}
        return ServedDecision(status, msgspec.json.encode({"error": why, "hookline": envelope}), decision_id)

    def _parsed(self, body: bytes) -> Parsed:
        try:
            document = read_strict(body, limit=len(body))
        except StrictJsonError as problem:
            raise UnreadablePayloadError(f"the payload cannot be read as JSON: {problem}") from None
        if not isinstance(document, dict):
            raise UnreadablePayloadError("the payload is not a JSON object")
        try:
            parsed = self._home.wire.parse(cast("Mapping[str, Any]", document))
        except ConfigError as problem:
            raise UnreadablePayloadError("; ".join(one.message for one in problem.diagnostics)) from None
        except HooklineError as problem:
            raise UnreadablePayloadError(str(problem)) from None
        if max(len(parsed.info.cwd), len(parsed.info.project_dir or "")) > LONGEST_PATH:
            raise UnreadablePayloadError(f"cwd has more than {LONGEST_PATH} characters")
        return parsed

    async def _dispatch(self, parsed: Parsed, decision_id: str) -> Outcome:
        # A new session: a caller's session id must not affect another caller.
        session = self.engine.session(parsed.info.session_id)
        session.info = replace(parsed.info, decision_id=decision_id)
        if not session.has(parsed.event):
            return PASS
        return await session.dispatch(parsed.event, parsed.payload)

    def _enveloped(self, answer: str, decision_id: str) -> bytes:
        envelope = msgspec.json.encode(
            {"version": VERSION, "decision_id": decision_id, "revision": self.revision}
        )
        rest = answer.strip().encode()
        return b'{"hookline":' + envelope + (b"," + rest[1:] if len(rest) > 2 else b"}")

    def _record(self, parsed: Parsed, decision_id: str, received: float, **facts: Any) -> None:
        info, journal = parsed.info, self.engine.journal
        journal.record(
            Run(
                hook=RUN_NAME,
                type=RUN_TYPE,
                event=parsed.event.name,
                dialect_event=parsed.event.name,
                session=info.session_id,
                agent=info.agent_id,
                decision_id=decision_id,
                duration_ms=(perf_counter() - received) * 1e3,
                at=time(),
                call=journal.called(parsed.payload, info.project_dir or info.cwd),
                **facts,
            )
        )


def _repeatable(outcome: Outcome, event: EventSpec[Any], lifetimes: Lifetimes) -> int:
    """Return the seconds for which callers may repeat an answer: for denials by default, for permissions only
    on request.
    """
    vote = outcome.deciding_vote
    if not event.guard or outcome.halts:
        return 0
    if outcome.blocked:
        return int(lifetimes.deny) if vote is not None and vote.rank < NO_ANSWER_RANK else 0
    return int(lifetimes.allow) if vote is None or vote.kind == "allow" else 0
