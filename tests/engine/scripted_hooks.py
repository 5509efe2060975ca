"""Scripted hooks: a handler kind whose answers the test writes, so that policies can be tried in any order."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from msgspec import Struct

from hookline import Engine, Outcome, Session
from hookline.actions.tool import Tool
from hookline.engine.run_hook import Admit, admit_all
from hookline.events import EventSpec
from hookline.extending import Hook, HookInvocation, Policy, RawResult, Run
from hookline.handlers.function import FunctionHandler
from hookline.host import SessionOptions
from hookline.model.wire import Wire


class Script(Struct, frozen=True):
    """A hook's answer (or how it works out its answer), after how long, and its payloads."""

    answer: RawResult | Callable[[Any], RawResult]
    delay: float = 0.0
    log: list[tuple[str, Any]] | None = None


HANGS = 3600.0


class ScriptedHandler:
    kind = "scripted"
    own_clock = False

    async def run(self, call: HookInvocation) -> RawResult:
        script: Script = call.hook.spec
        if script.log is not None:
            script.log.append((call.hook.name, call.payload))
        if script.delay:
            await asyncio.sleep(script.delay)
        return script.answer(call.payload) if callable(script.answer) else script.answer

    def problem(self, spec: Any) -> str | None:
        return None if isinstance(spec, Script) else "not a script"

    async def close(self) -> None:
        pass


def scripted(
    name: str,
    event: EventSpec[Any],
    policy: Policy,
    wire: Wire,
    answer: RawResult | Callable[[Any], RawResult],
    *,
    delay: float = 0.0,
    log: list[tuple[str, Any]] | None = None,
    **options: Any,
) -> Hook:
    return Hook(
        name=name, event=event, policy=policy, wire=wire, kind="scripted",
        spec=Script(answer, delay, log), **options,
    )  # fmt: skip


class ScriptedHost:
    """An engine with scripted hooks, one session, and every run it recorded."""

    def __init__(
        self,
        hooks: Sequence[Hook],
        *,
        admit: Admit = admit_all,
        tools: Mapping[str, Tool] | None = None,
        rows: Sequence[EventSpec[Any]] = (),
        **info: Unpack[SessionOptions],
    ) -> None:
        handlers = {"scripted": ScriptedHandler(), "function": FunctionHandler()}
        self.engine = Engine(hooks, handlers=handlers, admit=admit, tools=tools or {}, events=rows)
        self.session: Session = self.engine.session("s", **info)
        self.runs: list[Run] = []
        self.engine.journal.subscribe(self.runs.append)

    def fire(self, event: EventSpec[Any], payload: Any) -> Outcome:
        return asyncio.run(self._fire(event, payload))

    async def _fire(self, event: EventSpec[Any], payload: Any) -> Outcome:
        outcome = await self.session.dispatch(event, payload)
        await self.engine.drain(5)
        return outcome


def fire(hooks: Sequence[Hook], event: EventSpec[Any], payload: Any) -> Outcome:
    return ScriptedHost(hooks).fire(event, payload)
