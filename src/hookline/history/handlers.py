"""Run hooks on past events without side effects.

Builtins and functions are called as usual. A command or an HTTP hook is run only if it was declared to be
free of side effects, and once for each different input; all others are counted as not judged.
"""

import os
from collections.abc import Callable, Coroutine
from hashlib import sha256
from typing import Any

import msgspec

from hookline.handlers.builtin import standard_builtins
from hookline.handlers.registry import Handler, Handlers, standard_handlers
from hookline.history.answer_cache import AnswerCache
from hookline.model.hook import Hook
from hookline.model.raw import RETURNED_NOTHING, Exited, Failed, RawResult
from hookline.model.wire import HookInvocation

#: Payload keys that identify the event and do not affect the decision.
VOLATILE = frozenset(
    (
        "session_id", "transcript_path", "tool_use_id", "prompt_id", "turn_id", "timestamp", "agent_id",
        "agent_transcript_path", "parent_agent_id", "turn", "duration_ms",
    )
)  # fmt: skip
_DECLARABLE = ("command", "http")
_NEVER = ("prompt", "agent", "mcp_tool")

#: Returns the reason why a hook may not be run; empty: it may.
MayRun = Callable[[Hook], str]


class Unjudged:
    """A handler that runs nothing and records which hooks were left out."""

    own_clock = False

    def __init__(self, kind: str, left_out: list[tuple[Hook, str]]) -> None:
        self.kind = kind
        self._left_out = left_out

    def begin(self, call: HookInvocation) -> RawResult:
        self._left_out.append((call.hook, f"{self.kind} hooks are not run on past sessions"))
        return RETURNED_NOTHING

    async def run(self, call: HookInvocation) -> RawResult:
        return self.begin(call)

    def problem(self, spec: Any) -> str | None:
        del spec
        return None

    async def close(self) -> None:
        pass


class PureHookHandler:
    """A handler that runs hooks declared free of side effects, once for each different input."""

    own_clock = True

    def __init__(
        self,
        real: Callable[[], Handler],
        kind: str,
        may_run: MayRun,
        left_out: list[tuple[Hook, str]],
        identity: Callable[[Hook], bytes],
        kept: AnswerCache | None,
    ) -> None:
        self.kind = kind
        self._real = real
        self._may_run = may_run
        self._left_out = left_out
        self._identity = identity
        #: Only answers of scripts are cached: a server may answer differently tomorrow.
        self._kept = kept if kind == "command" else None
        self._answers: dict[bytes, RawResult] = {}
        self.runs = 0

    def begin(self, call: HookInvocation) -> RawResult | Coroutine[Any, Any, RawResult]:
        obstacle = self._may_run(call.hook) or self._misplaced(call)
        if obstacle:
            self._left_out.append((call.hook, obstacle))
            return RETURNED_NOTHING
        key = question(call, self._identity(call.hook))
        answer = self._answers.get(key)
        if answer is None and self._kept is not None:
            answer = self._kept.get(key)
        if answer is not None:
            self._answers[key] = answer
            return answer
        return self._ask(call, key)

    async def _ask(self, call: HookInvocation, key: bytes) -> RawResult:
        self.runs += 1
        answer = await self._real().run(call)
        if not (isinstance(answer, Failed) and answer.cause == "cancelled"):
            self._answers[key] = answer
            if self._kept is not None and isinstance(answer, Exited):
                self._kept.put(key, answer)
        return answer

    def _misplaced(self, call: HookInvocation) -> str:
        directory = call.directory or call.info.cwd
        return (
            "" if os.path.isdir(directory) or self.kind == "http" else "the directory of the session is gone"
        )

    async def run(self, call: HookInvocation) -> RawResult:
        begun = self.begin(call)
        return await begun if isinstance(begun, Coroutine) else begun

    def problem(self, spec: Any) -> str | None:
        return self._real().problem(spec)

    async def close(self) -> None:
        if self.runs:
            await self._real().close()


def question(call: HookInvocation, identity: bytes) -> bytes:
    """Return a digest of a hook's input without the keys that identify the event, and of the bytes that answer it."""
    document = call.hook.wire.encode(call).document
    try:
        asked = msgspec.json.decode(document, type=dict[str, Any])
    except msgspec.DecodeError:  # the hook has its own template
        asked = {"": document}
    rest = {name: value for name, value in asked.items() if name not in VOLATILE}
    digest = sha256(identity)
    digest.update(msgspec.json.encode(rest, order="sorted"))
    digest.update((call.directory or call.info.cwd).encode("utf-8", "surrogateescape"))
    return digest.digest()


def replay_handlers(
    may_run: MayRun,
    left_out: list[tuple[Hook, str]],
    identity: Callable[[Hook], bytes],
    kept: AnswerCache | None = None,
) -> Handlers:
    """Return the handlers of an engine that replays past events."""
    real = standard_handlers(builtins=standard_builtins(env=dict(os.environ), past=True))
    declared: dict[str, Handler] = {
        kind: PureHookHandler(lambda kind=kind: real[kind], kind, may_run, left_out, identity, kept)
        for kind in _DECLARABLE
    }
    return real | declared | {kind: Unjudged(kind, left_out) for kind in _NEVER}
